"""Tensors and results -> comparable plain data, bit for bit, without a trace in what is looked at.

Used only outside the watched block, in the plain and in the watched run alike.
"""

from __future__ import annotations

import ctypes
import random
import re
from collections.abc import Iterator
from typing import Any

import torch

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def tensors_of(value: Any, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor in a nest of lists, tuples and dicts, with its place."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from tensors_of(item, f"{path}[{i}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from tensors_of(item, f"{path}[{key!r}]")


def seed_everything(seed: int = 20_240_229) -> None:
    """Puts every random generator that a program may use to one state."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = _numpy()
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


def random_states() -> tuple[bytes, int, bytes]:
    """The state of every random generator."""
    numpy = _numpy()
    state = numpy.random.get_state()[1].tobytes() if numpy is not None else b""
    return torch.get_rng_state().numpy().tobytes(), hash(random.getstate()), state


def tensor_bits(tensor: torch.Tensor) -> bytes | str:
    """The elements as bytes, in logical order."""
    with torch.no_grad(), torch._C._DisableTorchDispatch():
        try:
            return _bits(tensor)
        except (RuntimeError, NotImplementedError, TypeError) as error:
            return f"unreadable: {type(error).__name__}"


def _bits(tensor: torch.Tensor) -> bytes:
    tensor = tensor.detach()
    if tensor.is_meta:
        return b"meta"
    if tensor._is_zerotensor():  # autograd's "no gradient": its memory is never filled, all elements count as zero
        return b"zeros"
    if tensor.is_nested:
        return b"|".join(_bits(part) for part in tensor.unbind())
    if tensor.layout is torch.sparse_coo:
        return _bits(tensor._indices()) + b"|" + _bits(tensor._values())
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return b"|".join(map(_bits, (tensor.crow_indices(), tensor.col_indices(), tensor.values())))
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return b"|".join(map(_bits, (tensor.ccol_indices(), tensor.row_indices(), tensor.values())))
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    solid = tensor.resolve_conj().resolve_neg().contiguous()
    return memory_bytes(solid.data_ptr(), solid.numel() * solid.itemsize)


def memory_bytes(address: int, count: int) -> bytes:
    """A copy of raw CPU memory. Not by way of ``numpy()``, which forbids the storage to be resized ever after."""
    return ctypes.string_at(address, count) if count else b""


def tensor_facts(tensor: torch.Tensor, *, values: bool = True) -> dict[str, Any]:
    """All that a program could tell of one tensor."""
    facts: dict[str, Any] = {"class": type(tensor).__name__, "dtype": str(tensor.dtype), "layout": str(tensor.layout)}
    for name, read in _READS.items():
        try:
            facts[name] = read(tensor)
        except (AttributeError, RuntimeError, NotImplementedError, TypeError) as error:
            facts[name] = f"{type(error).__name__}"
    if values:
        facts["bits"] = tensor_bits(tensor)
    return facts


_READS: dict[str, Any] = {
    "shape": lambda t: tuple(t.shape),
    "strides": lambda t: t.stride(),
    "offset": lambda t: t.storage_offset(),
    "version": lambda t: t._version,
    "requires_grad": lambda t: t.requires_grad,
    "is_leaf": lambda t: t.is_leaf,
    "is_view": lambda t: t._is_view(),
    "is_conj": lambda t: t.is_conj(),
    "is_neg": lambda t: t.is_neg(),
    "is_inference": lambda t: t.is_inference(),
    "names": lambda t: t.names,
    "storage bytes": lambda t: t.untyped_storage().nbytes(),
    "attributes": lambda t: sorted(vars(t)),
    "hooks": lambda t: len(t._backward_hooks or ()),
    "graph": lambda t: graph_names(t.grad_fn),
}


def graph_names(grad_fn: Any, limit: int = 200) -> list[str]:
    """The autograd nodes behind a tensor, breadth first, each with the keys left in its ``metadata``."""
    names: list[str] = []
    todo = [grad_fn] if grad_fn is not None else []
    seen: set[Any] = set()
    while todo and len(names) < limit:
        node = todo.pop(0)
        if node in seen:
            continue
        seen.add(node)
        names.append(f"{node.name()} {sorted(node.metadata)}" if node.metadata else node.name())
        todo.extend(behind for behind, _ in node.next_functions if behind is not None)
    return names


def storage_key(tensor: torch.Tensor) -> int | None:
    """Equal for tensors on the same storage, also an empty one; None where there is no storage."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):
        return None


def value_facts(value: Any, *, values: bool = True) -> Any:
    """A result of any type as comparable data: tensors by :func:`tensor_facts`, the rest by text without addresses."""
    if isinstance(value, torch.Tensor):
        return tensor_facts(value, values=values)
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *(value_facts(item, values=values) for item in value)]
    if isinstance(value, dict):
        return {repr(key): value_facts(item, values=values) for key, item in value.items()}
    if isinstance(value, (bytes, str)):
        return value
    return without_addresses(repr(value))


def without_addresses(text: str) -> str:
    """Text in which addresses, which differ between any two runs, are struck out."""
    return _ADDRESS.sub("0x…", text)


def differing_paths(left: Any, right: Any, path: str = "") -> list[str]:
    """The places where two nests of plain data differ, with both values."""
    if type(left) is type(right) and isinstance(left, dict):
        missing = [f"{path}.{key}: only in one run" for key in left.keys() ^ right.keys()]
        return missing + [
            line for key in left if key in right for line in differing_paths(left[key], right[key], f"{path}.{key}")
        ]
    if type(left) is type(right) and isinstance(left, list) and len(left) == len(right):
        return [
            line
            for i, pair in enumerate(zip(left, right, strict=True))
            for line in differing_paths(*pair, f"{path}[{i}]")
        ]
    return [] if left == right else [f"{path}: {_short(left)} became {_short(right)}"]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 400 else f"{text[:400]}…"


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy
