"""What the graph that a failed backward left tells of itself, where nothing was watched and nothing can be run again.

The traceback keeps the frames of ``backward`` and its arguments. From these the graph is walked: which node had saved
the tensor that was changed, at which version, and which variable of the user's frames is on that memory. Who wrote it
is not in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

import torch

from inplace_magic.capture.naming.scope import locals_of
from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.capture.torch.describe_nodes import node_name, node_sequence
from inplace_magic.capture.torch.functions import facts_of
from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.capture.torch.traits import node_traits
from inplace_magic.capture.torch.writes.refused import fitting_node
from inplace_magic.record.autograd import AutogradNode, Backward, SavedTensor
from inplace_magic.record.blindness import NOT_WATCHED
from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import TensorName
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.rerun.raising_lines import own_frames
from inplace_magic.source.places import Sources

_ROOTS = ("self", "tensors", "outputs")
"""Names of what a backward begins with, in PyTorch's own functions."""


def trace_of_graph(error: BaseException) -> Trace | None:
    """Return the record of what the graph of a failed backward tells; None where it is about something else, or
    gone."""
    text = describe.error_text(error)
    refusal = refusal_of(text)
    if refusal is None or refusal.kind != "saved tensor changed":
        return None
    found = fitting_node(_roots(error.__traceback__), refusal, text)
    if found is None:
        return None
    node, name, tensor = found
    sources = Sources()
    own = own_frames(error.__traceback__)
    site: Callsite | None = None
    for entry in own:
        site = sources.locate(entry.tb_frame.f_code, entry.tb_lasti, site)
    variable = next((name for entry in reversed(own) for name in _named(entry.tb_frame, tensor)), None)
    kind = node_name(node)
    return Trace(
        calls=(
            CallEvent(
                index=0,
                name="Tensor.backward",
                kind="query",
                callsite=site,
                error=text,
                refusal=refusal,
                traits=facts_of(torch.Tensor.backward).traits,
            ),
        ),
        nodes=(AutogradNode(1, kind, node_sequence(node), traits=node_traits(kind)),),
        saved=(
            SavedTensor(
                1, name, storage=1, counter=1, version=refusal.expected, tensor=1, shape=tuple(tensor.shape), changed=0
            ),
        ),
        backwards=(Backward(0, (1,)),),
        names=(TensorName(1, variable),) if variable is not None else (),
        blindness=(NOT_WATCHED,),
        error=text,
        refusal=refusal,
        level="writes",
        torch_version=torch.__version__,
        sources=sources.texts(),
    )


def _roots(traceback: TracebackType | None) -> Iterator[Any]:
    """Yield the nodes with which the backward began, from the arguments of PyTorch's own functions."""
    while traceback is not None:
        frame, traceback = traceback.tb_frame, traceback.tb_next
        if frame.f_globals.get("__name__") not in ("torch._tensor", "torch.autograd"):
            continue
        held = locals_of(frame)
        for name in _ROOTS:
            value = held.get(name)
            for each in value if isinstance(value, (list, tuple)) else (value,):
                node = describe.grad_fn(each) if isinstance(each, torch.Tensor) else None
                if node is not None:
                    yield node


def _named(frame: FrameType, saved: torch.Tensor) -> Iterator[str]:
    """Yield the variables of a frame on the memory of a saved tensor, those of its sizes first."""
    held = locals_of(frame) or frame.f_locals
    memory = describe_memory.storage_address(describe.storage(saved))
    same = [
        (value.shape != saved.shape, name)
        for name, value in held.items()
        if isinstance(value, torch.Tensor) and describe_memory.storage_address(describe.storage(value)) == memory
    ]
    yield from (name for _other, name in sorted(same, key=lambda entry: entry[0]))
