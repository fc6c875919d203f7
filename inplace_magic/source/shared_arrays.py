"""Which arrays the tensors of a text are made of, and the lines that write these arrays.

``torch.frombuffer(self.space)`` makes a tensor on the bytes of ``self.space``; of all lines of the text, the one that
fills these bytes is ``self.stream.readinto(self.space)``. An array is followed to its own path within one class or one
function: through names, what a function of the text returns (``places`` of ``places, reward = envs.step(push)``) and
what its callers hand it. One that leads nowhere may be any memory, so then nothing is said of the text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from inplace_magic.source.expressions import path_text
from inplace_magic.source.statements import arrays_written
from inplace_magic.source.text import FunctionNode, Text, is_simple
from inplace_magic.source.vocabulary import ARRAY_MAKERS, FRESH_ARRAYS

_MOST_STEPS = 8
"""Names and functions that are followed from a tensor to its array."""
_Array = tuple[str, str]
"""(class or function, path) of an array; ``("", ".places")`` for the attribute of an object of an unknown class."""
_Own = FunctionNode | ast.Module


@dataclass(frozen=True)
class Filled:
    """A place that writes an array of which the text makes tensors."""

    function: str
    """``Monitor.__iter__``"""
    node: ast.expr | ast.stmt
    path: str
    """``self.space``"""
    each_pass: bool
    """Whether one loop fills the array and makes a tensor of it, so that each pass has one on the same memory."""
    pauses: bool
    """Whether the function is a generator, or one that a loop calls without a name."""


@lru_cache(maxsize=16)
def filled_in(text: Text) -> tuple[Filled, ...]:
    """The places of a text that write arrays of which it makes tensors, by their lines."""
    return _Arrays(text).filled if text.tree is not None else ()


@dataclass(frozen=True)
class _Arrays:
    text: Text

    @cached_property
    def scopes(self) -> dict[str, _Own]:
        """The functions by their names, and the lines outside of them."""
        found: dict[str, _Own] = {each.name: each.node for listed in self.text.functions.values() for each in listed}
        return {**found, "<module>": self.text.tree} if self.text.tree is not None else found

    @property
    def filled(self) -> tuple[Filled, ...]:
        arrays: set[_Array] = set()
        making: dict[str, list[ast.expr]] = {}
        for name, scope in self.scopes.items():
            for node in _within(scope):
                array = _array_of(node)
                if array is None:
                    continue
                reached = self._reached(name, array, _MOST_STEPS)
                if reached is None:
                    return ()
                arrays |= reached
                making.setdefault(name, []).append(array)
        found = []
        for name, scope in self.scopes.items() if arrays else ():
            for path, node in _writes(scope):
                if _key(name, path) in arrays or (path.count(".") == 1 and ("", f".{_end(path)}") in arrays):
                    each_pass = _is_in_each_pass(scope, node, making.get(name, ()))
                    found.append(Filled(name, node, path, each_pass, _pauses(name, scope)))
        return tuple(sorted(found, key=lambda entry: entry.node.lineno))

    def _reached(self, name: str, node: ast.expr, steps: int) -> set[_Array] | None:
        """The arrays that an expression of a function may be; empty for a new one, None where that is not known."""
        if not steps:
            return None
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.List, ast.Tuple, ast.ListComp)):
            return set()
        if isinstance(node, ast.Subscript):
            return self._reached(name, node.value, steps)
        if isinstance(node, ast.Name):
            return self._bound(name, node.id, steps - 1)
        path = path_text(node)
        if path is not None:
            return {_key(name, path)}
        return self._called(name, node, None, steps - 1) if isinstance(node, ast.Call) else None

    def _called(self, name: str, node: ast.Call, place: int | None, steps: int) -> set[_Array] | None:
        """What a call gives; with a place, that entry of the tuple which it gives."""
        called = _end(path_text(node.func) or "")
        if called in FRESH_ARRAYS:
            return set()
        listed = self.text.functions.get(called, ())
        if len(listed) != 1:
            return None
        returned = [each.value for each in _within(listed[0].node) if isinstance(each, ast.Return)]
        found: set[_Array] = set()
        for value in returned:
            if place is not None:
                value = value.elts[place] if isinstance(value, ast.Tuple) and place < len(value.elts) else None
            reached = self._reached(listed[0].name, value, steps) if value is not None else None
            if reached is None:
                return None
            found |= reached
        return found if returned else None

    def _bound(self, name: str, variable: str, steps: int) -> set[_Array] | None:
        scope = self.scopes[name]
        found: set[_Array] = set()
        bound = False
        for node in _within(scope):
            for target, value, place in _bindings(node):
                if target != variable:
                    continue
                bound = True
                if isinstance(value, ast.Call) and _makes_memory(value):
                    found.add((name, variable))
                    continue
                if value is None:
                    return None
                calls = isinstance(value, ast.Call) and place is not None
                entry = value.elts[place] if isinstance(value, ast.Tuple) and place is not None else value
                if calls:
                    reached = self._called(name, value, place, steps) if isinstance(value, ast.Call) else None
                else:
                    reached = self._reached(name, entry, steps) if place is None or entry is not value else None
                if reached is None:
                    return None
                found |= reached
        if bound:
            return found
        return self._handed(name, scope, variable, steps)

    def _handed(self, name: str, scope: _Own, variable: str, steps: int) -> set[_Array] | None:
        """What the callers of a function hand it under a name."""
        if isinstance(scope, ast.Module):
            return None
        names = [each.arg for each in (*scope.args.posonlyargs, *scope.args.args)]
        if variable not in names or len(self.text.functions.get(scope.name, ())) != 1:
            return None
        position = names.index(variable) - (names[0] in ("self", "cls"))
        found: set[_Array] = set()
        for caller, own in self.scopes.items():
            for node in _within(own):
                if isinstance(node, ast.Call) and _end(path_text(node.func) or "") == scope.name:
                    said = next((each.value for each in node.keywords if each.arg == variable), None)
                    given = said or (node.args[position] if position < len(node.args) else None)
                    reached = self._reached(caller, given, steps) if given is not None else None
                    if reached is None:
                        return None
                    found |= reached
        return found


def _array_of(node: ast.AST) -> ast.expr | None:
    """What ``torch.from_numpy(array)`` makes a tensor of."""
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.func, ast.Attribute):
        return None
    return node.args[0] if node.func.attr in ARRAY_MAKERS and path_text(node.func.value) == "torch" else None


def _makes_memory(node: ast.Call) -> bool:
    return _end(path_text(node.func) or "") in FRESH_ARRAYS


def _writes(scope: _Own) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    for node in _within(scope):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                array = target.value if isinstance(target, ast.Subscript) else target
                plain = array is target and isinstance(node, ast.Assign)
                path = None if plain else path_text(array)
                if path is not None:
                    yield path, node
        elif isinstance(node, ast.Call):
            for array in arrays_written(node, deep=False):
                path = path_text(array)
                if path is not None:
                    yield path, node


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr | None, int | None]]:
    """(name, value, place in the value) for each name that a statement binds; no value where that is not known."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value, None
            elif isinstance(target, ast.Tuple):
                for place, entry in enumerate(target.elts):
                    if isinstance(entry, ast.Name):
                        yield entry.id, node.value, place
    elif isinstance(node, ast.NamedExpr):
        yield node.target.id, node.value, None
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield from ((inner.id, None, None) for inner in ast.walk(node.target) if isinstance(inner, ast.Name))
    elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
        yield node.optional_vars.id, None, None


def _key(function: str, path: str) -> _Array:
    head, _, rest = path.partition(".")
    if not rest:
        return function, path
    return (function.rpartition(".")[0], path) if head == "self" and "." not in rest else ("", f".{_end(path)}")


def _end(path: str) -> str:
    return path.rpartition(".")[2]


def _pauses(name: str, scope: _Own) -> bool:
    yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in _within(scope))
    return yields or _end(name) in ("__iter__", "__next__", "__getitem__")


def _is_in_each_pass(scope: _Own, node: ast.expr | ast.stmt, arrays: Sequence[ast.expr]) -> bool:
    """Whether the innermost loop around a write makes a tensor of an array, and writes in each of its passes."""
    loops = [each for each in _within(scope) if isinstance(each, (ast.For, ast.While))]
    loop = max((each for each in loops if _holds(each, node)), key=lambda each: each.lineno, default=None)
    if loop is None or not any(_holds(loop, array) for array in arrays):
        return False
    head = isinstance(loop, ast.While) and _holds(loop.test, node)
    return head or any(is_simple(each) and _holds(each, node) for each in loop.body)


def _holds(whole: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(whole))


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function that no other function within it holds."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not isinstance(child, ast.ClassDef):
                yield child
            yield from _within(child)
