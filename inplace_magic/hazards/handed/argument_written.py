"""A function wrote one of its arguments on the way to its result, and its caller then read that tensor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from inplace_magic.analysis.ledger import Owned
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.fixes.inplace_false import advice, flag_turned_off
from inplace_magic.hazards.fixes.new_tensor import bound_anew, value_given
from inplace_magic.hazards.references.engine import is_there_to_be_written, writes_of
from inplace_magic.hazards.references.handed import (
    Handed,
    argument_of,
    gives_what_it_computed,
    goes_on,
    handed_over,
    is_called_alone,
    is_given_back,
    is_measured,
    is_unfilled,
    other_writes,
)
from inplace_magic.hazards.references.names import hands_out_another_name
from inplace_magic.hazards.references.origins import builds_on_itself, comes_from_itself, is_of
from inplace_magic.hazards.references.rereading import declared_in_place, reads_it_as
from inplace_magic.hazards.rule import Calls, Event, Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import level, paths_in, paths_read

CODE = "argument-written"

_RUNS = 3
"""Runs of a function that are looked at for each line of it that writes."""


def argument_written(story: Story) -> Iterator[Found]:
    """Yield the first write of each run of a function to each memory that its caller then reads as if it were old."""
    told: set[tuple[Callsite | None, int | None]] = set()
    asked: Counter[tuple[Callsite, int]] = Counter()
    for call, mutation in writes_of(story.writing):
        site, written = call.callsite, call.kind == "in-place" or call.does("turns")
        if site is None or site.caller is None or not written:
            continue
        key = site.caller, mutation.storage
        if key in told or mutation.storage is None or is_there_to_be_written(story, mutation):
            continue
        for depth, inside in enumerate(reversed(site.chain[1:])):  # from the innermost function on
            asked[site, depth] += 1
            handed = handed_over(story, call, mutation, inside) if asked[site, depth] <= _RUNS else None
            read = _read_as_old(story, handed) if handed is not None else None
            if handed is not None and read is not None:
                told.add(key)
                name = story.bindings.name(handed.tensor)
                words = {"parameter": handed.parameter, "tensor": f"`{name}`" if name else _("a tensor")}
                variable = story.bindings.written_name(call, handed.tensor) or name or handed.parameter
                calls: dict[str, Event | None] = {"write": call, "read": read, "call": handed.caller}
                yield Found(calls, handed.tensor, variable, words)
                break


def _read_as_old(story: Story, handed: Handed) -> CallEvent | None:
    """Return the call that reads the tensor as if the function had left it alone."""
    if is_unfilled(handed):
        return None
    path = None
    if is_given_back(handed):
        path = argument_of(handed)
        if path is None or not hands_out_another_name(Owned(path, handed.caller)):
            return None
        if _is_one_of_several_writes(story, handed) or goes_on(handed, in_other_runs=True):
            return None
    elif not _is_a_side_effect(story, handed):
        return None
    read = _read_outside(story, handed, path)
    declared = read is not None and declared_in_place(story, handed.call, read, handed.tensor)
    return None if declared else read


def _is_one_of_several_writes(story: Story, handed: Handed) -> bool:
    """True if a statement that is there for its effect alone goes on to write what the function gives it: that of
    ``soften(loudest(pings))``, where `soften` writes, too."""
    later = (w.site for w in story.writes_between(handed.mutation.storage, handed.last) if w.site)
    places = (place for site in later for place in site.chain)
    return any(place.same_statement(handed.caller) and is_called_alone(place) for place in places)


def _is_a_side_effect(story: Story, handed: Handed) -> bool:
    """True if the function wrote on the way to something else, and not a state that goes on from there."""
    call, alone = handed.call, is_called_alone(handed.caller)
    if not alone and _is_handed_as_a_copy(story, handed):
        return gives_what_it_computed(handed, numbers=False)
    measured = is_measured(handed)
    if goes_on(handed) and not measured:
        return False
    puts_in = call.does("assigns") or call.does("overwrites")
    cuts = call.does("repeatable") and not puts_in and comes_from_itself(story, call, handed.mutation)  # `clamp_`
    changes = measured or cuts or builds_on_itself(story, call, handed.mutation)
    if changes and _is_taken_for_a_copy(handed):
        return True
    if alone and not _keeps_what_it_computed(handed):
        return False  # its writes are all that it is called for
    if changes:
        # Whoever scales a tensor by what he measures of it, as clipping does, may well give the measure.
        return gives_what_it_computed(handed, numbers=not measured)
    if any(handed.holds(write.at) for write in other_writes(handed)):
        return False  # tried with other values, and put back
    # `x[0] = 0` may set a state; not so where something about as large is given in its place
    meta = story.observations.get(handed.tensor)
    return gives_what_it_computed(handed, numbers=False, least=(meta.nbytes or 0) / 2 if meta else 0)


def _is_taken_for_a_copy(handed: Handed) -> bool:
    """True if the line wrote what ``votes = scores.detach()`` had given another name."""
    bound = (view.callsite.bound for view in handed.views if view.callsite is not None)
    named = any(names is not None and handed.parameter not in names for names in bound)
    return named and any(view.does("may hand back") for view in handed.views)


def _is_handed_as_a_copy(story: Story, handed: Handed) -> bool:
    """True if the caller's statement itself took what it hands over, as ``preview(image.detach())`` does: nobody else
    has it, so the function may as well write it, were it a copy."""
    view = story.view_of(handed.tensor, handed.first)
    return view is not None and view.does("may hand back") and handed.caller.same_statement(view.callsite)


def _keeps_what_it_computed(handed: Handed) -> bool:
    """True if the function gave a result to an attribute or an entry, ``self.product += (x * y).sum()``, and so was
    called for that."""
    sites = (call.callsite for call in handed.calls if call is not handed.call)
    targets = (target for site in sites if site is not None for target in site.targets or () if target is not None)
    return any("." in target or "[" in target for target in targets)


def _read_outside(story: Story, handed: Handed, path: str | None) -> CallEvent | None:
    """Return the first call after the run, outside of the function, that reads the memory in a way in which the caller
    knew it: by a path, where the function gave it back; None where it was written anew before. A call that reads values
    comes before one that only takes a view."""
    storage = handed.mutation.storage
    by_shape = handed.call.kind != "in-place"  # a shape is one tensor's own
    reads = story.given_to.get(handed.mutation.tensor, ()) if by_shape else story.given_memory(storage)
    made = {output.tensor for each in handed.calls for output in each.outputs} - {handed.tensor}
    view = None
    for read in reads:
        if read.index <= handed.last or read.callsite is None or read.error is not None:
            continue
        if read.does("overwrites"):
            return view
        asks_nothing = read.kind == "metadata" or read.does("sets gradient") or not read.looks_at_values
        if asks_nothing or read.callsite.is_below_function(handed.inside):
            continue
        met = (m.tensor for m in read.inputs if m.storage == storage)
        known = (tensor for tensor in met if not is_of(story, tensor, made, read.index))
        if not any(path is None or _is_read_as(read, handed, tensor, path) for tensor in known):
            continue
        if read.kind != "view":
            return read
        view = view or read
    return view


def _is_read_as(read: CallEvent, handed: Handed, tensor: int, path: str) -> bool:
    """True if a call reads a tensor by a path of the caller's, and not by what came back."""
    caller, site = handed.caller, read.callsite
    at = level(site, caller)
    if site is None or at is None or path not in paths_read(site, caller) or not reads_it_as(read, at, tensor, path):
        return False
    takes_it = site.same_statement(caller) and caller.expression in site.expression
    return not takes_it or path in paths_in(site.expression.replace(caller.expression, "None"))


RULES = rules_of(
    Row(
        CODE,
        "warning",
        argument_written,
        Calls(write="write", origin="call"),
        message=N_(
            "{write} overwrote {tensor}, which {call} had passed as `{parameter}`, and {read} reads the new values. "
            "PyTorch gives no error."
        ),
        fix=N_("Make a new tensor in the function instead of writing `{parameter}`, or work on `{parameter}.clone()`."),
        ways=(flag_turned_off, value_given, bound_anew),
        advice=(advice,),
        another_name_sees_it=True,
        badges=Badges(origin=N_("handed over here")),
        gives_way=True,
    ),
)
