"""Where one module ends and the next of its class begins, and which of them are layers in a row.

The calls of several blocks of one class look alike. Those that read parameters tell to which block they belong. What
runs between the last call of one and the first of the next, such as an activation, belongs to the second one if blocks
begin with it, and else to the first one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from inplace_magic.analysis.tree.branches import Branch, Placed, Step
from inplace_magic.analysis.tree.module_names import Room


def runs_of(members: list[Placed], depth: int) -> list[tuple[Room | None, list[Placed]]]:
    """The calls of each module in turn, of calls that share one step; one group where nothing tells them apart."""
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
    """The same with neighbours of one class in one list of layers, such as the blocks of an encoder, as one loop."""
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
    return (
        room is not None
        and before is not None
        and bool(room.row)
        and (room.row, room.cls) == (before.row, before.cls)
        and "call" not in (branch.kind, last.kind)
        and all(each is not None and each.path != room.path for each, _ in row)
    )


def _loop(row: list[tuple[Room | None, Branch]]) -> tuple[Room | None, Branch]:
    passes = tuple(branch for _, branch in row)
    room = row[0][0]
    assert room is not None
    calls = tuple(call for each in passes for call in each.calls)
    whole = replace(room, path=room.row, row="")
    return whole, Branch("loop", Step("run", room.cls, path=room.row), calls, passes, passes[0].site)


def _rest(placed: Placed, depth: int) -> list[Step]:
    return [step for step, _ in placed.way[depth + 1 :]]
