"""The statements of a source text, by function and by place, and their text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from inplace_magic.source.text import is_simple, placed


def segment(lines: Sequence[str], line: int, end_line: int, column: int, end_column: int) -> str:
    """Return the text between two places; columns count UTF-8 bytes."""
    if not 0 < line <= end_line <= len(lines):
        return ""
    picked = [text.encode() for text in lines[line - 1 : end_line]]
    picked[-1] = picked[-1][:end_column]
    picked[0] = picked[0][column:]
    return b"\n".join(picked).decode(errors="replace")


def spans(node: ast.stmt, line: int) -> bool:
    """True if a line is one of a statement's."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def is_at(node: ast.stmt, line: int, column: int | None) -> bool:
    """True if a place is in a statement; if its column is not known, the statement may stand beside it."""
    end = node.end_lineno or node.lineno, node.end_col_offset or (column or 0) + 1
    return column is None or (node.lineno, node.col_offset) <= (line, column) < end


def innermost(statements: list[ast.stmt], line: int, column: int | None) -> ast.stmt | None:
    """Return the innermost statement on a line; for ``a = f(x); b = g(x)``, the one at the column."""
    holding = [node for node in statements if is_at(node, line, column)]
    return max(holding or statements, key=lambda node: (node.lineno, node.col_offset), default=None)


def statement_text(best: ast.stmt | None, lines: list[str]) -> str:
    """Source of a statement; of a compound one, its header."""
    if best is None:
        return ""
    body = getattr(best, "body", None)
    last = best.end_lineno or best.lineno
    if isinstance(body, list) and body:
        last = max(best.lineno, body[0].lineno - 1)
    text = "\n".join(lines[best.lineno - 1 : last])
    if not body:
        text = segment(lines, best.lineno, last, best.col_offset, best.end_col_offset or 0)
    return text.strip()


def statements_by_function(tree: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    """Yield every simple statement with the qualified name of its function, as code objects spell it. A ``for`` loop
    comes before the statements in it."""
    for node, _around, name in placed(tree):
        if is_simple(node) or isinstance(node, (ast.For, ast.AsyncFor)):
            yield name or "<module>", node


def in_force(tree: ast.AST) -> ast.AST:
    """Return the tree without the plain functions at its top that a later one of the same name replaces."""
    if not isinstance(tree, ast.Module):
        return tree
    last = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    kept = (n for n in tree.body if not isinstance(n, ast.FunctionDef) or n.decorator_list or last[n.name] is n)
    return ast.Module(list(kept), tree.type_ignores)


def defaults_of(arguments: ast.arguments) -> dict[str, ast.expr]:
    """Return the defaults of a function's parameters."""
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {parameter.arg: default for parameter, default in pairs if default is not None}


def shared_defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """Return a function's parameters with a computed default, one object for all calls, which the function does not
    bind again. A decorated function has none: its decorator may pass anything."""
    computed = [name for name, default in defaults_of(function.args).items() if not isinstance(default, ast.Constant)]
    if (
        not computed or function.decorator_list
    ):  # of nearly all functions, and to walk through one takes longer than all else that is asked of it
        return ()
    added_to = {id(node.target) for node in ast.walk(function) if isinstance(node, ast.AugAssign)}
    names = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    bound = {node.id for node in names if id(node) not in added_to}
    return tuple(name for name in computed if name not in bound)


def indent_of(statement: ast.stmt | None, line: int, lines: list[str]) -> str:
    """Return the white space before a statement that has tabs there, or begins above `line`."""
    text = lines[statement.lineno - 1] if statement is not None and statement.lineno <= len(lines) else ""
    white = text[: len(text) - len(text.lstrip())]
    return white if "\t" in white or (statement is not None and statement.lineno < line) else ""
