"""Names by which the user's namespace reaches tensors, looked up once, when the watch ends.

How they are reached, and what is never run on the way, says :mod:`.reach`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.naming.reach import Kinds, met_in
from inplace_magic.capture.naming.scope import names_in_sight
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


def read_namespace(namespace: Mapping[str, Any] | FrameType, identity: IdentityMap) -> Namespace:
    """Return what the user's names reach: tensors that the watch has met, the NumPy arrays on their memory, modules.

    Args:
        namespace: the names, or the frame in whose sight they are.
    """
    namespace = names_in_sight(namespace) if isinstance(namespace, FrameType) else namespace
    identity.bury()
    names, modules = met_in(namespace, identity.known, TORCH_KINDS)
    arrays: dict[int, tuple[str, ...]] = {}
    for name, value in list(namespace.items()):
        if type(value).__name__ == "ndarray" and type(value).__module__ == "numpy" and not name.startswith("_"):
            storage = identity.storage_at(value.__array_interface__["data"][0], _CPU)
            if storage is not None:
                arrays[storage.serial] = (*arrays.get(storage.serial, ()), name)
    hooked = tuple(path for path, module in modules if vars(module).get("_forward_hooks"))
    return Namespace(names, arrays, hooked, tuple(modules))
