"""The tensors and modules that a name leads to.

Only plain containers are entered (dict, list, tuple, deque, a module's own tables, the attributes of objects whose
class the user defined, and the tensors of such a class itself), and only by reading their storage: no property,
``__getattr__`` or ``__iter__`` of the user's runs.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from inplace_magic.capture.callsite import library_folders

_MAX_ITEMS = 1_000
_MAX_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Kinds:
    """A framework's tensors and modules."""

    tensor: type
    module: type
    indexed: tuple[type, ...]
    """Modules whose children are reached by ``[0]``."""
    tables: tuple[str, ...]
    """Attributes of a module that hold its tensors and its children."""
    gradient: Callable[[Any], Any] | None = None
    """``.grad`` of a tensor; None where that makes a new object at each reading."""


def within_reach(names: Mapping[str, Any], kinds: Kinds) -> Iterator[tuple[int, str, Any]]:
    """(depth, path, tensor or module) of everything that some names reach."""
    for name, value in names.items():
        yield from walk(name, value, kinds)


def walk(path: str, value: Any, kinds: Kinds) -> Iterator[tuple[int, str, Any]]:
    """(depth, path, tensor or module) of everything within reach of a value that has that name."""
    return _walk(path, value, 0, set(), kinds)


def _walk(path: str, value: Any, depth: int, seen: set[int], kinds: Kinds) -> Iterator[tuple[int, str, Any]]:
    if issubclass(type(value), kinds.tensor):  # `isinstance` would ask the value for its `__class__`
        yield depth, path, value
        grad = kinds.gradient(value) if kinds.gradient is not None else None
        if grad is not None:
            yield depth + 1, f"{path}.grad", grad
        return
    if id(value) in seen or depth > _MAX_DEPTH:
        return
    seen.add(id(value))
    is_module = issubclass(type(value), kinds.module)
    if is_module:
        yield depth, path, value
    for step, item in _items(value, kinds):
        yield from _walk(path + step, item, depth if is_module else depth + 1, seen, kinds)


def _items(value: Any, kinds: Kinds) -> list[tuple[str, Any]]:
    kind = type(value)
    if issubclass(kind, kinds.module):
        return _module_items(value, kinds)
    if kind is dict:
        return [
            (f"[{_quoted(key)}]", item) for key, item in list(value.items())[:_MAX_ITEMS] if type(key) in (str, int)
        ]
    if kind in (list, tuple, deque):
        return [(f"[{i}]", item) for i, item in enumerate(islice(value, _MAX_ITEMS))]
    if kind is type and _is_users(type.__dict__["__module__"].__get__(value)):
        return [(f".{name}", item) for name, item in list(vars(value).items()) if issubclass(type(item), kinds.tensor)]
    if _is_users(type.__dict__["__module__"].__get__(kind)):
        return [(f".{name}", item) for name, item in list(_attributes(value).items())[:_MAX_ITEMS]]
    return []


def _attributes(value: object) -> dict[str, Any]:
    """What an object keeps its attributes in; without a look at what its class says of ``__getattribute__``."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_users(module: object) -> bool:
    """Whether the user wrote a module of this name: a notebook, a script, or a file that is not an installed one."""
    return isinstance(module, str) and (module == "__main__" or _is_not_installed(module))


@lru_cache(maxsize=1_000)
def _is_not_installed(module: str) -> bool:
    file = _attributes(sys.modules.get(module)).get("__file__")
    return isinstance(file, str) and not os.path.abspath(file).startswith(library_folders())


def _module_items(module: Any, kinds: Kinds) -> list[tuple[str, Any]]:
    state = vars(module)
    indexed = isinstance(module, kinds.indexed)
    items: list[tuple[str, Any]] = []
    for table in kinds.tables:
        for name, item in (state.get(table) or {}).items():
            if item is not None:
                items.append((f"[{name}]" if indexed and name.isdigit() else f".{name}", item))
    items += [(f".{name}", item) for name, item in state.items() if issubclass(type(item), kinds.tensor)]
    return items


def _quoted(key: str | int) -> str:
    return f'"{key}"' if isinstance(key, str) else str(key)
