"""The loops of a list of parts, told by steps that come again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from inplace_magic.analysis.tree.branches import Branch, Placed, Step, branch_of
from inplace_magic.analysis.tree.module_names import Room


@dataclass(slots=True)
class Level:
    """The parts of a group, or of the current pass of a loop, while they are being found."""

    passes: list[tuple[Branch, ...]] = field(default_factory=list)
    """The passes before this one; none at the level of the group itself."""
    body: set[Step] = field(default_factory=set)
    end: Step | None = None
    """The last step of the first pass."""
    alike: bool = False
    """Whether it is a loop only if all passes are alike."""
    parts: list[Branch] = field(default_factory=list)
    seen: dict[Step, int] = field(default_factory=dict)
    last: Step | None = None

    def add(self, step: Step, branch: Branch) -> None:
        """Adds a part."""
        self.seen.setdefault(step, len(self.parts))
        self.parts.append(branch)
        self.body.add(step)
        self.last = step

    def ends_before(self, step: Step) -> bool:
        """True if the loop is over when this step comes."""
        if step.kind != "line":
            return step not in self.body
        if step in self.body:
            return False
        lines = [known.line for known in self.body if known.kind == "line" and known.where == step.where]
        return not lines or not min(lines) <= step.line <= max(lines)


def add_part(levels: list[Level], step: Step, branch: Branch, repeats: Literal["yes", "alike", "no"]) -> None:
    """Puts a part where it belongs.

    Args:
        repeats: whether it begins another pass if it was there before; ``alike``: only of passes that are all alike.
    """
    while len(levels) > 1 and levels[-1].ends_before(step):
        close_loop(levels)
    level = levels[-1]
    start = level.seen.get(step) if repeats != "no" else None
    if start is None:
        level.add(step, branch)
        return
    if start == 0 and len(levels) > 1:
        level.passes.append(tuple(level.parts))
        level.parts, level.seen = [], {}
        level.end = level.end or level.last
    else:
        body = {known for known, position in level.seen.items() if position >= start}
        inner = Level([tuple(level.parts[start:])], body, level.last, repeats == "alike")
        del level.parts[start:]
        level.seen = {step: position for step, position in level.seen.items() if position < start}
        levels.append(inner)
        level = inner
    level.add(step, branch)


def close_loop(levels: list[Level]) -> None:
    """Puts the innermost open loop, with all of its passes, where it belongs."""
    level = levels.pop()
    outer = levels[-1]
    rest: list[Branch] = []
    if len(level.parts) < len(level.passes[0]) and level.last != level.end:
        # A last pass that broke off, or no loop at all but a chain such as conv, relu, conv.
        rest = level.parts
        level.parts = list(level.passes.pop())
    if level.alike and any(_steps(each) != _steps(level.parts) for each in level.passes):
        outer.parts += [part for each in level.passes for part in each]
        outer.parts += level.parts
    elif level.passes:
        passes = tuple(map(_pass, (*level.passes, tuple(level.parts))))
        calls = tuple([call for each in passes for call in each.calls])
        first = passes[0].step
        outer.parts.append(branch_of("loop", Step("line", "", first.line, first.where), calls, passes, passes[0].site))
    else:
        outer.parts += level.parts
    outer.parts += rest
    outer.last = level.last
    for step in level.body:  # the loop's lines are passed: the same line again is another pass of what is around it
        outer.seen.setdefault(step, len(outer.parts) - 1)
        outer.body.add(step)


def _steps(parts: Sequence[Branch]) -> list[tuple[str, str]]:
    return [(part.step.name, part.step.path) for part in parts]


def _pass(parts: tuple[Branch, ...]) -> Branch:
    if len(parts) == 1:
        return parts[0]
    calls = tuple([call for part in parts for call in part.calls])
    return branch_of("pass", Step("line", "", parts[0].step.line), calls, parts, parts[0].site)


def runs_of(members: list[Placed], depth: int) -> list[tuple[Room | None, list[Placed]]]:
    """Return the calls of each module in turn, of calls that share one step; one group where nothing tells them
    apart."""
    told = [(at, room) for at, each in enumerate(members) if each.rooms and (room := each.rooms[depth]) is not None]
    if not told:
        return [(None, members)]
    first = _rest(members[0], depth)
    starts = [(0, told[0][1])]
    for (last, one), (at, other) in pairwise(told):
        if one.path != other.path:
            start = next((n for n in range(at, last, -1) if _rest(members[n], depth) == first), at)
            starts.append((start, other))
    ends = [start for start, _ in starts[1:]]
    return [(room, members[start:end]) for (start, room), end in zip(starts, [*ends, len(members)], strict=True)]


def in_rows(found: Iterable[tuple[Room | None, Branch]]) -> list[tuple[Room | None, Branch]]:
    """Return the same with neighbours of one class in one list of layers, such as the blocks of an encoder, as one
    loop."""
    rows: list[list[tuple[Room | None, Branch]]] = []
    for room, branch in found:
        row = rows[-1] if rows else []
        if not (row and _follows(row, room, branch)):
            row = []
            rows.append(row)
        row.append((room, branch))
    return [row[0] if len(row) == 1 else _loop(row) for row in rows]


def _follows(row: list[tuple[Room | None, Branch]], room: Room | None, branch: Branch) -> bool:
    before, last = row[-1]
    if room is None or before is None or not room.row or "call" in (branch.kind, last.kind):
        return False
    is_another = all(each is not None and each.path != room.path for each, _ in row)
    return is_another and (room.row, room.cls) == (before.row, before.cls)


def _loop(row: list[tuple[Room | None, Branch]]) -> tuple[Room | None, Branch]:
    passes = tuple(branch for _, branch in row)
    room = row[0][0]
    assert room is not None
    calls = tuple(call for each in passes for call in each.calls)
    whole = replace(room, path=room.row, row="")
    return whole, Branch("loop", Step("run", room.cls, path=room.row), calls, passes, passes[0].site)


def _rest(placed: Placed, depth: int) -> list[Step]:
    return [step for step, _ in placed.way[depth + 1 :]]
