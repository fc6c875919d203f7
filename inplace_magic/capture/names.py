"""Names by which the user's namespace reaches tensors, looked up once, when the watch ends.

Only plain containers are entered (dict, list, tuple, deque, a module's own tables, the attributes of objects whose
class the user defined in the notebook, and the tensors of such a class itself), and only by reading their storage: no
property, ``__getattr__`` or ``__iter__`` of the user's runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.torch import describe
from inplace_magic.record.names import TensorName

_MAX_ITEMS = 1_000
_CPU = torch.device("cpu")
_MAX_DEPTH = 3


@dataclass(frozen=True)
class Namespace:
    """What the user's namespace says about tensors at the end of the watch."""

    names: tuple[TensorName, ...] = ()
    arrays: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Names of NumPy arrays by the serial number of the storage that they share."""
    hooked_modules: tuple[str, ...] = ()
    modules: tuple[tuple[str, torch.nn.Module], ...] = ()
    """Every module within reach, by its path."""


def read_namespace(namespace: Mapping[str, Any], identity: IdentityMap) -> Namespace:
    """Every name of every tensor that the watch has met, shortest paths first, in the order of the namespace; the
    NumPy arrays on the same memory; and the modules with forward hooks."""
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
        for depth, path, item in _walk(name, value, 0, set()):
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


def within_reach(names: Mapping[str, Any]) -> Iterator[tuple[int, str, Any]]:
    """(depth, path, tensor or module) of everything that some names reach."""
    for name, value in names.items():
        yield from _walk(name, value, 0, set())


def _walk(path: str, value: Any, depth: int, seen: set[int]) -> Iterator[tuple[int, str, Any]]:
    """(depth, path, tensor or module) of everything within reach."""
    if isinstance(value, torch.Tensor):
        yield depth, path, value
        grad = describe.gradient(value)
        if grad is not None:
            yield depth + 1, f"{path}.grad", grad
        return
    if id(value) in seen or depth > _MAX_DEPTH:
        return
    seen.add(id(value))
    if isinstance(value, torch.nn.Module):
        yield depth, path, value
    for step, item in _items(value):
        yield from _walk(path + step, item, depth + 1 if not isinstance(value, torch.nn.Module) else depth, seen)


def _items(value: Any) -> list[tuple[str, Any]]:
    kind = type(value)
    if issubclass(kind, torch.nn.Module):
        return _module_items(value)
    if kind is dict:
        return [
            (f"[{_quoted(key)}]", item) for key, item in list(value.items())[:_MAX_ITEMS] if type(key) in (str, int)
        ]
    if kind in (list, tuple, deque):
        return [(f"[{i}]", item) for i, item in enumerate(islice(value, _MAX_ITEMS))]
    if kind is type and value.__module__ == "__main__":
        return [(f".{name}", item) for name, item in list(vars(value).items()) if isinstance(item, torch.Tensor)]
    if kind.__module__ == "__main__" and isinstance(getattr(value, "__dict__", None), dict):
        return [(f".{name}", item) for name, item in list(vars(value).items())[:_MAX_ITEMS]]
    return []


def _module_items(module: torch.nn.Module) -> list[tuple[str, Any]]:
    state = vars(module)
    indexed = isinstance(module, (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ParameterList))
    items: list[tuple[str, Any]] = []
    for table in ("_parameters", "_buffers", "_modules"):
        for name, item in (state.get(table) or {}).items():
            if item is not None:
                items.append((f"[{name}]" if indexed and name.isdigit() else f".{name}", item))
    items += [(f".{name}", item) for name, item in state.items() if isinstance(item, torch.Tensor)]
    return items


def _quoted(key: str | int) -> str:
    return f'"{key}"' if isinstance(key, str) else str(key)
