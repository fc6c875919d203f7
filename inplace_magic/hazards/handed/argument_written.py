"""A function wrote one of its arguments on the way to its result, and its caller then read that tensor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.inplace_false import advice, flag_turned_off
from inplace_magic.hazards.fixes.new_tensor import bound_anew, value_given
from inplace_magic.hazards.references.engine import is_there_to_be_written
from inplace_magic.hazards.references.handed import (
    Handed,
    argument_of,
    gives_what_it_computed,
    goes_on,
    handed_tensor,
    is_called_alone,
    is_given_back,
    is_measured,
    is_unfilled,
    is_written_again,
    levels,
)
from inplace_magic.hazards.references.old_names import declared_in_place
from inplace_magic.hazards.references.origins import builds_on_itself, comes_from_itself, is_of
from inplace_magic.hazards.references.owners import Owned
from inplace_magic.hazards.references.rereading import reads_it_as
from inplace_magic.hazards.references.second_names import hands_out_another_name
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import level, paths_in, paths_read

CODE = "argument-written"

_RUNS = 3
"""Runs of a function that are looked at for each line of it that writes."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each run of a function and each memory that it wrote."""
    told: set[tuple[Callsite | None, int | None]] = set()
    asked: Counter[tuple[Callsite, int]] = Counter()
    for call in story.writing:
        site, written = call.callsite, call.kind == "in-place" or call.does("turns")
        if site is None or site.caller is None or not written or call.error is not None:
            continue
        for mutation in call.mutations:
            if (
                is_there_to_be_written(story, mutation)
                or mutation.storage is None
                or (site.caller, mutation.storage) in told
            ):
                continue
            for depth, (caller, inside) in enumerate(levels(site)):
                asked[site, depth] += 1
                wanted = asked[site, depth] <= _RUNS
                handed = handed_tensor(story, call, mutation, caller, inside) if wanted else None
                read = _surprise(story, handed) if handed is not None else None
                if handed is not None and read is not None:
                    told.add((site.caller, mutation.storage))
                    yield _hazard(story, handed, read)
                    break


def _surprise(story: Story, handed: Handed) -> CallEvent | None:
    """The call that reads the tensor as if the function had left it alone."""
    if is_unfilled(story, handed):
        return None
    path = None
    if is_given_back(story, handed):
        path = argument_of(story, handed)
        if path is None or not hands_out_another_name(Owned(path, handed.run.caller)):
            return None
        if _is_one_of_several_writes(story, handed) or goes_on(story, handed, in_other_runs=True):
            return None
    elif not _is_a_side_effect(story, handed):
        return None
    read = _read_outside(story, handed, path)
    declared = read is not None and declared_in_place(story, handed.call, read, handed.tensor)
    return None if declared else read


def _is_one_of_several_writes(story: Story, handed: Handed) -> bool:
    """Whether a statement that is there for its effect alone goes on to write what the function gives it: that of
    ``soften(loudest(pings))``, where `soften` writes, too."""
    caller = handed.run.caller
    writes = story.writes_to_memory(handed.mutation.storage)
    return any(
        place.same_statement(caller) and is_called_alone(place)
        for write in writes
        if write.at > handed.run.last and write.site is not None
        for place in write.site.chain
    )


def _is_a_side_effect(story: Story, handed: Handed) -> bool:
    """Whether the function wrote on the way to something else, and not a state that goes on from there."""
    call, measured = handed.call, is_measured(story, handed)
    if _is_handed_as_a_copy(story, handed) and not is_called_alone(handed.run.caller):
        return gives_what_it_computed(story, handed, numbers=False)
    if goes_on(story, handed) and not measured:
        return False
    puts_in = call.does("assigns") or call.does("overwrites")
    cuts = call.does("repeatable") and not puts_in and comes_from_itself(story, call, handed.mutation)  # `clamp_`
    changes = measured or cuts or builds_on_itself(story, call, handed.mutation)
    if changes and _is_taken_for_a_copy(handed):
        return True
    if is_called_alone(handed.run.caller) and not _keeps_what_it_computed(story, handed):
        return False  # its writes are all that it is called for
    if not changes:  # `x[0] = 0` may set a state; not so where something about as large is given in its place
        meta = story.observations.get(handed.tensor)
        if is_written_again(story, handed):
            return False  # tried with other values, and put back
        return gives_what_it_computed(story, handed, numbers=False, least=(meta.nbytes or 0) / 2 if meta else 0)
    # Whoever scales a tensor by what he measures of it, as clipping does, may well give the measure.
    return gives_what_it_computed(story, handed, numbers=not measured)


def _is_taken_for_a_copy(handed: Handed) -> bool:
    """Whether the line wrote what ``votes = scores.detach()`` had given another name."""
    bound = (view.callsite.bound for view in handed.views if view.callsite is not None)
    named = any(names is not None and handed.parameter not in names for names in bound)
    return named and any(view.does("may hand back") for view in handed.views)


def _is_handed_as_a_copy(story: Story, handed: Handed) -> bool:
    """Whether the caller's statement itself took what it hands over, as ``preview(image.detach())`` does: nobody else
    has it, so the function may as well write it, were it a copy."""
    view = story.innermost_new(handed.tensor, handed.run.first)
    taken = view is not None and view.does("may hand back") and view.callsite is not None
    return taken and view is not None and handed.run.caller.same_statement(view.callsite)


def _keeps_what_it_computed(story: Story, handed: Handed) -> bool:
    """Whether the function gave a result to an attribute or an entry, ``self.product += (x * y).sum()``, and so was
    called for that."""
    sites = (call.callsite for call in handed.run.calls(story) if call is not handed.call)
    targets = [target for site in sites if site is not None for target in site.targets or ()]
    return any(target is not None and ("." in target or "[" in target) for target in targets)


def _read_outside(story: Story, handed: Handed, path: str | None) -> CallEvent | None:
    """The first call after the run, outside of the function, that reads the memory in a way in which the caller knew
    it: by a path, where the function gave it back; None where it was written anew before. A call that reads values
    comes before one that only takes a view."""
    run, storage = handed.run, handed.mutation.storage
    by_shape = handed.call.kind != "in-place"  # a shape is one tensor's own
    tensors = (handed.mutation.tensor,) if by_shape else handed.tensors(story)
    reads = {read.index: read for each in tensors for read in story.given_to.get(each, ())}
    made = {output.tensor for each in run.calls(story) for output in each.outputs} - {handed.tensor}
    view = None
    for at in sorted(reads):
        read = reads[at]
        if at <= run.last or read.callsite is None or read.error is not None:
            continue
        if read.does("overwrites"):
            return view
        asks_nothing = read.kind == "metadata" or read.does("sets gradient") or not read.looks_at_values
        if asks_nothing or read.callsite.is_below_function(handed.inside):
            continue
        known = (m.tensor for m in read.inputs if m.storage == storage and not is_of(story, m.tensor, made, at))
        if not any(path is None or _is_read_as(read, handed, tensor, path) for tensor in known):
            continue
        if read.kind != "view":
            return read
        view = view or read
    return view


def _is_read_as(read: CallEvent, handed: Handed, tensor: int, path: str) -> bool:
    """Whether a call reads a tensor by a path of the caller's, and not by what came back."""
    caller, site = handed.run.caller, read.callsite
    at = level(site, caller)
    if site is None or at is None or path not in paths_read(site, caller) or not reads_it_as(read, at, tensor, path):
        return False
    takes_it = site.same_statement(caller) and caller.expression in site.expression
    return not takes_it or path in paths_in(site.expression.replace(caller.expression, "None"))


def _hazard(story: Story, handed: Handed, read: CallEvent) -> Hazard:
    call, caller, tensor = handed.call, handed.run.caller, handed.tensor
    name = story.bindings.name(tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{write} wrote {tensor} before {read} reads it: {call} passed it as `{parameter}`, which makes no "
            "copy. PyTorch gives no error; the read sees the new values."
        ).format(
            read=wording.spot(read.callsite),
            write=wording.spot(call.callsite),
            call=wording.spot(caller),
            tensor=f"`{name}`" if name else _("a tensor"),
            parameter=handed.parameter,
        ),
        fix=_(
            "Make a new tensor in the function instead of writing `{parameter}`, or work on `{parameter}.clone()`."
        ).format(parameter=handed.parameter),
        variable=story.bindings.written_name(call, tensor) or name or handed.parameter,
        origin=caller,
        read=read,
        tensor=tensor,
        write=call,
        badges=Badges(origin=_("handed over here")),
    )


RULE = Rule(
    check,
    {CODE: Cures((flag_turned_off, value_given, bound_anew), (advice,), another_name_sees_it=True)},
    gives_way=True,
)
