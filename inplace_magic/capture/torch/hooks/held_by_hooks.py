"""What the containers that a forward hook can reach hold just now: ``feats["x"]``, ``self.acts[0]``, ``keeper.seen``.

Read are the variables that the hook's own code names (of its closure and its globals), its defaults and bound
arguments, the object whose method it is, and its module; of these the dicts, lists, tuples and attributes, a few
levels deep. Nothing of the user's runs on the way: no property, no ``__iter__``, no comparison.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from itertools import islice
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import torch

_DEPTH = 3
_MOST_VALUES = 2_000
"""Values that are looked at for one hook."""
_MOST_ENTRIES = 256
"""Entries of one container that are looked at, the latest."""
_NOT_LOOKED_INTO = (type, ModuleType, FunctionType, MethodType, BuiltinFunctionType, CodeType)
_OF_EVERY_MODULE = frozenset(vars(torch.nn.Module()))


class Held(NamedTuple):
    """A tensor where a hook can have put it."""

    tensor: torch.Tensor
    name: str
    """The variable or attribute that holds it, or the container that does."""
    key: str | int | None
    """The container's entry; None where there is none, or it is neither text nor a number."""
    holder: int
    """``id`` of the innermost container, or of the variables among which it is."""


def function_of(hook: Any) -> FunctionType | None:
    """Return the Python function that runs when a hook is called; None where that is not plain."""
    while type(hook) is partial:
        hook = hook.func
    if type(hook) is MethodType:
        hook = hook.__func__
    if type(hook) is not FunctionType:
        hook = getattr(type(hook), "__dict__", {}).get("__call__")
    return hook if type(hook) is FunctionType else None


def literals(hook: Any) -> frozenset[Any]:
    """Return the texts and numbers that a hook has from outside its code, by which two of one code differ."""
    function = function_of(hook)
    if function is None:
        return frozenset()
    given = [value for _, value, _ in _variables(hook, function)]
    return frozenset(value for value in given if type(value) in (str, int))


def held(hook: Any, module: torch.nn.Module) -> Iterator[Held]:
    """Yield the tensors that a forward hook of a module can reach by the names in its code, and by the module."""
    function = function_of(hook)
    if function is None:
        return
    left = [_MOST_VALUES]
    for name, value, holder in _variables(hook, function):
        yield from _inside(value, name, None, holder, _DEPTH, left)
    yield from _inside(module, "", None, 0, 1, left)


def _variables(hook: Any, function: FunctionType) -> Iterator[tuple[str, Any, int]]:
    """(name, value, ``id`` of the variables that it is one of)."""
    while type(hook) is partial:
        yield from ((name, value, id(hook)) for name, value in (hook.keywords or {}).items())
        names = function.__code__.co_varnames
        yield from ((name, value, id(hook)) for name, value in zip(names, hook.args, strict=False))
        hook = hook.func
    if type(hook) is not FunctionType:
        owner = hook.__self__ if type(hook) is MethodType else hook
        yield "self", owner, id(owner)
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        value = _content(cell)
        if value is not None:
            yield name, value, id(cell)
    for name in code.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name], id(function.__globals__)
    defaults = function.__defaults__ or ()
    ends = code.co_varnames[: code.co_argcount][len(code.co_varnames[: code.co_argcount]) - len(defaults) :]
    yield from ((name, value, id(function)) for name, value in zip(ends, defaults, strict=False))
    yield from ((name, value, id(function)) for name, value in (function.__kwdefaults__ or {}).items())


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None  # a variable that is not bound yet


def _inside(value: Any, name: str, key: Any, holder: int, depth: int, left: list[int]) -> Iterator[Held]:
    left[0] -= 1
    kind = type(value)
    if left[0] < 0:
        return
    if issubclass(kind, torch.Tensor):
        yield Held(value, name, key if type(key) in (str, int) else None, holder)
        return
    if depth == 0 or issubclass(kind, _NOT_LOOKED_INTO):
        return
    entries: Any
    if issubclass(kind, dict):
        entries = list(islice(reversed(dict.items(value)), _MOST_ENTRIES))
    elif issubclass(kind, (list, tuple)):
        plain = list if issubclass(kind, list) else tuple
        length = plain.__len__(value)
        first = max(length - _MOST_ENTRIES, 0)
        entries = ((place, plain.__getitem__(value, place)) for place in range(first, length))
    elif kind is deque:
        entries = islice(enumerate(value), _MOST_ENTRIES)
    else:
        attributes = _attributes(value)
        for attribute, inner in attributes.items() if attributes is not None else ():
            if attribute not in _OF_EVERY_MODULE:
                yield from _inside(inner, attribute, None, id(attributes), depth - 1, left)
        return
    for place, inner in entries:
        yield from _inside(inner, name, place if key is None else key, id(value), depth - 1, left)


def _attributes(value: Any) -> dict[str, Any] | None:
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None  # an object without attributes of its own, such as a number
    return found if type(found) is dict else None
