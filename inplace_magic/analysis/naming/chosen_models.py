"""A path that leads to a module, in the text: which lines say it, and which statement puts the module there when a
condition chooses the moment."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from inplace_magic.record.paths import is_or_lies_in, last_attribute
from inplace_magic.record.places import Callsite
from inplace_magic.record.training import ModuleSighting
from inplace_magic.source import expressions
from inplace_magic.source.listing import FUNCTIONS, LOOPS, Listing
from inplace_magic.source.text import nodes_in


def says(site: Callsite | None, entry: ModuleSighting) -> bool:
    """Whether a place, or one that led to it, says the name in its function, or the attribute."""
    if site is None:
        return False
    last = last_attribute(entry.path)
    for place in site.chain:
        paths, attributes = _said(place.expression or place.statement)
        if last in attributes or (entry.path in paths and place.same_function(entry.place)):
            return True
    return False


@lru_cache(maxsize=1024)
def _said(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The paths that a text says, and the attributes in which they end."""
    tree = expressions.parse(text)
    paths = frozenset(filter(None, map(expressions.path_text, nodes_in(tree) if tree is not None else ())))
    return paths, frozenset(filter(None, map(last_attribute, paths)))


def is_chosen(listing: Listing, entry: ModuleSighting) -> ast.Assign | None:
    """The statement that binds the path where a condition says so; None where another one binds it in each pass."""
    last, found = last_attribute(entry.path), None
    for node in listing.nodes:
        if not isinstance(node, ast.Assign) or not binds(listing, node, entry, last):
            continue
        around = list(listing.around(node))
        function = next((n for n in around if isinstance(n, FUNCTIONS)), None)
        inside = around if function is None else around[: around.index(function)]
        loops = any(isinstance(n, LOOPS) for n in inside)
        again = loops or (last is not None and function is not None and function.name != "__init__")
        if again and any(isinstance(n, ast.If) and _chooses(n.test) for n in inside):
            found = node
        elif again:
            return None
    return found


def binds(listing: Listing, node: ast.Assign, entry: ModuleSighting, last: str | None) -> bool:
    """Whether a statement puts a module into the path, or what holds it."""
    paths = [path for path, value in bindings(node) if path is not None and not _is_none(value)]
    if last is not None:
        return any(last_attribute(path) == last for path in paths)
    name = entry.place.function.rpartition(".")[2]
    scope = listing.scope_of(node)
    here = (scope.name if isinstance(scope, FUNCTIONS) else "<module>") == name
    return here and any(is_or_lies_in(entry.path, path) for path in paths)


def bindings(node: ast.Assign) -> Iterator[tuple[str | None, ast.expr]]:
    """(path, value) of what a statement binds; several of one value, where it is not known what is in it."""
    for target in node.targets:
        targets, value = target.elts if isinstance(target, ast.Tuple) else [target], node.value
        values = value.elts if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) else [value]
        values = values if len(values) == len(targets) else [value] * len(targets)
        yield from ((expressions.path_text(t), v) for t, v in zip(targets, values, strict=True))


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _chooses(test: ast.expr) -> bool:
    """Not ``if net is None``, which asks whether anything is there."""
    return not (isinstance(test, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in test.ops)) and not (
        isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"
    )
