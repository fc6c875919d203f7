"""Calls as a tree: lines, the functions and modules that they run, and loops.

A trace is a flat list of calls, each with its chain of places. A reader sees statements that run functions, and loops
that run statements again; this module finds them in the list. A loop is nowhere recorded, it shows: within one run of
one piece of code the lines go forward, so a place that comes again begins another pass. ::

    line 3, line 4, line 5, line 4, line 5, line 6   ->   line 3, 2 x (line 4, line 5), line 6

Two blocks of one class, run one after the other from the same place, look exactly like a loop in that class. Which
of the two ran a call, the parameters tell; see :mod:`.tree.loops`. Where nothing tells it they
are drawn as a loop: two passes of the same code.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from inplace_magic.analysis.tree.branches import Alike, Branch, BranchKind, Placed, Step, branch_of, module_path
from inplace_magic.analysis.tree.loops import Level, add_part, close_loop, in_rows, runs_of
from inplace_magic.analysis.tree.module_names import IN_A_ROW, Room, steps_of
from inplace_magic.analysis.vertices import CallVertex
from inplace_magic.record.places import Callsite

_placed = tuple.__new__
"""Makes a :class:`Placed`; its own constructor is a function of Python's that does the same."""
DEEPEST = 60
"""Levels of the tree; what is deeper, such as a long recursion, is one level."""


WIDE, CHUNKS = 40, 20
"""A group of more parts than ``WIDE``, such as a cell of 200 different lines, is divided into ``CHUNKS`` groups."""


def call_tree(calls: Sequence[CallVertex]) -> tuple[Branch, ...]:
    """Return the tree of some calls; every level has at least two parts or is a call."""
    # In a loop the same calls come from the same places: by these, and not by each call, ways are found.
    ways: dict[tuple[int, tuple[str, ...], str], _Way] = {}
    sorts: dict[tuple[int, tuple[str, ...], str, int, tuple[str, ...]], Placed] = {}
    placed: list[Placed] = []
    for call in calls:
        sort = id(call.site), call.modules, call.name, id(call.rooms), call.parameters
        like = sorts.get(sort)
        if like is None:
            way = ways.get(sort[:3])
            if way is None:
                way = ways[sort[:3]] = _way_to(call)
            rooms = tuple(call.rooms[n] if n is not None else None for n in way.modules) if call.rooms else ()
            like = sorts[sort] = Placed(call, way.steps, len(sorts), rooms)
        placed.append(_placed(Placed, (call, *like[1:])))
    return _branches(placed, 0, Alike())


def layers_path(branch: Branch) -> str:
    """Of several layers of one list: the first and the last, ``net.layers[1]…[3]``."""
    paths = [steps_of(module_path(part)) for part in (branch.parts[0], branch.parts[-1])]
    return f"{''.join(paths[0])}…{paths[1][-1].removeprefix('.')}" if all(paths) else branch.step.path


def chunked(parts: Sequence[Branch]) -> list[Branch]:
    """Return the parts, or groups of neighbours where they are too many to be drawn side by side."""
    if len(parts) <= WIDE:
        return list(parts)
    size = -(-len(parts) // CHUNKS)
    chunks = []
    for start in range(0, len(parts), size):
        some = tuple(parts[start : start + size])
        calls = tuple(call for part in some for call in part.calls)
        whole = Branch("line", some[0].step._replace(kind="line", name="", path=""), calls, some, some[0].site)
        chunks.append(whole if len(some) > 1 else some[0])
    return chunks


def lines_of(branch: Branch) -> tuple[int, int] | None:
    """First and last line, where all calls lie in one function."""
    sites = [call.site for call in branch.calls if call.site is not None]
    lines, one_place = [site.line for site in sites], len({site.whose for site in sites}) == 1
    known = len(sites) == len(branch.calls) and one_place and min(lines) > 0
    return (min(lines), max(lines)) if known else None


class _Way(NamedTuple):
    steps: list[tuple[Step, Callsite | None]]
    modules: list[int | None]
    """For each step: the position in the call's modules of the one that it is."""


def _way_to(call: CallVertex) -> _Way:
    way: list[tuple[Step, Callsite | None, int | None]] = []
    modules = list(enumerate(call.modules))
    column: tuple[int | None, int | None] = (None, None)
    above: Callsite | None = None
    for frame in call.site.chain if call.site is not None else ():
        *_, owner, function = ("", *frame.function.split("."))
        if above is not None and function.startswith("<"):
            continue  # a comprehension or lambda: no run of its own to the reader
        if above is not None:
            number = None
            if function == "forward" and owner:
                function = owner
                while any(owner == module for _, module in modules):
                    number, module = modules.pop(0)
                    if module == owner:
                        break
                    # Of a library, such as Sequential, between two of the user's frames.
                    way.append((Step("run", module, column=column), above, number))
                    number, column = None, (None, None)
            way.append((Step("run", function, column=column), above, number))
        way.append((Step("line", "", frame.line, (frame.cell, frame.file)), frame, None))
        above, column = frame, (frame.column, frame.end_column)
    for number, module in modules:
        way.append((Step("run", module, column=column), above, number))
        column = (None, None)
    way.append((Step("call", call.name, column=column), call.site, None))
    if len(way) > DEEPEST:
        way = [*way[:DEEPEST], way[-1]]
    return _Way([(step, site) for step, site, _number in way], [number for _step, _site, number in way])


def _branches(placed: list[Placed], depth: int, alike: Alike, known: bool = False) -> tuple[Branch, ...]:
    """Return the parts of one group: neighbours with the same step at this depth belong together, then loops are found.

    Args:
        known: it is told which module runs them. Then two calls of one function inside library code are no loop.
    """
    levels = [Level()]
    for step, group in groupby(placed, key=lambda each: each.way[depth][0]):
        members = list(group)
        mine = depth == 0 or members[0].way[depth - 1][0].kind == "line"
        found: list[tuple[Room | None, Branch]]
        if step.kind == "call":
            found = [(None, branch_of("call", step, (each.call,), (), each.way[depth][1])) for each in members]
        else:
            found = alike.grown(members, depth, known, _runs)
        for room, branch in found:
            here = step
            # The user's line says that it runs again. Inside a library the same module does, or the same parameter.
            if room is not None and not mine:
                here = step._replace(name=room.cls, path=room.path)
            elif step.kind == "call" and known and not mine:
                here = step._replace(path=next(iter(branch.calls[0].parameters), ""))
            add_part(levels, here, branch, "yes" if mine or not known else "alike" if here.path else "no")
    while len(levels) > 1:
        close_loop(levels)
    return tuple(levels[0].parts)


def _runs(members: list[Placed], depth: int, alike: Alike, known: bool) -> list[tuple[Room | None, Branch]]:
    """Return a group of neighbours with the same step for each module that runs them; modules in a row are one
    group."""
    runs = runs_of(members, depth)
    return in_rows([(room, _group(some, depth, alike, room, known)) for room, some in runs])


def _group(members: list[Placed], depth: int, alike: Alike, room: Room | None, known: bool) -> Branch:
    step, site = members[0].way[depth]
    if room is not None:
        step = step._replace(name=room.cls, path=room.path)
    parts = _branches(members, depth + 1, alike, known or room is not None)
    return _flat(branch_of(step.kind, step, tuple(each.call for each in members), parts, site))


def _flat(branch: Branch) -> Branch:
    """A group of one part is that part; it keeps the name that says most, that of a function or module."""
    if len(branch.parts) != 1:
        return branch
    (part,) = branch.parts
    # A module that only runs an inner one is the better name for it, unless it is a mere list of layers.
    owns = part.kind == "run" and part.step.path.startswith(branch.step.path) and branch.step.name not in IN_A_ROW
    named = branch.kind == "run" and (part.step.kind == "line" or (owns and bool(branch.step.path)))
    kind: BranchKind = "run" if part.kind == "line" else part.kind
    return branch_of(kind, branch.step, part.calls, part.parts, branch.site) if named else part
