"""Look-ups from serial numbers to the names that a reader knows."""

from __future__ import annotations

from inplace_magic.trace import Trace


def node_names(trace: Trace) -> dict[int, str]:
    """What PyTorch calls each autograd node, e.g. ``SigmoidBackward0``, by serial number."""
    return {node.node: node.name for node in trace.nodes}
