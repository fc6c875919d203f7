"""The graph that a failed backward left: its nodes in the engine's order, and the one that refused."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import torch

from inplace_magic.capture.graph.depth import most_nodes
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.describe_nodes import node_name, node_sequence, saved_values, youngest_first
from inplace_magic.postmortem.memory import Memory, memory_of

_BACKWARDS = frozenset(("backward", "grad", "_engine_run_backward"))
"""Names of the functions of PyTorch's that begin a run of the engine, in these files:"""
_FILES = ("_tensor.py", "autograd/__init__.py", "autograd/graph.py")
_MOST_FITTING = 32
_EITHER = ("indices", "values", "saved_tensors", "mask", "sign", "eigenv", "sorted")
"""Beginnings of names that stand for results of some functions and for what others are given."""


@dataclass(frozen=True)
class Saver:
    """A node that keeps a tensor which was written since; facts alone, no object of the user's."""

    name: str
    """As PyTorch prints it: ``SigmoidBackward0``; empty for a function within ``CopySlices``, which shows nothing."""
    field: str
    """PyTorch's name for what it saved: ``result``, ``self``, ``mat2``."""
    sequence: int | None
    memory: Memory | None
    written_by: str | None
    """The node that its ``grad_fn`` names now: of the last write that autograd recorded, or of what made it."""
    parameters: frozenset[Memory]
    """Memory of the leaves right behind it: the weights and biases of the layer that made it."""

    @property
    def is_output(self) -> bool | None:
        """True if it keeps its own result; None where its name for it does not say."""
        if not self.name:
            return None
        if self.field.startswith(("result", "output")):
            return True
        return None if self.field.startswith(_EITHER) else False


@dataclass(frozen=True)
class Refused:
    """What the graph tells of a backward that refused."""

    savers: tuple[Saver, ...]
    """Nodes that fit what the error says, in the engine's order; the refused one is among them."""
    is_sure: bool
    """Whether the first of them is the one."""
    packed: bool
    """Whether saved-tensor hooks hid what some nodes keep."""
    cut: bool
    """Whether the graph has more nodes than were looked at."""


def roots_of(stack: Iterable[FrameType]) -> list[Any]:
    """Return the tensors that the innermost run of backward in a traceback was called for.

    What a frame holds is asked of the garbage collector: ``f_locals`` would leave a copy in the frame.
    """
    found: list[Any] = []
    for frame in stack:
        code = frame.f_code
        if code.co_name in _BACKWARDS and code.co_filename.replace("\\", "/").endswith(_FILES):
            held = [tensor for value in gc.get_referents(frame) for tensor in _tensors(value)]
            found = held or found
    return found


def keeps_its_graph(stack: Iterable[FrameType]) -> bool:
    """True if the innermost run of backward was asked to retain the graph, or to create one."""
    found = False
    for frame in stack:
        if frame.f_code.co_name == "_engine_run_backward":
            # (gradients, retain_graph, create_graph, …); where it is called otherwise, the savers stay open
            given = [each for each in gc.get_referents(frame) if type(each) is tuple and len(each) > 2]
            found = not any(each[1] is False and each[2] is False for each in given)
    return found


def _tensors(value: Any) -> list[Any]:
    listed = value if type(value) in (tuple, list) else (value,)
    return [each for each in listed if issubclass(type(each), torch.Tensor)]


def nodes_of(tensors: Iterable[Any], most: int) -> Iterator[Any]:
    """Yield so many nodes behind tensors at most, the youngest first; backward has read their ``grad_fn`` itself."""
    return youngest_first(map(describe.grad_fn, tensors), most)


def refused(tensors: Iterable[Any], version: int | None, shape: tuple[int, ...] | None, *, retained: bool) -> Refused:
    """Return the nodes that can have refused: those that still keep a tensor of this shape, which is at this version.

    A backward lets go of what a node kept as it passes through, so the first that still keeps its own is the one; with
    ``retain_graph`` all keep theirs, and several can fit.

    Args:
        tensors: for which backward was called.
        version: what the error found.
        shape: of the tensor that the error names.
        retained: whether this backward lets go of nothing.
    """
    savers: list[Saver] = []
    packed = hidden = False
    left = most_nodes()
    count = 0
    for node in nodes_of(tensors, left):
        count += 1
        kept = saved_values(node)
        fits = []
        for field, tensor, hooked in kept:
            packed = packed or hooked
            if tensor is None or version is None or describe.version(tensor) != version:
                continue
            if shape is None or describe.attempt(lambda t=tensor: tuple(t.shape)) == shape:  # type: ignore[misc]
                fits.append((field, tensor))
        hidden = hidden or (not savers and node_name(node) == "CopySlices")
        if fits:
            savers += [_saver(node, field, tensor) for field, tensor in fits]
            if len(savers) >= _MOST_FITTING:
                break
    if hidden and savers:
        savers.append(replace(savers[0], name="", field="", written_by=None, parameters=frozenset()))
    same = len({(saver.name, saver.memory, saver.sequence) for saver in savers}) == 1
    return Refused(tuple(savers), bool(savers) and (same or not retained) and not hidden, packed, count >= left)


def _saver(node: Any, field: str, tensor: Any) -> Saver:
    writer = describe.grad_fn(tensor) if not describe.is_view(tensor) else None  # reading a stale view's changes it
    return Saver(
        name=node_name(node),
        field=field,
        sequence=node_sequence(node),
        memory=memory_of(tensor),
        written_by=node_name(writer) if writer is not None else None,
        parameters=frozenset(_leaves_behind(node)),
    )


def _leaves_behind(node: Any) -> Iterator[Memory]:
    """Leaves that a node uses directly, or through a transposition as ``linear`` does."""
    for behind, _ in node.next_functions:
        inner = [behind, *(step for step, _ in behind.next_functions)] if behind is not None else []
        for at, step in enumerate(inner):
            through = at == 0 or node_name(behind) in ("TBackward0", "TransposeBackward0")
            if step is not None and through and node_name(step) == "AccumulateGrad":
                memory = memory_of(step.variable)
                if memory is not None:
                    yield memory
