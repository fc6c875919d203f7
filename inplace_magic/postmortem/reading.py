"""Objects of the user's, read without running any code of theirs: their storage, never their properties.

An expression is looked up part by part: names in scopes; attributes in the object's own dict or a module's tables;
entries in plain lists, tuples and dicts. Whatever else an expression does is unknown, since to know it would be to run
it.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, MappingProxyType, MemberDescriptorType, MethodType
from typing import Any

from inplace_magic.source.expressions import parse, path_text
from inplace_magic.source.vocabulary import WITHOUT_VALUES

Scopes = Sequence[Mapping[str, object]]
"""The names in sight, the innermost first."""
MISSING: Any = object()
"""What stands for an object that nothing keeps under a name, or that cannot be read."""
_TABLES = ("_parameters", "_buffers", "_modules")
_MOST_NODES = 2_000


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


def value_of(node: ast.AST | None, scopes: Scopes) -> object:
    """Return what an expression stands for; ``MISSING`` where that cannot be read."""
    if isinstance(node, ast.Name):
        known = next((names[node.id] for names in scopes if node.id in names), MISSING)
        return vars(builtins).get(node.id, MISSING) if known is MISSING else known
    if isinstance(node, ast.Attribute):
        return kept(value_of(node.value, scopes), node.attr)
    if isinstance(node, ast.Subscript):
        return _entry(value_of(node.value, scopes), node.slice)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Starred):
        return value_of(node.value, scopes)
    return MISSING


def held_at(path: str, scopes: Scopes) -> list[object]:
    """Return what a name or path stands for, and the entries of a tuple or list there; empty where that cannot be
    read."""
    value: Any = value_of(parse(path), scopes)
    return [] if value is MISSING else [value, *(value if type(value) in (tuple, list) else ())]


def _entry(owner: object, index: ast.expr) -> object:
    try:
        key = ast.literal_eval(index)
    except ValueError:
        return MISSING
    kind = type(owner)
    held: Any = owner
    if kind in (list, tuple) and type(key) is int:
        return held[key] if -len(held) <= key < len(held) else MISSING
    if kind in (dict, OrderedDict) and type(key) in (str, int):
        return dict.get(held, key, MISSING)
    return kept(owner, str(key)) if module_of(kind).startswith("torch.nn.") and type(key) is int else MISSING


def paths_in(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the longest paths of an expression, in the order of the text: ``self.w`` and ``x[0]`` of
    ``self.w * f(x[0])``. What is called is not among them, but what a method is called on; nor is what is only asked
    for its shape."""
    stack: list[ast.AST] = [node]
    for _step in range(_MOST_NODES):
        if not stack:
            return
        each = stack.pop()
        if _tells_no_values(each):
            continue
        if isinstance(each, ast.expr) and path_text(each) is not None:
            yield each
            continue
        if isinstance(each, ast.Call):
            called = [each.func.value] if isinstance(each.func, ast.Attribute) else []
            called = [] if called and _tells_no_values(each.func) else called
            stack += reversed([*called, *each.args, *(word.value for word in each.keywords)])
        elif isinstance(each, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        elif isinstance(each, ast.Subscript):
            stack += [each.slice, each.value]
        else:
            stack += reversed(list(ast.iter_child_nodes(each)))


def _tells_no_values(node: ast.AST) -> bool:
    """True if it is ``x.shape``, ``x.shape[0]`` or the ``x.size`` of a call."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Attribute) and node.attr in WITHOUT_VALUES
