"""Which arrays the tensors of a text are made of, and the lines that write these arrays.

``torch.frombuffer(self.space)`` makes a tensor on the bytes of ``self.space``; of all lines of the text, the one that
fills these bytes is ``self.stream.readinto(self.space)``. An array is followed to its own path within one class or one
function: through names, what a function of the text returns (``places`` of ``places, reward = envs.step(push)``) and
what its callers hand it. One that leads nowhere may be any memory, so then nothing is said of the text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from inplace_magic.source.expressions import path_text
from inplace_magic.source.text import FunctionNode, Text, is_simple
from inplace_magic.source.vocabulary import ARRAY_MAKERS, FRESH_ARRAYS, SHARING_ARRAYS, SHARING_METHODS
from inplace_magic.source.writing import arrays_written

_MOST_STEPS = 8
"""Names and functions that are followed from a tensor to its array."""
_MOST_ASKED = 500
"""Expressions that are followed in one text."""
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
    maker: ast.expr | None
    """What a tensor is made of in a loop each pass of which fills the array, so that all are on the same memory; None
    where no loop does both."""
    called: tuple[str, ast.Call] | None
    """Where that loop calls the function which fills, and in which function; None where it fills by itself."""
    pauses: bool
    """Whether the function is a generator, or one that a loop calls without a name."""


@lru_cache(maxsize=16)
def filled_in(text: Text) -> tuple[Filled, ...]:
    """The places of a text that write arrays of which it makes tensors, by their lines."""
    return _Arrays(text).filled if text.tree is not None else ()


@dataclass(frozen=True)
class _Arrays:
    text: Text
    asked: list[ast.expr] = field(default_factory=list)

    @cached_property
    def scopes(self) -> dict[str, _Own]:
        """The functions by their names, and the lines outside of them."""
        found: dict[str, _Own] = {each.name: each.node for listed in self.text.functions.values() for each in listed}
        return {**found, "<module>": self.text.tree} if self.text.tree is not None else found

    @cached_property
    def own_names(self) -> dict[str, str]:
        """What each method calls its object, or its class: the first parameter, ``self`` as most do."""
        found = {}
        for function in (each for listed in self.text.functions.values() for each in listed):
            classes = ".".join(each.name for each in function.unit.classes)
            first = [*function.node.args.posonlyargs, *function.node.args.args][:1]
            static = any(path_text(each) == "staticmethod" for each in function.node.decorator_list)
            if classes and first and not static and function.name == f"{classes}.{function.node.name}":
                found[function.name] = first[0].arg
        return found

    @cached_property
    def nodes(self) -> dict[str, list[ast.AST]]:
        """What stands in each function, and in no other one within it."""
        return {name: _within(scope) for name, scope in self.scopes.items()}

    @cached_property
    def calls(self) -> dict[str, list[tuple[str, ast.Call]]]:
        """The calls by the names of what they call, each with the function that holds it."""
        found: dict[str, list[tuple[str, ast.Call]]] = {}
        for name, nodes in self.nodes.items():
            for node in nodes:
                if isinstance(node, ast.Call):
                    found.setdefault(_end(path_text(node.func) or ""), []).append((name, node))
        return found

    @property
    def filled(self) -> tuple[Filled, ...]:
        arrays: set[_Array] = set()
        making: dict[str, list[ast.expr]] = {}
        for name, nodes in self.nodes.items():
            for node in nodes:
                array = _array_of(node)
                if array is None:
                    continue
                reached = self._reached(name, array, _MOST_STEPS)
                if reached is None:
                    return ()
                arrays |= reached
                making.setdefault(name, []).append(array)
        found = []
        for name in self.scopes if arrays else ():
            for path, written in _writes(self.nodes[name]):
                if self._key(name, path) in arrays or (path.count(".") == 1 and ("", f".{_end(path)}") in arrays):
                    each_pass = self._in_each_pass(name, written, making)
                    found.append(Filled(name, written, path, *each_pass, _pauses(name, self.nodes[name])))
        return tuple(sorted(found, key=lambda entry: entry.node.lineno))

    def _in_each_pass(
        self, name: str, written: ast.expr | ast.stmt, making: dict[str, list[ast.expr]]
    ) -> tuple[ast.expr | None, tuple[str, ast.Call] | None]:
        """What a loop makes a tensor of and fills in each of its passes, and by which call, if not itself."""
        for array in making.get(name, ()):
            if _in_one_pass(self.nodes[name], written, array):
                return array, None
        scope = self.scopes[name]
        if isinstance(scope, ast.Module) or not any(is_simple(each) and _holds(each, written) for each in scope.body):
            return None, None
        for caller, call in self.calls.get(scope.name, ()):
            for array in making.get(caller, ()):
                if _in_one_pass(self.nodes[caller], call, array):
                    return array, (caller, call)
        return None, None

    def _reached(self, name: str, node: ast.expr, steps: int) -> set[_Array] | None:
        """The arrays that an expression of a function may be; empty for a new one, None where that is not known."""
        self.asked.append(node)
        if not steps or len(self.asked) > _MOST_ASKED:
            return None
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.List, ast.Tuple, ast.ListComp)):
            return set()
        if isinstance(node, ast.Subscript):
            return self._reached(name, node.value, steps)
        if isinstance(node, ast.Name):
            return self._bound(name, node.id, steps - 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SHARING_METHODS:
            return self._reached(name, node.func.value, steps - 1)
        path = path_text(node)
        if path is not None:
            return {self._key(name, path)}
        return self._called(name, node, None, steps - 1) if isinstance(node, ast.Call) else None

    def _key(self, function: str, path: str) -> _Array:
        head, _, rest = path.partition(".")
        if not rest:
            return function, path
        own = head == self.own_names.get(function) and "." not in rest
        return (function.rpartition(".")[0], f".{rest}") if own else ("", f".{_end(path)}")

    def _called(self, name: str, node: ast.Call, place: int | None, steps: int) -> set[_Array] | None:
        """What a call gives; with a place, that entry of the tuple which it gives."""
        called = _end(path_text(node.func) or "")
        if called in FRESH_ARRAYS:
            return set()
        if called in SHARING_ARRAYS and node.args and place is None:
            return self._reached(name, node.args[0], steps)
        listed = self.text.functions.get(called, ())
        if len(listed) != 1:
            return None
        returned = [each.value for each in self.nodes[listed[0].name] if isinstance(each, ast.Return)]
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
        given = [each for node in self.nodes[name] for each in _bindings(node) if each[0] == variable]
        found: set[_Array] = set()
        for _target, value, place in given:
            if isinstance(value, ast.Call) and _makes_memory(value):
                found.add((name, variable))
                continue
            if place is None:
                reached = self._reached(name, value, steps) if value is not None else None
            elif isinstance(value, ast.Call):
                reached = self._called(name, value, place, steps)
            else:
                entries = value.elts if isinstance(value, ast.Tuple) else []
                reached = self._reached(name, entries[place], steps) if place < len(entries) else None
            if reached is None:
                return None
            found |= reached
        return found if given else self._handed(name, variable, steps)

    def _handed(self, name: str, variable: str, steps: int) -> set[_Array] | None:
        """What the callers of a function hand it under a name."""
        scope = self.scopes[name]
        if isinstance(scope, ast.Module):
            return None
        names = [each.arg for each in (*scope.args.posonlyargs, *scope.args.args)]
        if variable not in names or len(self.text.functions.get(scope.name, ())) != 1:
            return None
        position = names.index(variable) - (name in self.own_names)
        found: set[_Array] = set()
        for caller, node in self.calls.get(scope.name, ()):
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


def _writes(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                array = target.value if isinstance(target, ast.Subscript) else target
                plain = array is target and isinstance(node, ast.Assign)
                path = None if plain else path_text(array)
                if path is not None:
                    yield path, node
        elif isinstance(node, ast.Call):
            for array in arrays_written(node, deep=False):
                whole = array
                if isinstance(array, ast.Call) and _end(path_text(array.func) or "") in SHARING_ARRAYS and array.args:
                    whole = array.args[0]
                path = path_text(whole)
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


def _end(path: str) -> str:
    return path.rpartition(".")[2]


def _pauses(name: str, nodes: Iterable[ast.AST]) -> bool:
    yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes)
    return yields or _end(name) in ("__iter__", "__next__", "__getitem__")


def _in_one_pass(nodes: Iterable[ast.AST], node: ast.expr | ast.stmt, array: ast.expr) -> bool:
    """Whether each pass of one loop comes to both."""
    loops = [each for each in nodes if isinstance(each, (ast.For, ast.While, ast.ListComp, ast.GeneratorExp))]
    loops = [each for each in loops if _holds(each, node) and _holds(each, array)]
    loop = max(loops, key=lambda each: (each.lineno, each.col_offset), default=None)
    if isinstance(loop, (ast.ListComp, ast.GeneratorExp)):
        return _holds(loop.elt, node) and _holds(loop.elt, array)
    if loop is None:
        return False
    head = isinstance(loop, ast.While) and _holds(loop.test, node)
    return head or any(is_simple(each) and _holds(each, node) for each in loop.body)


def _holds(whole: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(whole))


def _within(scope: ast.AST) -> list[ast.AST]:
    """The nodes of a function that no other function within it holds."""
    found: list[ast.AST] = []
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.append(node)
            todo += ast.iter_child_nodes(node)
    return found
