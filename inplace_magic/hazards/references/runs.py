"""One run of a function: the calls that were made while it ran, and what became of a tensor there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a function; or several, where one line began them and nothing came in between."""

    first: int
    last: int
    """Indexes of its first and its last call."""
    caller: Callsite
    """The call of the function."""

    def holds(self, index: int) -> bool:
        """Whether a call was made in the run."""
        return self.first <= index <= self.last

    def calls(self, story: Story) -> Iterator[CallEvent]:
        """The calls that were made in the run, oldest first."""
        return (story.calls[index] for index in range(self.first, self.last + 1))

    def rest(self, story: Story) -> Iterator[CallEvent]:
        """The calls that library code made after the run for the very expression that began it, as a module does after
        its hook."""
        following = story.calls.get(self.last + 1)
        while following is not None and _is_one_expression(following.callsite, self.caller):
            yield following
            following = story.calls.get(following.index + 1)


def _is_one_expression(one: Callsite | None, other: Callsite) -> bool:
    return one is not None and one.same_statement(other) and one.expression == other.expression


def run_around(story: Story, call: CallEvent, caller: Callsite, inside: Callsite | None = None) -> Run | None:
    """The run that a place began and in which a call was made; None where it is too long for a helper.

    Args:
        story: the trace.
        call: the call.
        caller: the place, one of those that led to the call.
        inside: a place in the function that ran, where the place may call several, as ``layer(x)`` in a loop does.
    """
    found = story.runs.around(call.index, caller, inside)
    return Run(*found, caller) if found is not None else None


def origin_outside(story: Story, run: Run, tensor: int, before: int) -> tuple[int, tuple[CallEvent, ...]]:
    """What a tensor is a view of, followed back to before the run, and the calls of the run that took the views, the
    last one first."""
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
    """The parameter of a function, or the entry of one, that held a tensor in a run: ``points``, ``batch["labels"]``;
    None for the tensors of objects, as ``self.state``."""
    for name in inside.parameters:
        seen = story.bindings.seen.get((inside.function, name), ())
        if name not in ("self", "cls") and any(held == tensor and at <= run.last for at, held in seen):
            return name
    for name in story.local_names.get((inside.function, inside.cell, inside.file, tensor), ()):
        root, opening, _rest = name.partition("[")
        if opening and root in inside.parameters and "." not in name:
            return name
    return None
