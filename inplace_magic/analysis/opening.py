"""Which parts of a large graph are opened: a cut through the tree of calls.

The cut starts with one box for each statement and opens boxes, outer ones first, while the picture stays within its
limit. What a finding is about is always open. Of a loop one pass is opened, and the passes before and after it stay one
box each: a training loop reads as one iteration and "499 more". Of modules of one class the first is opened where there
is no room for all. Layers of which one would fill the picture stay closed, in their order.

A pure function of the graph, so that the same cell gives the same picture, and a box keeps its key when it is opened.

An overview has modules in place of the lines of code that run them. ``x = self.join2(torch.cat([second, self.up2(x)],
dim=1))`` is one line, and to somebody who asks what the model is it is ``net.up2``, ``cat`` and ``net.join2``. What
stands between two modules and is none, such as a reshape, a permute and a cat, is one part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from inplace_magic.analysis.call_tree import call_tree, chunked
from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.tree.branches import Branch, Step, are_layers
from inplace_magic.analysis.tree.folds import Hole
from inplace_magic.analysis.tree.module_names import UNTOLD
from inplace_magic.analysis.vertices import CallVertex, TensorVertex
from inplace_magic.record.grouped import grouped

LIMIT = 40
"""Up to how many boxes groups are opened; about what a reader can take in by scrolling once."""
OVERVIEW = 16
"""The same where nothing is wrong and the reader wants to see how the model is built: then its boxes are modules."""
_key = attrgetter("key")
MANY = 38
"""From so many boxes on no further module is opened as the example of its class."""
_HARDLY_ANY = 4
"""Boxes that are too few to tell how a model is built."""
FEW = 5
"""A group of fewer boxes is opened where there is room, although its neighbours are not."""


@dataclass(frozen=True, slots=True)
class CallGroups:
    """A graph with the tree of its calls; the same for every cut through it."""

    graph: AutogradGraph
    top: list[Branch]
    tensors: dict[str, TensorVertex]
    makers: dict[str, str]
    """By the key of a version: that of the call that made it."""
    made: dict[str, list[str]]
    """By the key of a call: those of the versions that it made."""
    holes: Sequence[Hole] = ()
    """As :func:`.holes_of` gives them."""


def groups_of(graph: AutogradGraph, holes: Sequence[Hole] = ()) -> CallGroups:
    """What can be folded in a graph, of a record with such holes."""
    tensors = {vertex.key: vertex for vertex in graph.tensors}
    makers = {edge.target: edge.source for edge in graph.edges if edge.kind == "data" and edge.target in tensors}
    made = grouped((maker, tensor) for tensor, maker in makers.items())
    return CallGroups(graph, chunked(call_tree(graph.calls)), tensors, makers, made, holes)


_Group = tuple[Branch, list[Branch]]
"""A group with the parts that stand for it when it is open."""


class Cut:
    """What is open of a graph's groups, and how.

    Args:
        keep: keys of vertices that must be drawn themselves.
        expanded: keys of groups to open, whatever the limit says.
    """

    def __init__(self, groups: CallGroups, *, keep: Collection[str], expanded: Collection[str], limit: int) -> None:
        calls = groups.graph.calls
        self.groups = groups
        self.tensors, self.makers, self.made = groups.tensors, groups.makers, groups.made
        self.keep = frozenset(self.makers.get(key, key) for key in keep)
        """Keys of the calls that must be drawn themselves, and of the versions that nobody made."""
        self.whole = whole_modules(calls) if limit <= OVERVIEW else {}
        """Of an overview: path and class of the calls that are modules; empty where lines of code are drawn."""
        self.top = parts_of_overview(groups.top, self.whole, joined=False) if self.whole else groups.top
        """The outermost groups."""
        self.more: set[str] = set()
        """Keys of the boxes of passes of a loop of which another one is shown."""
        self._opened: dict[str, _Group] = {}
        self._closed: set[str] = set()
        """Layers that would be most of the picture."""
        self._examples: set[str] = set()
        """Of an overview: the first layers of lists, which are open where the list is."""
        self._expanded = frozenset(expanded)
        self._tracks = any(call.nodes for call in calls)
        self._deep = limit > LIMIT
        """More is asked for than a reader takes in at once: then further passes of a loop open like the first."""
        readers = Counter(edge.source for edge in groups.graph.edges if edge.kind == "data")
        given = (vertex for key, vertex in self.tensors.items() if key not in self.makers)
        shared = sum(readers[vertex.key] > 1 or vertex.is_variable for vertex in given)
        self._open(self.top, shared + sum(map(self._cost, self.top)), limit)

    def shown(self, branch: Branch) -> list[Branch] | None:
        """Return the parts that stand for a group when it is open; None where it is closed."""
        known = self._opened.get(branch.key)
        return known[1] if known is not None and known[0] is branch else None

    def is_framed(self, branch: Branch) -> bool:
        """True if an open group has a name around its parts."""
        return branch.kind in ("loop", "run") and branch.key not in self.more

    def _open(self, level: list[Branch], boxes: int, limit: int) -> None:
        while level:
            groups = [self._in_order(branch, self._parts(branch)) for branch in level if branch.kind != "call"]
            must = [pair for pair in groups if self._is_kept(pair[0]) or self._alone(pair, boxes)]
            boxes += sum(map(self._growth, must))
            # Blocks that are alike shall look alike: of one depth all are opened or, where that is too much, the small
            # ones, and of each class of modules one.
            may = [pair for pair in groups if pair not in must and self._may(pair[0])]
            for some in (may, [pair for pair in may if self._growth(pair) < FEW], []):
                growth = sum(map(self._growth, some))
                if boxes + growth <= limit:
                    break
            boxes += growth
            for pair in () if self.whole else self._one_of_each(may, [*must, *some]):
                if boxes + self._least(pair[1]) <= min(limit, MANY):
                    boxes += self._least(pair[1])
                    some = [*some, pair]
            level = []
            for branch, parts in (*must, *some):
                self._opened[branch.key] = branch, parts
                level += parts
            for branch, parts in groups:
                if branch.key in self._expanded and self.shown(branch) is None:
                    # What was asked for is open besides: no other box opens or closes because of it.
                    self._opened[branch.key] = branch, parts
                    self._open(parts, sum(map(self._cost, parts)), limit)

    def _in_order(self, branch: Branch, parts: list[Branch]) -> _Group:
        """Return a group with its parts.

        Layers of one list, of which one would take half of the room and show no write, are not opened: they stand in
        their order, or in one box where they are many.
        """
        first = branch.parts[0] if branch.kind == "loop" else branch
        if self._deep or self.whole or not are_layers(branch) or any(map(self._is_kept, branch.parts)):
            return branch, parts
        if 2 * self._growth((first, self._parts(first))) < LIMIT or self._writes(first):
            return branch, parts
        few = len(branch.parts) < FEW
        self._closed.update(map(_key, branch.parts if few else (branch,)))
        return branch, list(branch.parts) if few else parts

    def _writes(self, branch: Branch) -> bool:
        return any(self.tensors[key].mutated for call in branch.calls for key in self.made.get(call.key, ()))

    def _growth(self, group: _Group) -> int:
        branch, parts = group
        growth = sum(map(self._cost, parts)) - 1
        if self.whole and are_layers(branch) and self._may(parts[0]):
            # The first layer beside the others says nothing while it is as closed as they are.
            self._examples.add(parts[0].key)
            growth += self._growth((parts[0], self._parts(parts[0])))
        return growth

    def _least(self, parts: list[Branch]) -> int:
        """How many boxes they are where results without a name stand in the boxes of their calls."""
        made = [key for part in parts if part.kind == "call" for key in self.made.get(part.calls[0].key, ())]
        return len(parts) - 1 + sum(self.tensors[key].mutated or bool(self.tensors[key].name) for key in made)

    def _one_of_each(self, groups: list[_Group], chosen: list[_Group]) -> list[_Group]:
        """Return the first one of each class of modules of which none is open, nor among the chosen ones."""
        shown = {branch.step.name for branch, _parts in (*self._opened.values(), *chosen) if branch.kind == "run"}
        first: dict[str, _Group] = {}
        for pair in groups:
            if pair[0].kind == "run" and pair[0].step.path and pair[0].step.name not in shown:
                first.setdefault(pair[0].step.name, pair)
        return list(first.values())

    def _may(self, branch: Branch) -> bool:
        if self.whole and not runs_modules(branch, self.whole, inside=True):
            return False
        return (self._deep or branch.key not in self.more | self._closed) and (
            not self._tracks or any(call.nodes for call in branch.calls)
        )

    def _alone(self, group: _Group, boxes: int) -> bool:
        """Of an overview: what is no module, and runs some; and what would be nearly all of it."""
        branch = group[0]
        if not self.whole or not self._may(branch) or boxes + self._growth(group) > LIMIT:
            return False
        if branch.key in self._examples or not is_module(branch, self.whole):
            return branch.kind in ("run", "loop", "pass")
        return boxes <= _HARDLY_ANY

    def _is_kept(self, branch: Branch) -> bool:
        return bool(self.keep) and not self.keep.isdisjoint(map(_key, branch.calls))

    def _cost(self, branch: Branch) -> int:
        own = self.made.get(branch.calls[0].key, ()) if branch.kind == "call" and not self.whole else ()
        return 1 + len(own)

    def _parts(self, branch: Branch) -> list[Branch]:
        """Return the parts of a group; of a loop, the passes to show and the passes between them as one part each."""
        if branch.kind != "loop":
            parts = parts_of_overview(branch.parts, self.whole, joined=True) if self.whole else branch.parts
            return chunked(parts)
        wanted = [each.key in self._expanded or self._is_kept(each) for each in branch.parts]
        if not any(wanted):
            wanted[0] = True
        parts = []
        for alone, group in groupby(zip(wanted, branch.parts, strict=True), key=lambda pair: pair[0]):
            passes = [each for _, each in group]
            if alone or len(passes) == 1:
                parts += passes
                continue
            rest = replace(branch, calls=tuple(call for each in passes for call in each.calls), parts=tuple(passes))
            self.more.add(rest.key)
            parts.append(rest)
        return parts


def whole_modules(calls: Sequence[CallVertex]) -> dict[str, tuple[str, str]]:
    """Path and class of the module, for each call that is all that autograd tracks of the module's forward.

    ``F.linear`` in the forward of a model that runs ``F.relu`` or another module too is a part of that model. The path
    is empty where no parameter tells it.

    Returns:
        By the call's key, e.g. ``{"C3": ("net.conv1", "Conv2d"), "C4": ("", "ReLU")}``.
    """
    ran = grouped((call.modules, call.name) for call in calls if call.nodes and call.modules)
    run = {modules: set(names) for modules, names in ran.items()}
    around = {modules[:size] for modules in run for size in range(1, len(modules))}
    found = {}
    for call in calls:
        if call.nodes and call.modules and len(run[call.modules]) == 1 and call.modules not in around:
            room = call.rooms[-1] if call.rooms else None
            path, cls = (room.path, room.cls) if room is not None else ("", call.modules[-1])
            if path or cls != UNTOLD:
                found[call.key] = path, cls
    return found


def parts_of_overview(parts: Iterable[Branch], whole: Mapping[str, object], *, joined: bool) -> list[Branch]:
    """Return the modules among some parts and in the lines among them, and what is between two modules; `whole` has the
    calls that are modules, by key."""
    flat = list(_opened(parts, whole))
    found: list[Branch] = []
    for loose, group in groupby(flat, key=lambda part: part.kind in ("call", "line") and not runs_modules(part, whole)):
        some = list(group)
        found += [_as_one(some)] if loose and 1 < len(some) < len(flat) else some
    return found if joined else flat


def is_module(branch: Branch, whole: Mapping[str, object]) -> bool:
    """True if it is a run of one module, or of several in a row."""
    if branch.kind == "call":
        return branch.calls[0].key in whole
    return branch.step.kind == "run" and (bool(branch.step.path) or branch.step.name in branch.calls[0].modules)


def runs_modules(branch: Branch, whole: Mapping[str, object], *, inside: bool = False) -> bool:
    """True if it is a module or runs one; with `inside`, what it is itself does not count."""
    if not inside and is_module(branch, whole):
        return True
    return any(runs_modules(part, whole) for part in (branch.parts[:1] if branch.kind == "loop" else branch.parts))


def _opened(parts: Iterable[Branch], whole: Mapping[str, object]) -> Iterator[Branch]:
    for part in parts:
        if part.kind in ("line", "run") and not is_module(part, whole) and runs_modules(part, whole):
            yield from _opened(part.parts, whole)
        else:
            yield part


def _as_one(parts: list[Branch]) -> Branch:
    calls = tuple(call for part in parts for call in part.calls)
    tracked = [call.name for call in calls if call.nodes] or [call.name for call in calls]
    names = dict.fromkeys(name.split(".")[-1].removeprefix("__").removesuffix("__") for name in tracked)
    first = parts[0]
    return Branch("line", Step("line", ", ".join(names), first.step.line, first.step.where), calls, parts, first.site)
