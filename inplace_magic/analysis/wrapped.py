"""What a node saved where PyTorch shows neither memory nor version counter of it: under ``torch.func`` each tensor is
wrapped anew for every transform, and a wrapper has no memory of its own.

The call that made the node tells it: a saved result is what it gave, any other saved tensor one that it got. Where two
fit, it stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, TensorMetadata


def told_by_the_call(
    saved: SavedTensor, nodes: Mapping[int, AutogradNode], calls: Mapping[int, CallEvent]
) -> SavedTensor:
    """The saved tensor with its counter, where the call that made the node has just one that fits."""
    if saved.counter is not None or saved.storage is not None or saved.hooked or saved.version is None:
        return saved
    made = nodes[saved.node].call
    call = calls.get(made) if made is not None else None
    if call is None or saved.shape is None:
        return saved
    listed = call.outputs if saved.role == "result" else call.inputs
    fitting = {meta.tensor: meta for meta in listed if _fits(meta, saved)}
    if len(fitting) != 1:
        return saved
    (meta,) = fitting.values()
    return replace(saved, counter=meta.counter, tensor=meta.tensor)


def _fits(meta: TensorMetadata, saved: SavedTensor) -> bool:
    return meta.storage is None and (meta.shape, meta.dtype, meta.version) == (saved.shape, saved.dtype, saved.version)
