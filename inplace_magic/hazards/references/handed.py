"""A tensor that a function was handed and wrote: what it was handed as, and what became of it in that run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from inplace_magic.analysis.overlap import may_meet, reach_of_write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.engine import began_as_a_buffer
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import paths_in


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a function; or several, where one line began them and nothing came in between."""

    first: int
    last: int
    """Indexes of its first and its last call."""
    caller: Callsite
    """The call of the function."""

    def holds(self, index: int) -> bool:
        """True if a call was made in the run."""
        return self.first <= index <= self.last

    def calls(self, story: Story) -> Iterator[CallEvent]:
        """Yield the calls that were made in the run, oldest first."""
        return (story.calls[index] for index in range(self.first, self.last + 1))

    def rest(self, story: Story) -> Iterator[CallEvent]:
        """Yield the calls that library code made after the run for the very expression that began it, as a module does
        after its hook."""
        following = story.calls.get(self.last + 1)
        while following is not None and _is_one_expression(following.callsite, self.caller):
            yield following
            following = story.calls.get(following.index + 1)


def _is_one_expression(one: Callsite | None, other: Callsite) -> bool:
    return one is not None and one.same_statement(other) and one.expression == other.expression


def run_around(story: Story, call: CallEvent, caller: Callsite, inside: Callsite | None = None) -> Run | None:
    """Return the run that a place began and in which a call was made; None where it is too long for a helper.

    Args:
        story: the trace.
        call: the call.
        caller: the place, one of those that led to the call.
        inside: a place in the function that ran, where the place may call several, as ``layer(x)`` in a loop does.
    """
    found = story.runs.around(call.index, caller, inside)
    return Run(*found, caller) if found is not None else None


def origin_outside(story: Story, run: Run, tensor: int, before: int) -> tuple[int, tuple[CallEvent, ...]]:
    """Return what a tensor is a view of, followed back to before the run, and the calls of the run that took the views,
    the last one first."""
    taken: list[CallEvent] = []
    while True:
        made = story.innermost_new(tensor, before)
        if made is None or not run.holds(made.index) or made.kind != "view" or not made.inputs:
            return tensor, tuple(taken)
        if made.inputs[0].tensor == tensor:
            return tensor, tuple(taken)
        taken.append(made)
        tensor, before = made.inputs[0].tensor, made.index


def parameter_holding(story: Story, inside: Callsite, run: Run, tensor: int) -> str | None:
    """Return the parameter of a function, or the entry of one, that held a tensor in a run: ``points``,
    ``batch["labels"]``; None for the tensors of objects, as ``self.state``."""
    for name in inside.parameters:
        seen = story.bindings.seen.get((inside.function, name), ())
        if name not in ("self", "cls") and any(held == tensor and at <= run.last for at, held in seen):
            return name
    for name in story.local_names.get((inside.function, inside.cell, inside.file, tensor), ()):
        root, opening, _rest = name.partition("[")
        if opening and root in inside.parameters and "." not in name:
            return name
    return None


@dataclass(frozen=True, slots=True)
class Handed:
    """A write of a tensor that a run of a function had been handed."""

    call: CallEvent
    mutation: Mutation
    run: Run
    inside: Callsite
    """The place in the function: the write, or the call of what wrote."""
    parameter: str
    """``points``, ``batch["labels"]``"""
    tensor: int
    """What was handed over; the written one is it, or a view of it."""
    views: tuple[CallEvent, ...]
    """The calls of the run that took the views, the last one first."""

    def tensors(self, story: Story) -> list[int]:
        """All tensors on the written memory."""
        storage = self.mutation.storage
        return story.bindings.by_storage.get(storage, []) if storage is not None else []


def handed_tensor(
    story: Story, call: CallEvent, mutation: Mutation, caller: Callsite, inside: Callsite
) -> Handed | None:
    """The written tensor as the function that a place called was handed it; None where it was not, or made it."""
    run = run_around(story, call, caller, inside)
    maker = story.maker_of_storage(mutation.storage)
    if run is None or (maker is not None and run.holds(maker.index)):
        return None
    tensor, views = origin_outside(story, run, mutation.tensor, call.index)
    parameter = parameter_holding(story, inside, run, tensor)
    return Handed(call, mutation, run, inside, parameter, tensor, views) if parameter is not None else None


def levels(site: Callsite) -> Iterator[tuple[Callsite, Callsite]]:
    """(call of a function, place in that function) from the innermost function on."""
    inside = site
    while inside.caller is not None:
        yield inside.caller, inside
        inside = inside.caller


def is_unfilled(story: Story, handed: Handed) -> bool:
    """True if the tensor began as a buffer, and nobody but this function has written it."""
    if not began_as_a_buffer(story, handed.mutation.storage):
        return False
    before = (write for write in story.writes_to_memory(handed.mutation.storage) if write.at < handed.run.first)
    return all(write.site is not None and write.site.is_below_function(handed.inside) for write in before)


def is_given_back(story: Story, handed: Handed) -> bool:
    """True if the caller takes the very tensor, or something that holds it, from the call."""
    returned = (("return", handed.parameter) == (a.target, a.source) for a in story.aliases.beside(handed.inside))
    if any(returned) or _is_returned_by_the_write(handed):
        return True
    caller, tensors = handed.run.caller, handed.tensors(story)
    names = {name for tensor in tensors for name in story.names.get(tensor, ())}
    taken = {target for target in caller.targets or () if target is not None}
    if any(name == target or name.startswith((f"{target}.", f"{target}[")) for name in names for target in taken):
        return True
    bound = (story.bindings.bound_last(caller.function, target, handed.run.last + 2) for target in taken)
    return any(held is not None and held[1] in tensors for held in bound)


def _is_returned_by_the_write(handed: Handed) -> bool:
    """True if the function returns what the writing call gave, as ``return relu(x, inplace=True)`` does."""
    place: Callsite | None = handed.call.callsite
    if all(output.tensor != handed.tensor for output in handed.call.outputs):
        return False
    while place is not None and "return" in (place.targets or ()):
        if place == handed.inside:
            return True
        place = place.caller
    return False


def argument_of(story: Story, handed: Handed) -> str | None:
    """Return what the caller calls the tensor that it handed over."""
    caller, node = handed.run.caller, expressions.parse(handed.run.caller.expression)
    paths = map(expressions.path_text, node.args if isinstance(node, ast.Call) else ())
    known = ((path, story.bindings.bound_last(caller.function, path, handed.run.first)) for path in paths if path)
    found = next((path for path, held in known if held is not None and held[1] == handed.tensor), None)
    argument = expressions.parameter_argument(caller.expression, handed.inside.parameters, handed.parameter)
    return found or (expressions.path_text(argument) if argument is not None else None)


def is_called_alone(caller: Callsite) -> bool:
    """True if the function was called as a statement of its own."""
    return _is_all_of(caller.expression, caller.statement)


@lru_cache(maxsize=1024)
def _is_all_of(expression: str, statement: str) -> bool:
    called, whole = expressions.parse(expression), expressions.parse(statement)
    return isinstance(whole, ast.expr) and called is not None and ast.dump(whole) == ast.dump(called)


def is_measured(story: Story, handed: Handed) -> bool:
    """True if the tensor was changed by something that had been computed from it in the same run: ``x -= x.mean()``, or
    ``low = x.min().item()`` above ``x -= low``."""
    own = set(handed.tensors(story))
    others = {meta.tensor for meta in handed.call.inputs} - own
    made, measures = set(own), set(own)
    numbers: set[str | None] = set()
    for before in handed.run.calls(story):
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


def goes_on(story: Story, handed: Handed, *, in_other_runs: bool = False) -> bool:
    """True if the line wrote the same elements at another time as well, as it does with a state; with `in_other_runs`:
    in another run."""
    call, reach = handed.call, reach_of_write(handed.call, handed.mutation)
    others = (write for write in story.writes_to_memory(handed.mutation.storage) if write.site == call.callsite)
    return any(
        write.at != call.index
        and not (in_other_runs and handed.run.holds(write.at))
        and write.call is not None
        and write.mutation is not None
        and may_meet(reach, reach_of_write(write.call, write.mutation))
        for write in others
    )


def is_written_again(story: Story, handed: Handed) -> bool:
    """True if the run wrote the same elements more than once."""
    reach = reach_of_write(handed.call, handed.mutation)
    writes = (w for w in story.writes_to_memory(handed.mutation.storage) if handed.run.holds(w.at))
    return any(
        write.at != handed.call.index
        and (
            write.call is None or write.mutation is None or may_meet(reach, reach_of_write(write.call, write.mutation))
        )
        for write in writes
    )


def gives_what_it_computed(story: Story, handed: Handed, *, numbers: bool, least: float = 0) -> bool:
    """True if something that was computed from the written values left the run: a tensor of so many bytes at least, or
    a number where those count."""
    own = set(handed.tensors(story))
    known = set(own)
    for later in (*handed.run.calls(story), *handed.run.rest(story)):
        if later.index <= handed.call.index or all(meta.tensor not in known for meta in later.inputs):
            continue
        known |= {meta.tensor for meta in (*later.outputs, *later.mutated)}
        if later.kind == "query" and numbers:
            return True
    inside, last = handed.inside, handed.run.last
    names = [alias.source for alias in story.aliases.beside(inside) if alias.target == "return"]
    returned = {held[1] for name in names if (held := story.bindings.bound_last(inside.function, name, last + 1))}
    sizes = ((tensor, story.observations.get(tensor)) for tensor in known - own)
    large = (tensor for tensor, meta in sizes if meta is not None and (meta.nbytes or 0) >= least)
    return any(tensor in returned or _leaves(story, handed.run, tensor) for tensor in large)


def _leaves(story: Story, run: Run, tensor: int) -> bool:
    readers = story.given_to.get(tensor, ())
    made = story.bindings.made_at.get(tensor)
    returned = made is not None and made.targets is not None and "return" in made.targets
    return returned or bool(readers and readers[-1].index > run.last)
