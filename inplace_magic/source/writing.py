"""What a statement can write, as far as its text tells: by a call, by an assignment in place, through NumPy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from inplace_magic.source.statements import segment, statements_by_function
from inplace_magic.source.vocabulary import ARRAY_WRITERS, BUFFER_FILLERS

_IDLE = (ast.For, ast.AsyncFor, ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal, ast.Break, ast.Continue)


def simple_statements(tree: ast.AST, function: str) -> list[ast.stmt]:
    """The statements of a function that can do something."""
    return [
        node
        for _, node in statements_by_function(tree, function)
        if not isinstance(node, _IDLE) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]


def actions(node: ast.stmt, lines: list[str]) -> list[str]:
    """Sources of what a statement does that can write memory: its calls, and itself where it assigns in place."""
    acting: list[Any] = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    if isinstance(node, (ast.AugAssign, ast.Delete)) or (
        isinstance(node, ast.Assign) and any(isinstance(target, ast.Subscript) for target in node.targets)
    ):
        acting.append(node)
    return [segment(lines, n.lineno, n.end_lineno or n.lineno, n.col_offset, n.end_col_offset or 0) for n in acting]


def writes_to(node: ast.stmt, name: str) -> bool:
    """Whether a statement assigns in place to something that begins with `name`, or hands that to a function of NumPy
    which writes it."""
    if any(name == ast.unparse(array) for array in arrays_written(node)):
        return True
    targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets if isinstance(node, ast.Assign) else []
    for target in targets:
        root: ast.expr = target
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        plain = isinstance(target, ast.Name) and isinstance(node, ast.Assign)
        if isinstance(root, ast.Name) and root.id == name and not plain:
            return True
    return False


def arrays_written(node: ast.AST, *, deep: bool = True) -> Iterator[ast.expr]:
    """What a statement hands to functions of NumPy that write it, and to streams that fill it.

    Args:
        node: the statement, or a call.
        deep: look at the calls in it, too.
    """
    for call in ast.walk(node) if deep else (node,):
        if not isinstance(call, ast.Call):
            continue
        yield from (keyword.value for keyword in call.keywords if keyword.arg == "out")
        if isinstance(call.func, ast.Attribute) and call.func.attr in BUFFER_FILLERS:
            yield from call.args[:1]
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in ARRAY_WRITERS:
            continue
        anew = any(k.arg == "copy" and getattr(k.value, "value", None) is False for k in call.keywords)
        if call.func.attr != "nan_to_num" or anew:
            method = call.func.attr in ("fill", "sort")
            yield from (call.func.value,) if method else call.args[:1]
