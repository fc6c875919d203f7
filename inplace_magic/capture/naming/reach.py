"""The tensors and modules that a name leads to.

Only plain containers are entered (dict, list, tuple, deque, a module's own tables, the attributes of objects whose
class the user defined, and the tensors of such a class itself), and only by reading their storage: no property,
``__getattr__`` or ``__iter__`` of the user's runs.
"""

from __future__ import annotations

import os
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, NoneType
from typing import Any

from inplace_magic.capture.frames import library_folders
from inplace_magic.record.names import TensorName

_PLAIN_KEYS = (str, int, float)
"""Keys of a dict that a path tells."""
_MAX_ITEMS = 1_000
_MAX_DEPTH = 3
_MAX_REPEATED = 16
"""Below an object that stands in many places, more than this is told once."""
LEADS_NOWHERE = frozenset((NoneType, bool, int, float, complex, str, bytes, FunctionType, BuiltinFunctionType))
"""Types of values that hold no tensor that anybody could name."""
_NO_TENSOR = LEADS_NOWHERE | {dict, OrderedDict, list, tuple, set, frozenset}
"""What most attributes of a module are: told at once, as it is asked of each of them."""


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


def met_in(
    namespace: Mapping[str, Any], known: Callable[[Any], Any], kinds: Kinds
) -> tuple[tuple[TensorName, ...], list[tuple[str, Any]]]:
    """Return every name of every tensor that a watch has met, shortest paths first, in the order of the namespace; and
    every module within reach, by its path. Without IPython's own history (``_``, ``_3``) and private names.

    Args:
        known: the record of a tensor that was met, which has its ``serial``; None for another.
    """
    modules: list[tuple[str, Any]] = []
    found: list[tuple[int, TensorName]] = []
    public = {name: value for name, value in list(namespace.items()) if not name.startswith("_")}
    for depth, path, item in within_reach(public, kinds):
        if isinstance(item, kinds.module):
            modules.append((path, item))
        elif (record := known(item)) is not None:
            found.append((depth, TensorName(record.serial, path)))
    found.sort(key=lambda entry: entry[0])
    return tuple(entry for _, entry in found), modules


def within_reach(names: Mapping[str, Any], kinds: Kinds) -> list[tuple[int, str, Any]]:
    """(depth, path, tensor or module) of everything that some names reach."""
    found: list[tuple[int, str, Any]] = []
    for name, value in names.items():
        found += walk(name, value, kinds)
    return found


def walk(path: str, value: Any, kinds: Kinds) -> list[tuple[int, str, Any]]:
    """(depth, path, tensor or module) of everything within reach of a value that has that name. What stands in several
    places has a path by each; a module, whose children may be shared on purpose, by the first alone."""
    found: list[tuple[int, str, Any]] = []
    _walk(path, value, 0, {}, kinds, found)
    return found


_Seen = dict[int, tuple[str, int, int, int] | None]
"""By ``id`` of what was met: its first path and depth, and which part of what was found lies below it; None for a
module, and for what the walk is still inside of."""


def _walk(path: str, value: Any, depth: int, seen: _Seen, kinds: Kinds, found: list[tuple[int, str, Any]]) -> None:
    """Adds to `found`; a generator for each step down would cost more than the looks themselves, and a watch goes
    through a whole network at every new line of a training loop."""
    kind = type(value)
    if kind in LEADS_NOWHERE:
        return
    if issubclass(kind, kinds.tensor):  # `isinstance` would ask the value for its `__class__`
        found.append((depth, path, value))
        grad = kinds.gradient(value) if kinds.gradient is not None else None
        if grad is not None:
            found.append((depth + 1, f"{path}.grad", grad))
        return
    if depth > _MAX_DEPTH:
        return
    if id(value) in seen:
        _repeat(path, depth, seen[id(value)], found)
        return
    seen[id(value)] = None
    if issubclass(kind, kinds.module):
        found.append((depth, path, value))
        _walk_module(path, value, depth, seen, kinds, found)
        return
    first = len(found)
    for step, item in _items(value, kinds):
        _walk(path + step, item, depth + 1, seen, kinds, found)
    if first < len(found) <= first + _MAX_REPEATED:
        seen[id(value)] = path, depth, first, len(found)


def _repeat(path: str, depth: int, before: tuple[str, int, int, int] | None, found: list[tuple[int, str, Any]]) -> None:
    """What lies below an object that stands at another path, too: ``[state] * 3``, or one sample under two keys."""
    if before is None or len(found) > _MAX_ITEMS:
        return
    was, was_at, first, last = before
    deeper = depth - was_at
    found += [(d + deeper, path + p[len(was) :], item) for d, p, item in found[first:last] if d + deeper <= _MAX_DEPTH]


def _walk_module(
    path: str, module: Any, depth: int, seen: _Seen, kinds: Kinds, found: list[tuple[int, str, Any]]
) -> None:
    """Goes on below a module, of which a network has hundreds: a step to a child costs no depth."""
    state = vars(module)
    for table in kinds.tables:
        entries = state.get(table)
        if entries:
            indexed = isinstance(module, kinds.indexed)
            for name, item in list(entries.items()):
                if item is not None:
                    step = f"{path}[{name}]" if indexed and name.isdigit() else f"{path}.{name}"
                    _walk(step, item, depth, seen, kinds, found)
    if _NO_TENSOR.issuperset(map(type, state.values())):
        return
    for name, item in state.items():
        kind = type(item)
        if kind not in _NO_TENSOR and issubclass(kind, kinds.tensor):
            _walk(f"{path}.{name}", item, depth, seen, kinds, found)


def entries_of(value: Any, kinds: Kinds, most: int = _MAX_ITEMS) -> list[tuple[str, Any]]:
    """(step, entry) of what an object holds itself: ``["organ"]``, ``[0]``, ``.pos``; of a module its tensors alone.

    Args:
        kinds: what a tensor is, and what a module.
        most: of a list no others are named, since that takes long.
    """
    kind = type(value)
    if kind in LEADS_NOWHERE:
        return []
    if issubclass(kind, kinds.module):
        state = vars(value)
        tables = [entries for table in kinds.tables if (entries := state.get(table))]
        own = [pair for entries in (*tables, state) for pair in list(entries.items())]
        return [(f".{name}", item) for name, item in own if issubclass(type(item), kinds.tensor)]
    if issubclass(kind, dict) and _is_users(kind):
        return _entries(value)
    return _items(value, kinds, most)


def _entries(value: dict[Any, Any]) -> list[tuple[str, Any]]:
    entries = list(dict.items(value))[:_MAX_ITEMS]
    return [(f"[{_quoted(key)}]", item) for key, item in entries if type(key) in _PLAIN_KEYS]


def _items(value: Any, kinds: Kinds, most: int = _MAX_ITEMS) -> list[tuple[str, Any]]:
    kind = type(value)
    if kind is dict:
        return _entries(value)
    if kind in (list, tuple, deque):
        return [(f"[{i}]", item) for i, item in enumerate(islice(value, most)) if type(item) not in LEADS_NOWHERE]
    if kind is type and _is_users(value):
        return [(f".{name}", item) for name, item in list(vars(value).items()) if issubclass(type(item), kinds.tensor)]
    if _is_users(kind):
        return [(f".{name}", item) for name, item in list(_attributes(value).items())[:most]]
    return []


def is_replica(value: object) -> bool:
    """True if torch says of a module that it is a replica, which is meant to share the buffers of its original."""
    return _attributes(value).get("_is_replica") is True


def _attributes(value: object) -> dict[str, Any]:
    """What an object keeps its attributes in; without a look at what its class says of ``__getattribute__``."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return _slots(value)
    return found if isinstance(found, dict) else {}


def _slots(value: Any) -> dict[str, Any]:
    """Return the attributes of an object without a ``__dict__``: those of ``__slots__``, and the fields of a named
    tuple."""
    kind = type(value)
    if issubclass(kind, tuple):
        names = kind.__dict__.get("_fields")
        return dict(zip(names, tuple.__iter__(value), strict=False)) if type(names) is tuple else {}
    found = {}
    for base in kind.__mro__:
        for name, slot in vars(base).items():
            if type(slot) is MemberDescriptorType:  # written in C: none of the user's code runs
                try:
                    found[name] = slot.__get__(value)
                except AttributeError:
                    continue  # nothing was put there
    return found


def _is_users(kind: type) -> bool:
    """True if the user wrote a class: in a notebook, a script, or a file that is not an installed one."""
    module = type.__dict__["__module__"].__get__(kind)
    if not isinstance(module, str):
        return False
    if module == "__main__":
        return True
    file = _attributes(sys.modules.get(module)).get("__file__")  # asked anew: a name may come to mean another module
    return isinstance(file, str) and _is_not_installed(file)


@lru_cache(maxsize=1_000)
def _is_not_installed(file: str) -> bool:
    return not os.path.abspath(file).startswith(library_folders())


def _quoted(key: str | int) -> str:
    return f'"{key}"' if isinstance(key, str) else str(key)
