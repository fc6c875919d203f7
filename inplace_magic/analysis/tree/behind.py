"""The module that stands behind a node, where a graph tells it and no call does: at level ``writes``."""

from __future__ import annotations

from inplace_magic.record.autograd import AutogradNode
from inplace_magic.record.names import ModuleName
from inplace_magic.record.trace import Trace


def module_behind(trace: Trace, node: AutogradNode) -> ModuleName | None:
    """Return the module whose parameter is reached from a node along the recorded part of its graph; None where none
    is."""
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
