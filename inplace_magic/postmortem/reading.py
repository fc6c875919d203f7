"""Objects of the user's, read without running any code of theirs: their storage, never their properties."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType, MemberDescriptorType, MethodType
from typing import Any

MISSING: Any = object()
"""What stands for an object that nothing keeps under a name, or that cannot be read."""
_TABLES = ("_parameters", "_buffers", "_modules")


def is_a(thing: Any, kinds: type | tuple[type, ...]) -> bool:
    """``isinstance`` by the type alone: the real one asks an object for its ``__class__``."""
    return issubclass(type(thing), kinds)


def name_of(kind: type) -> str:
    """Return the name of a class, whatever its metaclass says."""
    return str(type.__dict__["__name__"].__get__(kind))


def module_of(kind: type) -> str:
    """Return the module of a class, whatever its metaclass says."""
    return str(type.__dict__["__module__"].__get__(kind))


def is_any_tensor(value: object) -> bool:
    """True if it is a tensor of a framework that is loaded."""
    kinds = (getattr(sys.modules.get(name), "Tensor", None) for name in ("torch", "paddle"))
    return issubclass(type(value), tuple(kind for kind in kinds if isinstance(kind, type)))


def stored(thing: Any) -> Mapping[str, Any]:
    """Return the attributes that an object, or a class, keeps in its ``__dict__``."""
    try:
        found = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) in (dict, MappingProxyType) else {}


def kept(thing: Any, name: str) -> Any:
    """Return what an object keeps under a name itself, its class left aside, a module also in its tables; ``MISSING``
    where there is nothing."""
    own = stored(thing)
    if name in own:
        return own[name]
    for table in _TABLES:
        entries: Any = own.get(table)
        if type(entries) in (dict, OrderedDict) and name in entries:
            return entries[name]
    return MISSING


def lookup(thing: Any, name: str) -> Any:
    """Return an attribute that an object or its class keeps; ``MISSING`` where there is none. A property is given as
    such."""
    own = kept(thing, name)
    found = of_class(type(thing), name) if own is MISSING else own
    if own is MISSING and type(found) is MemberDescriptorType:
        try:
            return found.__get__(thing)
        except AttributeError:
            return MISSING
    return found


def of_class(kind: type, name: str) -> Any:
    """What a class or one of its bases has under a name."""
    for base in type.__dict__["__mro__"].__get__(kind):
        entries = type.__dict__["__dict__"].__get__(base)
        if name in entries:
            return entries[name]
    return MISSING


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
