"""What the graph of a failed backward tells, while it is still alive: the node that refused, and whose node it was.

Level ``writes`` records no call, so nobody noted which module ran when a node was made. The graph tells: from the node
towards the leaves, the first parameter of a module that the user's names reach. ``sigmoid(self.lin(x))`` has
``SigmoidBackward0`` before ``AddmmBackward0`` before the weight of ``lin``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch

from inplace_magic.capture.graph.depth import most_nodes
from inplace_magic.capture.names import TORCH_KINDS, named
from inplace_magic.capture.naming.reach import within_reach
from inplace_magic.capture.naming.scope import locals_of, names_in_sight
from inplace_magic.capture.torch.describe_nodes import node_name, node_sequence, saved_values, youngest_first
from inplace_magic.errors import error_text
from inplace_magic.record.autograd import AutogradNode
from inplace_magic.record.names import ModuleName, TensorName
from inplace_magic.record.refusal import Refusal

_FIRST_NODE = 1
"""The number of the node itself; those behind it count on."""
_LEAF = 2
"""The number of the parameter's tensor; 1 is what the node had saved."""


class Behind(NamedTuple):
    """The node that refused, and what stands behind it."""

    nodes: tuple[AutogradNode, ...] = ()
    """The node itself, then the way to the parameter; of each the one next node alone."""
    names: tuple[TensorName, ...] = ()
    """That of the parameter."""
    modules: tuple[ModuleName, ...] = ()
    """The one whose parameter it is."""


NOTHING = Behind()


def behind(node: Any, frame: FrameType | None, is_users: Callable[[CodeType], tuple[bool, bool]]) -> Behind:
    """Return the module whose parameter is next to a node; the node alone where the user's names reach none.

    Args:
        is_users: whether code is the user's, and whether it is the outermost that counts.
    """
    known = _parameters(frame, is_users)
    came_from: dict[Any, Any] = {node: None}
    waiting = deque([node] if known else ())
    most = most_nodes() // 2  # besides those that were looked at for the node itself
    while waiting and len(came_from) < most:
        each = waiting.popleft()
        for step, _ in each.next_functions:
            if step is None or step in came_from:
                continue
            came_from[step] = each
            waiting.append(step)
            found = known.get(id(step.variable)) if node_name(step) == "AccumulateGrad" else None
            if found is not None:
                _depth, parameter, module = found
                return Behind(_way(step, came_from), (parameter,), (module,))
    return Behind((AutogradNode(_FIRST_NODE, node_name(node), node_sequence(node)),))


def _parameters(
    frame: FrameType | None, is_users: Callable[[CodeType], tuple[bool, bool]]
) -> dict[int, tuple[int, TensorName, ModuleName]]:
    """By ``id`` of a parameter: length of the shortest path that leads there, and by that its name and its module."""
    found: dict[int, tuple[int, TensorName, ModuleName]] = {}
    while frame is not None:
        mine, is_last = is_users(frame.f_code)
        names = names_in_sight(frame) if is_last else locals_of(frame) if mine else {}
        for depth, path, item in within_reach(names, TORCH_KINDS):
            if not isinstance(item, torch.nn.Module):
                continue
            for name, parameter in vars(item)["_parameters"].items():
                known = found.get(id(parameter))
                if parameter is not None and (known is None or depth < known[0]):
                    found[id(parameter)] = depth, TensorName(_LEAF, f"{path}.{name}"), named(path, item)
        frame = None if is_last else frame.f_back
    return found


def _way(leaf: Any, came_from: Mapping[Any, Any]) -> tuple[AutogradNode, ...]:
    way = [leaf]
    while came_from[way[-1]] is not None:
        way.append(came_from[way[-1]])
    way.reverse()
    nodes = []
    for number, (each, after) in enumerate(pairwise(way), _FIRST_NODE):
        behind_it = tuple([number + 1 if step is after else None for step, _ in each.next_functions])
        nodes.append(AutogradNode(number, node_name(each), node_sequence(each), behind_it))
    return (*nodes, AutogradNode(_FIRST_NODE + len(nodes), node_name(leaf), node_sequence(leaf), variable=_LEAF))


def fitting_node(roots: Iterable[Any], refusal: Refusal, text: str) -> tuple[Any, str, Any] | None:
    """Return the node of a failed graph that refused, its name for what it had saved, and that tensor; None where none
    fits.

    The graph is walked once, as far as it can still be freed. A node fits when what it keeps has the version that the
    error found and the sizes that it names. Of several, those count whose own ``_saved_…`` raises the very error;
    reading it unpacks, which is safe where nobody's hooks packed, and others are not read. The engine goes from the
    youngest node to the oldest, so of those the youngest is the one.
    """
    kept = [
        (node, name, tensor)
        for node in youngest_first(roots, most_nodes() // 2)
        for name, tensor, hooked in saved_values(node)
        if not hooked  # packed by somebody
    ]
    fitting = [found for found in kept if _fits(found[2], refusal)]
    if len(fitting) > 1:
        fitting = [found for found in fitting if _refuses(found, text)]
    return max(fitting, key=lambda found: node_sequence(found[0]) or 0) if fitting else None


def _fits(tensor: Any, refusal: Refusal) -> bool:
    try:
        return tensor._version == refusal.found and refusal.shape in (None, tuple(tensor.shape))
    except RuntimeError:
        return False


def _refuses(found: tuple[Any, str, Any], text: str) -> bool:
    node, name, _tensor = found
    try:
        getattr(node, f"_saved_{name.partition('[')[0]}" if name[:13] != "saved_tensors" else "saved_tensors")
    except RuntimeError as error:
        return error_text(error) == text
    return False
