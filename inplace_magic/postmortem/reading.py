"""Objects of the user's, read without running any code of theirs: their storage, never their properties."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any


class Missing:
    """What stands for an attribute that an object does not keep."""


def is_a(thing: Any, kinds: type | tuple[type, ...]) -> bool:
    """``isinstance`` by the type alone: the real one asks an object for its ``__class__``."""
    return issubclass(type(thing), kinds)


def name_of(kind: type) -> str:
    """Return the name of a class, whatever its metaclass says."""
    return str(type.__dict__["__name__"].__get__(kind))


def module_of(kind: type) -> str:
    """Return the module of a class, whatever its metaclass says."""
    return str(type.__dict__["__module__"].__get__(kind))


def stored(thing: Any) -> dict[str, Any]:
    """Return the attributes that an object keeps in its ``__dict__``."""
    try:
        found = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def lookup(thing: Any, name: str) -> Any:
    """Return an attribute that an object or its class keeps; ``Missing`` where there is none. A property is given as
    such."""
    own = stored(thing)
    if name in own:
        return own[name]
    for table in ("_parameters", "_buffers", "_modules"):
        entries = own.get(table)
        if type(entries) is dict and name in entries:
            return entries[name]
    found = of_class(type(thing), name)
    if type(found) is MemberDescriptorType:
        try:
            return found.__get__(thing)
        except AttributeError:
            return Missing
    return found


def of_class(kind: type, name: str) -> Any:
    """What a class or one of its bases has under a name."""
    for base in type.__dict__["__mro__"].__get__(kind):
        entries = type.__dict__["__dict__"].__get__(base)
        if name in entries:
            return entries[name]
    return Missing


def unwrapped(function: Any, is_users: Callable[[str], bool]) -> tuple[Any, bool]:
    """Return the function of the user's that a library's decorators such as ``@torch.no_grad()`` wrap, and whether
    autograd records what it does."""
    recorded = True
    for _layer in range(8):
        inner = stored(function).get("__wrapped__") if type(function) is FunctionType else None
        if type(inner) is not FunctionType or is_users(function.__code__.co_filename):
            break
        file = function.__code__.co_filename.replace("\\", "/")
        recorded = recorded and not (file.endswith("torch/utils/_contextlib.py") and _switches_off(function))
        function = inner
    return function, recorded


def _switches_off(function: FunctionType) -> bool:
    """True if the context that a decorator of PyTorch's enters is ``no_grad`` or ``inference_mode``."""
    waiting = list(function.__closure__ or ())
    for cell in waiting:
        try:
            held = cell.cell_contents
        except ValueError:
            continue
        if type(held) is FunctionType and len(waiting) < 16:
            waiting += held.__closure__ or ()
        owner = held.__self__ if type(held) is MethodType else held
        if type(owner).__name__ in ("no_grad", "inference_mode"):
            return True
    return False
