"""The node of a failed graph that refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inplace_magic.capture.torch.describe import error_text
from inplace_magic.capture.torch.describe_nodes import node_sequence, saved_values
from inplace_magic.record.refusal import Refusal

_MOST_NODES = 1_000_000
"""Nodes of a failed graph that are looked at."""


def fitting_node(roots: Iterable[Any], refusal: Refusal, text: str) -> tuple[Any, str, Any] | None:
    """Return the node of a failed graph that refused, its name for what it had saved, and that tensor; None where none
    fits.

    The graph is walked once. A node fits when what it keeps has the version that the error found and the sizes that it
    names. Of several, those count whose own ``_saved_…`` raises the very error; reading it unpacks, which is safe where
    nobody's hooks packed, and others are not read. The engine goes from the youngest node to the oldest, so of those
    the youngest is the one.
    """
    fitting = [found for found in _kept(roots) if _fits(found[2], refusal)]
    if len(fitting) > 1:
        fitting = [found for found in fitting if _refuses(found, text)]
    return max(fitting, key=lambda found: node_sequence(found[0]) or 0) if fitting else None


def _kept(roots: Iterable[Any]) -> list[tuple[Any, str, Any]]:
    """(node, name, tensor) of everything that a graph keeps, but for what somebody's hooks packed."""
    waiting = [root for root in roots if root is not None]
    seen = set(waiting)
    found = []
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop()
        found += [(node, name, tensor) for name, tensor, hooked in saved_values(node) if not hooked]
        for further, _ in node.next_functions:
            if further is not None and further not in seen:
                seen.add(further)
                waiting.append(further)
    return found


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
