"""The node of a failed graph that refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inplace_magic.capture.graph.depth import most_nodes
from inplace_magic.capture.torch.describe import error_text
from inplace_magic.capture.torch.describe_nodes import node_sequence, saved_values, youngest_first
from inplace_magic.record.refusal import Refusal


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
