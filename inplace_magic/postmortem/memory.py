"""Which memory a tensor is on, and the names that lead to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import torch

from inplace_magic.capture.names import TORCH_KINDS
from inplace_magic.capture.naming.reach import LEADS_NOWHERE, entries_of
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.describe_nodes import node_name
from inplace_magic.postmortem.reading import stored

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
    for tensor in tensors:
        node = describe.grad_fn(tensor) if not describe.is_view(tensor) else None
        if node is not None:
            return node_name(node)
    return None


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
