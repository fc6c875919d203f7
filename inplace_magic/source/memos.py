"""Functions that keep what they give, by the identity of what they were given: ``functools.lru_cache``, a dictionary by
``id(x)``, ``if x is not self.last``. A tensor is its own key, whatever its values are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from inplace_magic.source.expressions import path_text
from inplace_magic.source.text import FunctionNode, Text, nodes_in

_DECORATORS = frozenset(("lru_cache", "cache"))
"""Of ``functools`` (https://docs.python.org/3/library/functools.html#functools.lru_cache)."""
_IDENTITY = frozenset(("id", "hash"))
_WITHOUT_VALUES = frozenset(("shape", "dtype", "device", "ndim"))


@lru_cache(maxsize=256)
def keys_of(text: Text, function: str) -> frozenset[str]:
    """The parameters by whose identity a function of a text keeps its results; none where it keeps none.

    Args:
        text: the text.
        function: its qualified name.
    """
    listed = (each.node for each in text.functions.get(function.rpartition(".")[2], ()) if each.name == function)
    return frozenset(name for node in listed for name in _keys_of(node)) - {"self", "cls"}


def _keys_of(node: FunctionNode) -> Iterator[str]:
    arguments = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (path_text(called) or "").rpartition(".")[2] in _DECORATORS:
            yield from arguments
    inside = nodes_in(node)
    bound = {
        each.targets[0].id: each.value
        for each in inside
        if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name)
    }
    asked = _asked(inside)
    for each in inside:
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store) and path_text(each.value) in asked:
            key = bound.get(each.slice.id, each.slice) if isinstance(each.slice, ast.Name) else each.slice
            yield from (name for name in arguments if _is_the_key(key, name))
    yield from _held_by_identity(inside, arguments)


def _asked(inside: list[ast.AST]) -> set[str | None]:
    """The containers that a function looks into: ``key in kept``, ``kept.get(key)``, ``kept[key]``."""
    found: set[str | None] = set()
    for each in inside:
        if isinstance(each, ast.Compare) and isinstance(each.ops[0], (ast.In, ast.NotIn)):
            found.add(path_text(each.comparators[0]))
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "get":
            found.add(path_text(each.func.value))
    return found - {None}


def _is_the_key(key: ast.expr, name: str) -> bool:
    """Whether a key names a parameter by what it is, and nowhere by its values."""
    by_identity, said = 0, sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(key))
    without_values = 0
    for part in key.elts if isinstance(key, ast.Tuple) else [key]:
        inner = part
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _IDENTITY and part.args:
            inner = part.args[0]
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "data_ptr":
            inner = part.func.value
        by_identity += isinstance(inner, ast.Name) and inner.id == name
        shape = isinstance(part, ast.Attribute) and part.attr in _WITHOUT_VALUES
        without_values += shape and path_text(part.value if isinstance(part, ast.Attribute) else None) == name
    return by_identity > 0 and by_identity + without_values == said


def _held_by_identity(inside: list[ast.AST], arguments: list[str]) -> Iterator[str]:
    """The parameters of ``if x is not self.last: self.last = x``."""
    kept = {}
    for each in inside:
        for target, value in _pairs(each) if isinstance(each, ast.Assign) else ():
            if isinstance(value, ast.Name) and isinstance(target, ast.Attribute):
                kept[path_text(target)] = value.id
    for each in inside:
        if isinstance(each, ast.Compare) and isinstance(each.ops[0], (ast.Is, ast.IsNot)):
            sides = path_text(each.left), path_text(each.comparators[0])
            yield from (name for name in arguments if name in sides and any(kept.get(side) == name for side in sides))


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value
