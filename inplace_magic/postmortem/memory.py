"""Which memory a tensor is on, and the names that lead to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

_MOST_NAMES = 5_000
"""Of a namespace that are followed."""


class Memory(NamedTuple):
    """A storage and the state of its version counter: what a write moves.

    ``x.detach()`` has the same counter as ``x``, and ``x.data`` has the storage alone.
    """

    storage: int
    version: int | None


def memory_of(tensor: Any) -> Memory | None:
    """Where a tensor's numbers are; None where it does not say. If ``_cdata`` vanishes: nothing is known of any."""
    from inplace_magic.capture.torch import describe

    storage = describe.storage(tensor)
    address = describe.attempt(lambda: int(storage._cdata)) if storage is not None else None
    return None if address is None else Memory(address, describe.version(tensor))


def names_of(memory: Memory | None, scopes: Iterable[Mapping[str, object]]) -> list[str]:
    """The paths by which the user's names lead to a memory, inner scopes and short paths first."""
    if memory is None:
        return []
    found = []
    for scope in scopes:
        paths = [(depth, path) for depth, path, tensor in _tensors_of(scope) if memory_of(tensor) == memory]
        found += [path for _, path in sorted(paths, key=lambda entry: entry[0])]
    return found


def _tensors_of(scope: Mapping[str, object]) -> list[tuple[int, str, Any]]:
    import torch

    from inplace_magic.capture.naming.reach import walk

    found: list[tuple[int, str, Any]] = []
    for name, value in islice(list(scope.items()), _MOST_NAMES):
        if not name.startswith("_") and name not in ("In", "Out"):
            found += [entry for entry in walk(name, value, kinds()) if issubclass(type(entry[2]), torch.Tensor)]
    return found


def kinds() -> Any:
    """What a tensor and a module of PyTorch is."""
    import torch

    from inplace_magic.capture.naming.reach import Kinds

    indexed = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ParameterList)
    return Kinds(torch.Tensor, torch.nn.Module, indexed, ("_parameters", "_buffers", "_modules"))
