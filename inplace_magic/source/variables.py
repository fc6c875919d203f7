"""Which variables a piece of the user's text names, reads and binds."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from inplace_magic.source.text import children


def variables_in(node: ast.AST | None, *contexts: type[ast.expr_context]) -> set[str]:
    """Return all that it names, or names in one of these contexts."""
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name)) if node is not None else ()
    return {each.id for each in names if isinstance(each.ctx, contexts or ast.expr_context)}


def variables_read(node: ast.AST | None) -> set[str]:
    """Return the variables whose values it reads, such as `d` of ``d["a"] = x``."""
    return variables_in(node, ast.Load)


def variables_bound(node: ast.AST | None) -> set[str]:
    """Return those that it gives another value, or takes away; not a function's parameters."""
    return variables_in(node, ast.Store, ast.Del)


def mentions(node: ast.AST | None, name: str) -> bool:
    """True if it names a variable."""
    return name in variables_in(node)


def assignments(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield (target, value) of the assignments among some nodes, of an unpacking entry by entry."""
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and (value := node.value) is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    yield from zip(target.elts, value.elts, strict=False)
                else:
                    yield from ((each, value) for each in getattr(target, "elts", [target]))


def set_later(tree: ast.Module) -> frozenset[str]:
    """Return the attributes that a text sets outside of ``__init__``, and the names that its functions set outside."""
    found: set[str] = set()
    waiting: list[ast.AST] = [tree]
    for node in waiting:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        waiting += children(node)
    return frozenset(found)
