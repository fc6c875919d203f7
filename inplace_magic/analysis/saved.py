"""Which tensor of the user's code a saved tensor is.

Autograd has no Python object for an output that it keeps (``SigmoidBackward0.result``), only its version counter and
layout. Views of one base share a counter, so of the tensors on that counter the one with the same layout is meant.
"""

from __future__ import annotations

from inplace_magic.trace import SavedTensor, Trace

Layout = tuple[int, tuple[int, ...] | None, tuple[int, ...] | None, int | None]


def tensors_of_saved(trace: Trace) -> dict[SavedTensor, int]:
    """Serial number of the tensor behind each saved tensor; those that no tensor in sight stands for are left out."""
    same_layout: dict[Layout, int] = {}
    for call in trace.calls:
        for facts in (*call.inputs, *call.outputs, *call.mutated):
            if facts.counter is not None:
                same_layout.setdefault((facts.counter, facts.shape, facts.strides, facts.offset), facts.tensor)
    found: dict[SavedTensor, int] = {}
    for saved in trace.saved:
        tensor = saved.tensor
        if tensor is None and saved.counter is not None:
            tensor = same_layout.get((saved.counter, saved.shape, saved.strides, saved.offset))
        if tensor is not None:
            found[saved] = tensor
    return found
