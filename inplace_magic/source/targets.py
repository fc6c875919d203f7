"""Where a statement puts the value of one of its expressions: ``h`` for the ``relu(x)`` of ``h = relu(x)``.

The expression is known by its place, so of ``a, b = f(x), f(x)`` each ``f(x)`` has its own target.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text
from inplace_magic.source.statements import indent_of, innermost, segment, statement_text
from inplace_magic.source.text import Text, characters

Span = tuple[int, int | None, int | None, int | None]
"""First line and column, last line and column, as in a syntax tree; None where Python does not know it."""
Targets = tuple[str | None, ...]


def targets_at(statement: ast.stmt | None, span: Span) -> Targets | None:
    """Return the targets of the expression at a place; None if the statement does something else with its value.

    One entry, or several for an unpacking: a name, a path such as ``self.memory`` or ``kept["pre"]``, ``kept[]`` for an
    entry without a plain key, ``return``; None for a target without a name.
    """
    for node, targets in _puts(statement) if statement is not None else ():
        if span_of(node) == span:
            return targets
    return None


def span_of(node: ast.expr | ast.stmt) -> Span:
    """Return the place of a node."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def place_in(text: Text, span: Span, /, **known: Any) -> Callsite:
    """Return the place of a part of a text.

    Args:
        known: what the text does not tell, by the names of :class:`.Callsite`'s fields.
    """
    lines, (line, column, end_line, end) = text.lines, span
    holding = innermost(text.statements_on(line) if line else [], line, column)
    told: dict[str, Any] = {
        "line": line,
        "text": text.line(line),
        "end_line": end_line,
        "column": column,
        "end_column": end,
        "statement": statement_text(holding, lines),
        "targets": targets_at(holding, span),
        "indent": indent_of(holding, line, lines),
    }
    if column is not None and end_line is not None and end is not None:
        told["expression"] = segment(lines, line, end_line, column, end)
        told |= {"column": characters(lines, line, column), "end_column": characters(lines, end_line, end)}
    return Callsite(**{**told, **known})


def _puts(statement: ast.stmt) -> Iterator[tuple[ast.expr | ast.stmt, Targets]]:
    """(expression, what its value is put into) for everything that a statement keeps."""
    if isinstance(statement, ast.Assign):
        yield from _assignments(statement.value, statement.targets[-1])
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield from _assignments(statement.value, statement.target)
    elif isinstance(statement, ast.AugAssign):
        yield statement, (path_text(statement.target),)
    elif isinstance(statement, ast.Return) and statement.value is not None:
        given = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
        yield from ((node, ("return",)) for node in given)
    elif isinstance(statement, ast.Expr):
        yield from _stored(statement.value)
    for part in ast.iter_child_nodes(statement):
        for node in ast.walk(part) if isinstance(part, ast.expr) else ():
            if isinstance(node, ast.NamedExpr):
                yield from _assignments(node.value, node.target)


def _assignments(value: ast.expr, target: ast.expr) -> Iterator[tuple[ast.expr | ast.stmt, Targets]]:
    if isinstance(target, (ast.Tuple, ast.List)):
        yield value, tuple(path_text(entry) for entry in target.elts)
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            for entry, name in zip(value.elts, target.elts, strict=True):
                yield from _assignments(entry, name)
        return
    path = path_text(target)
    if path is None and isinstance(target, ast.Subscript) and (owner := path_text(target.value)) is not None:
        path = f"{owner}[]"
    yield value, (path,)
    if isinstance(value, ast.IfExp):
        yield from ((branch, (path,)) for branch in (value.body, value.orelse))
    elif path is not None:
        yield from ((entry, (f"{path}[]",)) for entry in entries_of(value))


def _stored(value: ast.expr) -> Iterator[tuple[ast.expr | ast.stmt, Targets]]:
    """``kept.append(f(x))``."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in STORING:
        owner = path_text(value.func.value)
        for given in value.args[-1:] if owner is not None else ():
            yield from ((entry, (f"{owner}[]",)) for entry in (entries_of(given) or [given]))


STORING = ("append", "appendleft", "insert")
"""Methods of containers that store their last argument."""


def entries_of(value: ast.expr) -> list[ast.expr]:
    """Return the written entries of a container: ``[f(x), g(x)]``, ``[f(i) for i in …]``, ``{"loss": f(x)}``."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return value.elts
    if isinstance(value, ast.Dict):
        return value.values
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        return [value.elt]
    return [value.value] if isinstance(value, ast.DictComp) else []
