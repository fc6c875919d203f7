"""Which modules ran a call, by their paths in the user's namespace: ``net.layer1[0]``, a ``BasicBlock``.

A call records the classes whose ``forward`` was running. Whose it was, its own inputs tell: a convolution that reads
``net.layer1[0].conv1.weight`` ran inside ``net.layer1[0]``. A call without parameters tells nothing; what it belongs
to follows from its neighbours, see :mod:`inplace_magic.analysis.call_tree`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from inplace_magic.analysis.remembered import remembered
from inplace_magic.record.autograd import AutogradNode
from inplace_magic.record.events import CallEvent
from inplace_magic.record.grouped import grouped
from inplace_magic.record.names import ModuleName
from inplace_magic.record.trace import Trace

_STEPS = re.compile(r"\[[^\]]*\]|\.?[^.\[]+")
IN_A_ROW = ("", "Sequential")
"""What defines the ``forward`` of a module whose entries are layers in a row: nothing in ``ModuleList``."""
UNTOLD = "Module"
"""Stands for any class: Python 3.10 does not tell it."""


@dataclass(frozen=True, slots=True)
class Room:
    """A module that was running."""

    path: str
    cls: str
    row: str = ""
    """Path of the list of layers that it is an entry of."""


def steps_of(path: str) -> list[str]:
    """``net``, ``.layer1``, ``[0]`` of ``net.layer1[0]``."""
    return _STEPS.findall(path)


class ModuleNames:
    """Looks up the modules around the calls of a trace."""

    def __init__(self, trace: Trace) -> None:
        self._modules = {module.path: module for module in trace.module_names}
        self._names = grouped((entry.tensor, entry.name) for entry in (trace.names if self._modules else ()))

    def running(self, call: CallEvent) -> tuple[Room | None, ...]:
        """For each of ``call.modules``: which one it was, as far as the call's own inputs tell; empty if nothing is."""
        if not call.modules or not self._modules:
            return ()
        named = (facts.tensor for facts in call.inputs if facts.tensor in self._names)
        return max((self._around(tensor, call.modules) for tensor in named), key=_told, default=())

    @remembered
    def _around(self, tensor: int, classes: tuple[str, ...]) -> tuple[Room | None, ...]:
        """By the name that fits best: one weight may belong to two modules."""
        return max((self._aligned(name, classes) for name in self._names[tensor]), key=_told)

    def _aligned(self, name: str, classes: Sequence[str]) -> tuple[Room | None, ...]:
        owners = [module for module in self._owners(name) if module.defined_in]
        found: list[Room | None] = [None] * len(classes)
        # The innermost ones first: a list of layers need not run itself.
        for position in reversed(range(len(classes))):
            fitting = [n for n, owner in enumerate(owners) if _same(owner.defined_in, classes[position])]
            if fitting:
                found[position] = self._room(owners[fitting[-1]])
                del owners[fitting[-1] :]
        return tuple(found) if any(found) else ()

    def _owners(self, name: str) -> list[ModuleName]:
        """Return the modules around a tensor, the outermost first."""
        return [self._modules[path] for path in accumulate(steps_of(name)) if path in self._modules]

    def _room(self, module: ModuleName) -> Room:
        around = self._modules.get("".join(steps_of(module.path)[:-1]))
        in_row = around is not None and around.defined_in in IN_A_ROW
        return Room(module.path, module.cls, around.path if around is not None and in_row else "")


def _told(rooms: tuple[Room | None, ...]) -> int:
    return sum(room is not None for room in rooms)


def _same(one: str, other: str) -> bool:
    return one == other or UNTOLD in (one, other)


def module_behind(trace: Trace, node: AutogradNode) -> ModuleName | None:
    """Return the module whose parameter is reached from a node along the recorded part of its graph; None where none
    is. At level ``writes`` no call tells it."""
    nodes = {each.node: each for each in trace.nodes}
    waiting, seen = [node], {node.node}
    while waiting:
        each = waiting.pop(0)
        if each.variable is not None:
            named = [entry.name for entry in trace.names if entry.tensor == each.variable]
            found = [m for m in trace.module_names if any(name.startswith(f"{m.path}.") for name in named)]
            if found:
                return max(found, key=lambda module: len(module.path))
        for number in each.next:
            if number is not None and number not in seen and number in nodes:
                seen.add(number)
                waiting.append(nodes[number])
    return None
