"""A tensor that a function was handed and wrote: what it was handed as, and what became of it in that run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import may_meet, reach_of_write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.engine import began_as_a_buffer
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import paths_in


@dataclass(frozen=True, slots=True)
class Handed:
    """A write of a tensor that a run of a function had been handed; or several runs, where one line began them and
    nothing came in between."""

    story: Story
    call: CallEvent
    mutation: Mutation
    caller: Callsite
    """The call of the function."""
    inside: Callsite
    """The place in the function: the write, or the call of what wrote."""
    first: int
    last: int
    """Indexes of the first and the last call of the run."""
    parameter: str
    """``points``, ``batch["labels"]``"""
    tensor: int
    """What was handed over; the written one is it, or a view of it."""
    views: tuple[CallEvent, ...]
    """The calls of the run that took the views, the last one first."""

    @property
    def tensors(self) -> list[int]:
        """All tensors on the written memory."""
        storage = self.mutation.storage
        return self.story.bindings.by_storage.get(storage, []) if storage is not None else []

    @property
    def calls(self) -> list[CallEvent]:
        """The calls that were made in the run, oldest first."""
        return [self.story.calls[index] for index in range(self.first, self.last + 1)]

    def holds(self, index: int) -> bool:
        """True if a call was made in the run."""
        return self.first <= index <= self.last


def handed_over(story: Story, call: CallEvent, mutation: Mutation, inside: Callsite) -> Handed | None:
    """Return a written tensor as the function of a place was handed it; None where it made the tensor, or got it some
    other way, or ran for too long to be a helper."""
    caller, maker = inside.caller, story.maker_of_storage(mutation.storage)
    run = story.runs.around(call.index, caller, inside) if caller is not None else None
    if caller is None or run is None or (maker is not None and run[0] <= maker.index <= run[1]):
        return None
    views = tuple(takewhile(lambda view: run[0] <= view.index, story.views_back(mutation.tensor, call.index)))
    tensor = views[-1].inputs[0].tensor if views else mutation.tensor
    parameter = _parameter_holding(story, inside, run[1], tensor)
    return Handed(story, call, mutation, caller, inside, *run, parameter, tensor, views) if parameter else None


def _parameter_holding(story: Story, inside: Callsite, last: int, tensor: int) -> str | None:
    """Return the parameter of a function, or the entry of one, that held a tensor in a run: ``points``,
    ``batch["labels"]``; None for the tensors of objects, as ``self.state``."""
    for name in inside.parameters:
        seen = story.bindings.seen.get((inside.function, name), ())
        if name not in ("self", "cls") and any(held == tensor and at <= last for at, held in seen):
            return name
    for name in story.local_names.get((inside.whose, tensor), ()):
        root, opening, _rest = name.partition("[")
        if opening and root in inside.parameters and "." not in name:
            return name
    return None


def is_unfilled(handed: Handed) -> bool:
    """True if the tensor began as a buffer, and nobody but this function has written it."""
    storage = handed.mutation.storage
    before = (write.site for write in handed.story.writes_between(storage, -1, handed.first))
    return began_as_a_buffer(handed.story, storage) and all(
        site is not None and site.is_below_function(handed.inside) for site in before
    )


def is_given_back(handed: Handed) -> bool:
    """True if the caller takes the very tensor, or something that holds it, from the call."""
    story, caller, tensors = handed.story, handed.caller, handed.tensors
    returned = (("return", handed.parameter) == (a.target, a.source) for a in story.aliases.beside(handed.inside))
    if any(returned) or _is_returned_by_the_write(handed):
        return True
    targets = [target for target in caller.targets or () if target is not None]
    held = (story.bindings.bound_last(caller.function, target, handed.last + 2) for target in targets)
    if any(bound is not None and bound[1] in tensors for bound in held):
        return True
    inside = tuple(start for target in targets for start in (f"{target}.", f"{target}["))
    names = (name for tensor in tensors for name in story.names.get(tensor, ()))
    return any(name in targets or name.startswith(inside) for name in names)


def _is_returned_by_the_write(handed: Handed) -> bool:
    """True if the function returns what the writing call gave, as ``return relu(x, inplace=True)`` does."""
    place = handed.call.callsite
    if all(output.tensor != handed.tensor for output in handed.call.outputs):
        return False
    while place is not None and place != handed.inside and "return" in (place.targets or ()):
        place = place.caller
    return place == handed.inside and "return" in (handed.inside.targets or ())


def argument_of(handed: Handed) -> str | None:
    """Return what the caller calls the tensor that it handed over."""
    caller, node = handed.caller, expressions.parse(handed.caller.expression)
    for path in map(expressions.path_text, node.args if isinstance(node, ast.Call) else ()):
        held = handed.story.bindings.bound_last(caller.function, path, handed.first) if path is not None else None
        if held is not None and held[1] == handed.tensor:
            return path
    return expressions.path_text(
        expressions.parameter_argument(caller.expression, handed.inside.parameters, handed.parameter)
    )


def is_called_alone(caller: Callsite) -> bool:
    """True if the function was called as a statement of its own."""
    return caller.expression == caller.statement and isinstance(expressions.parse(caller.statement), ast.expr)


def is_measured(handed: Handed) -> bool:
    """True if the tensor was changed by something that had been computed from it in the same run: ``x -= x.mean()``, or
    ``low = x.min().item()`` above ``x -= low``."""
    own = set(handed.tensors)
    others = {meta.tensor for meta in handed.call.inputs} - own
    made, measures = set(own), set(own)
    numbers: set[str | None] = set()
    for before in handed.calls:
        if before.index >= handed.call.index:
            break
        given = {meta.tensor for meta in before.inputs}
        if before.kind == "query" and given and given <= measures - own and before.callsite is not None:
            numbers.update(before.callsite.bound or ())
        if given <= made:  # of nothing but the tensor, and of what was made of numbers
            made |= {output.tensor for output in before.outputs}
            measures |= {output.tensor for output in before.outputs if given & measures}
        else:
            made -= {mutation.tensor for mutation in before.mutations} - own
    if numbers and not others and handed.call.callsite is not None:
        return not numbers.isdisjoint(paths_in(handed.call.callsite.expression))
    return bool(others & measures) and others <= made


def goes_on(handed: Handed, *, in_other_runs: bool = False) -> bool:
    """True if the line wrote the same elements at another time as well, as it does with a state; with `in_other_runs`:
    in another run."""
    again = (write for write in other_writes(handed) if write.call is not None and write.site == handed.call.callsite)
    return any(not (in_other_runs and handed.holds(write.at)) for write in again)


def other_writes(handed: Handed) -> Iterator[Write]:
    """Yield the writes of the same elements at other times."""
    reach = reach_of_write(handed.call, handed.mutation)
    for write in handed.story.writes_to_memory(handed.mutation.storage):
        if write.at != handed.call.index and may_meet(reach, write.reach):
            yield write


def gives_what_it_computed(handed: Handed, *, numbers: bool, least: float = 0) -> bool:
    """True if something that was computed from the written values left the run: a tensor of so many bytes at least, or
    a number where those count."""
    story, own, inside = handed.story, set(handed.tensors), handed.inside
    known = set(own)
    for later in (*handed.calls, *_rest(handed)):
        if later.index <= handed.call.index or all(meta.tensor not in known for meta in later.inputs):
            continue
        known |= {meta.tensor for meta in (*later.outputs, *later.mutated)}
        if later.kind == "query" and numbers:
            return True
    names = [alias.source for alias in story.aliases.beside(inside) if alias.target == "return"]
    returned = {
        held[1] for name in names if (held := story.bindings.bound_last(inside.function, name, handed.last + 1))
    }
    sizes = ((tensor, story.observations.get(tensor)) for tensor in known - own)
    large = (tensor for tensor, meta in sizes if meta is not None and (meta.nbytes or 0) >= least)
    return any(tensor in returned or _leaves(handed, tensor) for tensor in large)


def _rest(handed: Handed) -> Iterator[CallEvent]:
    """Yield the calls that library code made after the run for the very expression that began it, as a module does
    after its hook."""
    following = handed.story.calls.get(handed.last + 1)
    while following is not None and following.callsite is not None:
        site = following.callsite
        if not site.same_statement(handed.caller) or site.expression != handed.caller.expression:
            return
        yield following
        following = handed.story.calls.get(following.index + 1)


def _leaves(handed: Handed, tensor: int) -> bool:
    readers, made = handed.story.given_to.get(tensor, ()), handed.story.bindings.made_at.get(tensor)
    returned = made is not None and made.targets is not None and "return" in made.targets
    return returned or bool(readers and readers[-1].index > handed.last)
