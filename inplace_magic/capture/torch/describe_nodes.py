"""Live autograd nodes -> plain facts; total, as :mod:`.describe` is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Any

import torch

from inplace_magic.capture.torch.describe import PLAIN_TYPES

sequence_number: Callable[[], int] = torch._C._autograd._get_sequence_nr
"""The number that the next autograd node of this thread will get. If it vanishes: a node that is discovered late
(made by a custom ``Function``) can no longer be ordered against writes, and its saved version must become unknown."""

_NO_SEQUENCE = 2**63
_NOTHING: list[Any] = []
NODE_NAMES: dict[type, str] = {}
"""Of the classes met so far, as :func:`node_name` gives it."""
_ALWAYS_SAVE = frozenset(
    f"{name}Backward0"
    for name in (
        *("Bmm", "Convolution", "Cumprod", "Elu", "Embedding", "Exp", "Gelu", "Hardtanh"),
        *("LeakyRelu", "Log", "LogSoftmax", "Mm", "Mv", "NativeBatchNorm", "NativeLayerNorm", "NllLoss", "Prod"),
        *("Reciprocal", "Relu", "Rsqrt", "Sigmoid", "Silu", "Softmax", "Softplus", "Sqrt", "Tanh"),
    )
)
"""Nodes that keep a tensor whichever of their inputs need a gradient (tools/autograd/derivatives.yaml)."""
_SAVED_ATTRIBUTES: dict[type, tuple[tuple[str, str], ...]] = {}


def node_name(node: Any) -> str:
    """As PyTorch prints it: ``SigmoidBackward0``."""
    kind = type(node)
    name = NODE_NAMES.get(kind)
    if name is None:
        name = kind.__name__
        if name == "CppFunction":
            return str(node.name())
        if not issubclass(kind, torch._C._FunctionBase):  # caching the user's class would keep it alive
            NODE_NAMES[kind] = name
    return name


OF_MANY = frozenset(("BlockDiagBackward0", "CatBackward0", "NestedTensorFromTensorListBackward0", "StackBackward0"))
"""Nodes of functions that take a list of tensors: ``next_functions`` has an entry for each."""


def most_behind(node: Any) -> int:
    """At most so many nodes are behind one of :data:`OF_MANY`, told without giving them Python objects: the result
    has as many rows along some dimension. If ``_input_metadata`` vanishes: nothing is known, and such nodes end a walk
    through a large graph."""
    try:
        return max(max(map(int, made.shape), default=0) for made in node._input_metadata)
    except Exception:  # as in `_try`; a nested tensor has no shape
        return sys.maxsize


def is_node_class(kind: type) -> bool:
    """True if objects of a class are autograd nodes."""
    return hasattr(kind, "next_functions") and hasattr(kind, "_sequence_nr")


def node_sequence(node: Any) -> int | None:
    """Creation number of an autograd node on its thread; None for ``AccumulateGrad``, which is outside the count. If
    ``_sequence_nr`` vanishes: see :data:`sequence_number`."""
    try:
        number: int = node._sequence_nr()
    except Exception:  # as in `_try`, which costs more; this runs for every new node
        return None
    return number if number < _NO_SEQUENCE else None


def youngest_first(roots: Iterable[Any], most: int) -> Iterator[Any]:
    """Yield the nodes of a graph, the youngest first, as the engine takes them.

    Args:
        roots: where it begins; None counts for nothing.
        most: how many at most. From PyTorch 2.13 on, freeing a long chain of nodes that were looked at takes stack
            (:mod:`inplace_magic.capture.graph.depth`).
    """
    waiting: list[tuple[int, int, Any]] = []
    seen: dict[int, Any] = {}  # by id; holding the nodes keeps the ids theirs

    def add(node: Any) -> None:
        if node is not None and id(node) not in seen:
            seen[id(node)] = node
            heappush(waiting, (-(node_sequence(node) or 0), len(seen), node))

    for root in roots:
        add(root)
    while waiting and most > 0:
        most -= 1
        node = heappop(waiting)[2]
        yield node
        for behind, _ in node.next_functions:
            add(behind)


def saved_values(node: Any) -> list[tuple[str, Any, bool]]:
    """What a node keeps: (name, tensor or None, packed by somebody's hooks).

    Read from ``_raw_saved_*`` without unpacking: ``_saved_*`` unpacks, which raises after a write and, under
    non-reentrant checkpoint, runs the user's function again. If the raw attributes vanish, no saver can be named.
    """
    names = _SAVED_ATTRIBUTES.get(type(node))
    if names is None:
        names = _saved_attributes(type(node))
    if not names:
        return _NOTHING
    found: list[tuple[str, Any, bool]] = []
    for attribute, name in names:
        try:
            raw = getattr(node, attribute)
        except RuntimeError:  # a custom Function that let go of its tensors
            continue
        if type(raw) is tuple:
            for i, entry in enumerate(raw):
                _add_saved(found, f"{name}[{i}]", entry)
        elif raw is not None:  # as `_add_saved`, whose call costs as much as its answer
            try:
                data = raw.data
                if data is not None:
                    plain = type(data) in PLAIN_TYPES or isinstance(data, torch.Tensor)
                    plain = plain and raw.unpack_hook is None
                    found.append((name, data if plain else None, not plain))
            except Exception:  # as in `_try`
                _add_saved(found, name, raw)
    return found


def _saved_attributes(kind: type) -> tuple[tuple[str, str], ...]:
    """(attribute, name of what is saved) of a class of nodes."""
    if issubclass(kind, torch._C._FunctionBase):
        return (("_raw_saved_tensors", "saved_tensors"),)  # not cached: that would keep the user's class alive
    prefix = "_raw_saved_"
    names = tuple((name, name.removeprefix(prefix)) for name in dir(kind) if name.startswith(prefix))
    _SAVED_ATTRIBUTES[kind] = names
    return names


def _add_saved(found: list[tuple[str, Any, bool]], name: str, entry: Any) -> None:
    if entry is None:
        return
    try:
        data = entry.data
    except Exception:  # as in `_try`, which costs more; this runs for everything that is saved
        return
    if data is not None:
        plain = isinstance(data, torch.Tensor) and getattr(entry, "unpack_hook", None) is None
        found.append((name, data if plain else None, not plain))


def still_saves(node: Any) -> bool:
    """True if the node still keeps any saved tensor: backward without ``retain_graph`` lets go of them."""
    return bool(saved_values(node))


def is_spent(node: Any) -> bool:
    """True if a backward has gone through the node and let go of what it kept, so that another one will raise."""
    name = node_name(node)
    if name == "AddmmBackward0" and len(node.next_functions) == 3:  # for the bias alone it keeps nothing
        return any([behind is not None for behind, _ in node.next_functions[1:]]) and not still_saves(node)
    return name in _ALWAYS_SAVE and not still_saves(node)
