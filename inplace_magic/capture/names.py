"""Names by which the user's namespace reaches tensors, looked up once, when the watch ends.

How they are reached, and what is never run on the way, says :mod:`.reach`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.naming.reach import Kinds, walk
from inplace_magic.capture.torch import describe
from inplace_magic.record.names import TensorName

_CPU = torch.device("cpu")
TORCH_KINDS = Kinds(
    tensor=torch.Tensor,
    module=torch.nn.Module,
    indexed=(torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ParameterList),
    tables=("_parameters", "_buffers", "_modules"),
    gradient=describe.gradient,
)


@dataclass(frozen=True)
class Namespace:
    """The names of tensors in the user's namespace at the end of the watch."""

    names: tuple[TensorName, ...] = ()
    arrays: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Names of NumPy arrays by the serial number of the storage that they share."""
    hooked_modules: tuple[str, ...] = ()
    modules: tuple[tuple[str, torch.nn.Module], ...] = ()
    """Every module within reach, by its path."""


def read_namespace(namespace: Mapping[str, Any], identity: IdentityMap) -> Namespace:
    """Return every name of every tensor that the watch has met, shortest paths first, in the order of the namespace;
    the NumPy arrays on the same memory; and the modules with forward hooks."""
    identity.bury()
    found: list[tuple[int, TensorName]] = []
    arrays: dict[int, tuple[str, ...]] = {}
    hooked: list[str] = []
    modules: list[tuple[str, torch.nn.Module]] = []
    for name, value in list(namespace.items()):
        if name.startswith("_"):
            continue  # IPython's own history (`_`, `_3`) and the user's private names
        if type(value).__name__ == "ndarray" and type(value).__module__ == "numpy":
            storage = identity.storage_at(value.__array_interface__["data"][0], _CPU)
            if storage is not None:
                arrays[storage.serial] = (*arrays.get(storage.serial, ()), name)
        for depth, path, item in walk(name, value, TORCH_KINDS):
            if isinstance(item, torch.nn.Module):
                modules.append((path, item))
                if vars(item).get("_forward_hooks"):
                    hooked.append(path)
                continue
            record = identity.known(item)
            if record is not None:
                found.append((depth, TensorName(record.serial, path)))
    found.sort(key=lambda entry: entry[0])
    return Namespace(tuple(entry for _, entry in found), arrays, tuple(hooked), tuple(modules))
