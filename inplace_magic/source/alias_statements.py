"""Statements that give an object a second name, by their text, and the entries of a written container."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from inplace_magic.source.statements import in_force, statements_by_function
from inplace_magic.source.targets import entries_of
from inplace_magic.source.text import Text
from inplace_magic.source.vocabulary import NOT_ALWAYS_COPIES


def alias_pairs(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield ``(new name, old name)`` for ``a = b``, ``a = b.detach()``, ``a = b.to(device)``, ``a = b = f()``, ``a, b =
    c, d``, ``d[k] = b``, ``d.append(b)``, ``d.append((b, c))`` and, with ``return`` as the new name, for a
    function's result."""
    if isinstance(node, ast.Assign):
        source = _path(_undetached(node.value))
        if source is not None or len(node.targets) > 1:
            paths = [path for target in node.targets if (path := _path(target)) is not None]
            yield from ((path, source) for path in paths) if source is not None else ((p, paths[0]) for p in paths[1:])
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for left, right in zip(target.elts, node.value.elts, strict=False):
                    new, old = _path(left), _path(_undetached(right))
                    if new is not None and old is not None:
                        yield new, old
    elif isinstance(node, ast.Return) and node.value is not None:
        yield from (("return", path) for value in _entries(node.value) if (path := _path(value)) is not None)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call, owner = node.value, _path(node.value.func.value)
        if node.value.func.attr == "append" and len(call.args) == 1 and owner is not None:
            for entry in _entries(call.args[0]):
                source = _path(_undetached(entry))
                if source is not None:
                    yield f"{owner}[]", source


@lru_cache(maxsize=16)
def aliases_in(text: Text) -> tuple[tuple[str, int, str, str, str], ...]:
    """Return ``(function, line, new name, old name, source line)`` for all statements of a text that give an object a
    second name; cached for files that are in many reports."""
    return tuple(
        (function, node.lineno, target, source, text.line(node.lineno))
        for function, node in (statements_by_function(in_force(text.tree)) if text.tree is not None else ())
        for target, source in alias_pairs(node)
    )


def _entries(node: ast.expr) -> list[ast.expr]:
    """Return the entries of ``(state, reward)``, ``{"loss": total}``, ``dict(loss=total)`` and, of ``[total] + parts``,
    the written ones, as they are appended to a list or returned; of anything else, itself."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [side for side in (node.left, node.right) if isinstance(side, (ast.Tuple, ast.List, ast.BinOp))]
        return [entry for side in sides for entry in _entries(side)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
        return [keyword.value for keyword in node.keywords]
    return entries_of(node) if isinstance(node, (ast.Tuple, ast.List, ast.Dict)) else [node]


def _undetached(node: ast.expr) -> ast.expr:
    """``x`` of ``x.detach()``, ``x.data`` and of ``x.float()``, which many take for copies."""
    if isinstance(node, ast.Attribute) and node.attr == "data" and not isinstance(node.value, ast.Attribute):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in NOT_ALWAYS_COPIES:
        return node.func.value
    return node


def _path(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):  # the most common by far, and `unparse` takes ten times as long
        return node.id
    if isinstance(node, ast.Attribute) or (
        isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.Name))
    ):
        root: ast.expr = node
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if isinstance(root, ast.Name):
            return ast.unparse(node).replace("'", '"')
    return None
