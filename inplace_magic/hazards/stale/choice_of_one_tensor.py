"""A program goes back to what it kept, or chooses between two tensors, and both names are the one that was written.

``before = position`` makes no copy, and a function that moves its argument and returns it gives no second tensor. So a
rejected proposal is not taken back: whatever is chosen has the new values.

Bad::

    before = position
    position.add_(move)                         # `before`, too
    if energy(position) > limit:
        position = before                       # the tensor that it is already

Good::

    before = position.clone()
    position.add_(move)
    if energy(position) > limit:
        position = before

Told from the names that were seen to hold the tensor in one run of a function, with no loop coming round since: one
name held it before the write, both do after it, and then a statement assigns one to the other (``x = before``) or gives
either (``new if accepted else old``), and the tensor is read. Silent where the tensor was written by the name that is
assigned, as in ``x = self.buffer; x += 1; self.buffer = x``, which puts back what it took.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from inplace_magic.analysis.runs import LONGEST
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.of_origin import copied_where_taken
from inplace_magic.hazards.references.owners import owners_of
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import level
from inplace_magic.source.listing import whole_listing

CODE = "choice-of-one-tensor"

_PASSES = 3
"""Runs of a writing line that are looked at: names are seen in the first pass of a loop alone."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """A statement that takes one of two names for the other, or gives either."""

    line: int
    text: str
    taken: str
    """The name that is assigned, ``before`` of ``x = before``; of a conditional, what it gives where it holds."""
    other: str
    either: bool
    """Whether it is a conditional, and may give both."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each choice."""
    known: dict[tuple[object, ...], list[_Choice]] = {}
    asked: Counter[tuple[object, ...]] = Counter()
    told: set[tuple[object, ...]] = set()
    around: dict[int, list[tuple[Callsite, _Choice]]] = {}  # by `id` of the place, of which a loop has few
    for call in story.in_place:
        if call.error is not None or call.callsite is None:
            continue
        near = around.get(id(call.callsite))
        if near is None:
            near = around[id(call.callsite)] = []
            for at in call.callsite.chain:
                function = at.cell, at.file, at.function
                if function not in known:
                    known[function] = _choices(story, at)
                near += [(at, choice) for choice in known[function]]
        for mutation in call.mutations if near else ():
            for at, choice in near:
                key = (at.cell, at.file, at.function, choice.line)
                place = *key, call.callsite
                asked[place] += 1
                if choice.line <= at.line or key in told or asked[place] > _PASSES:
                    continue
                read = _read_after(story, call, mutation, at, choice)
                if read is not None:
                    told.add(key)
                    yield _hazard(story, call, mutation, at, choice, read)


def _choices(story: Story, at: Callsite) -> list[_Choice]:
    """Those of a function."""
    listing, found = whole_listing(story.trace, at), []
    for node in listing.nodes if listing is not None else ():
        assert listing is not None
        if isinstance(node, ast.IfExp):
            taken, other = node.body, node.orelse
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            taken, other = node.value, node.targets[0]
        else:
            continue  # as nearly always
        if not isinstance(taken, ast.Name) or not isinstance(other, ast.Name) or taken.id == other.id:
            continue
        if getattr(listing.scope_of(node), "name", "<module>") == at.function.rpartition(".")[2]:
            text, either = listing.text(node), isinstance(node, ast.IfExp)
            found.append(_Choice(node.lineno, text, taken.id, other.id, either))
    return found


def _read_after(story: Story, call: CallEvent, mutation: Mutation, at: Callsite, choice: _Choice) -> CallEvent | None:
    """The first call that reads what was chosen, where both names were one tensor and one of them had been before the
    write."""
    tensor = _held(story, at, choice.taken, call.index) if not choice.either else None
    names = (choice.taken, choice.other)
    if choice.either:
        tensor = next((held for name in names if (held := _held(story, at, name, call.index)) is not None), None)
    meta = story.observations.get(tensor) if tensor is not None else None
    if tensor is None or meta is None or meta.storage != mutation.storage or meta.is_trainable:
        return None
    if not choice.either and _is_written_by(story, call, mutation, at, choice.taken):
        return None
    line = at.line
    for index in range(call.index + 1, call.index + LONGEST):
        later = story.calls.get(index)
        if later is None:
            return None
        place = level(later.callsite, at)
        if place is not None and place.same_run(at) and line <= place.line <= choice.line:
            line = place.line
            continue
        both = all(_held(story, at, name, later.index, straight=True) == tensor for name in names)
        return _first_read(story, mutation, later.index) if both else None
    return None


def _held(story: Story, at: Callsite, name: str, before: int, *, straight: bool = False) -> int | None:
    """The tensor that a name held; where that is asked, only if no loop has come round since it was seen: names are not
    looked at again in each pass."""
    bound = story.bindings.bound_last(at.function, name, before)
    if bound is None or (straight and _came_round(story, at, bound[0], before)):
        return None
    return bound[1]


def _came_round(story: Story, at: Callsite, since: int, until: int) -> bool:
    """Whether a loop has come round in a run of a function; or whether that run began after a name had been seen."""
    began = (level(story.calls[index].callsite, at) for index in (since, since + 1) if index in story.calls)
    if until - since > LONGEST or not any(place is not None and place.same_run(at) for place in began):
        return True
    line = 0
    for index in range(since + 1, until):
        place = level(story.calls[index].callsite, at) if index in story.calls else None
        if place is not None and place.same_run(at):
            if place.line < line:
                return True
            line = place.line
    return False


def _is_written_by(story: Story, call: CallEvent, mutation: Mutation, at: Callsite, name: str) -> bool:
    path = story.bindings.written_path(call, mutation.tensor)
    return any(owned.site == at and owned.path == name for owned in owners_of(story, call, mutation, path))


def _first_read(story: Story, mutation: Mutation, since: int) -> CallEvent | None:
    for tensor in story.bindings.by_storage.get(mutation.storage or -1, ()):
        found = next(story.given_between(tensor, since - 1, len(story.trace.calls)), None)
        if found is not None:
            return found
    return None


def _hazard(
    story: Story, call: CallEvent, mutation: Mutation, at: Callsite, choice: _Choice, read: CallEvent
) -> Hazard:
    kept = next((a for a in story.aliases.beside(at) if (a.target, a.source) == (choice.taken, choice.other)), None)
    place = replace(at, line=choice.line, text=choice.text, expression=choice.text, statement=choice.text)
    told = (
        _(
            "{place} chooses between `{one}` and `{other}`, which are one tensor, and {write} had written it: either "
            "way the new values are taken. PyTorch gives no error."
        )
        if choice.either
        else _(
            "{place} is to bring the old values back, but `{one}` and `{other}` are one tensor, and {write} had "
            "written it: the new values stay. PyTorch gives no error."
        )
    )
    return finding(
        CODE,
        "warning",
        message=told.format(
            place=wording.spot(place), one=choice.taken, other=choice.other, write=wording.spot(call.callsite)
        ),
        fix=_("Write into a copy: `.clone()` where `{name}` gets its value, or before it is handed over.").format(
            name=choice.taken if kept is not None else choice.other
        ),
        variable=story.bindings.written_name(call, mutation.tensor) or choice.other,
        origin=replace(at, line=kept.line, text=kept.text, expression="", statement=kept.text, column=None)
        if kept is not None
        else None,
        read=read,
        tensor=mutation.tensor,
        write=call,
    )


RULE = Rule(check, {CODE: Cures((copied_where_taken,))}, gives_way=True)
