"""What a failed backward left: the nodes of its graph in the engine's order, the one that refused, the memory that
tensors are on, and the names that lead there."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from types import FrameType
from typing import Any, NamedTuple

import torch

from inplace_magic.capture.graph.depth import most_nodes
from inplace_magic.capture.names import TORCH_KINDS
from inplace_magic.capture.naming.reach import LEADS_NOWHERE, entries_of
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.describe_nodes import node_name, node_sequence, saved_values, youngest_first
from inplace_magic.postmortem.reading import stored

_BACKWARDS = frozenset(("backward", "grad", "_engine_run_backward"))
"""Names of the functions of PyTorch's that begin a run of the engine, in these files:"""
_FILES = ("_tensor.py", "autograd/__init__.py", "autograd/graph.py")
_MOST_FITTING = 32
_EITHER = ("indices", "values", "saved_tensors", "mask", "sign", "eigenv", "sorted")
"""Beginnings of names that stand for results of some functions and for what others are given."""
_MOST_OBJECTS = 4_000
"""Objects that are looked into, and at each length of a path about as many tensors."""
_MOST_ENTRIES = 200
"""Of a list or dict."""
_MOST_STEPS = 12
"""Of a path: modules are nested deeply."""


class Memory(NamedTuple):
    """A storage and the state of its version counter: what a write moves.

    ``x.detach()`` has the same counter as ``x``, and ``x.data`` has the storage alone.
    """

    storage: int
    version: int | None


def memory_of(tensor: Any) -> Memory | None:
    """Where a tensor's numbers are; None where it does not say. If ``_cdata`` vanishes: nothing is known of any."""
    storage = describe.storage(tensor)
    address = describe.attempt(lambda: int(storage._cdata)) if storage is not None else None
    return None if address is None else Memory(address, describe.version(tensor))


Holders = dict[Memory, list[tuple[str, Any]]]
"""By memory: the paths by which the user's names lead there, and the tensors at their ends."""


def holders_in(scopes: Iterable[Mapping[str, object]]) -> Holders:
    """Return what the names of some scopes lead to, inner scopes and short paths first."""
    found: Holders = {}
    for scope in scopes:
        for path, tensor in _tensors_of(scope):
            memory = memory_of(tensor)
            if memory is not None:
                found.setdefault(memory, []).append((path, tensor))
    return found


def last_recorded(tensors: Iterable[Any]) -> str | None:
    """Return the node of the last write that autograd recorded, or of what made the memory; None where no tensor tells.

    Views are not asked: reading the ``grad_fn`` of one whose base was written changes the graph.
    """
    nodes = (describe.grad_fn(tensor) for tensor in tensors if not describe.is_view(tensor))
    return next((node_name(node) for node in nodes if node is not None), None)


def _tensors_of(scope: Mapping[str, object]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors that names lead to, with their paths, short ones first."""
    names = islice(list(scope.items()), _MOST_OBJECTS)
    level = [(name, value) for name, value in names if name[:1] != "_" and name not in ("In", "Out")]
    seen: set[int] = set()
    for _depth in range(_MOST_STEPS):
        deeper: list[tuple[str, Any]] = []
        for path, value in level:
            if issubclass(type(value), torch.Tensor):
                yield path, value
            elif type(value) not in LEADS_NOWHERE and id(value) not in seen and len(seen) < _MOST_OBJECTS:
                seen.add(id(value))
                if len(deeper) < _MOST_OBJECTS:
                    deeper += _below(path, value)
        level = deeper


def _below(path: str, value: Any) -> list[tuple[str, Any]]:
    if not issubclass(type(value), torch.nn.Module):
        return [(f"{path}{step}", each) for step, each in entries_of(value, TORCH_KINDS, _MOST_ENTRIES)]
    found = [(f"{path}{step}", each) for step, each in entries_of(value, TORCH_KINDS)]
    indexed = issubclass(type(value), TORCH_KINDS.indexed)
    for name, child in (stored(value).get("_modules") or {}).items():
        if child is not None:
            found.append((f"{path}[{name}]" if indexed and name.isdigit() else f"{path}.{name}", child))
    return found


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
    return Saver(
        name=node_name(node),
        field=field,
        sequence=node_sequence(node),
        memory=memory_of(tensor),
        written_by=last_recorded((tensor,)),
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
