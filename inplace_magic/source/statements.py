"""The statements of a source text, by function and by place; their text; and where they put the value of one of their
expressions: ``h`` for the ``relu(x)`` of ``h = relu(x)``, or a second name of an object.

The expression is known by its place, so of ``a, b = f(x), f(x)`` each ``f(x)`` has its own target.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text
from inplace_magic.source.text import Text, characters, is_simple, placed
from inplace_magic.source.vocabulary import NOT_ALWAYS_COPIES

Span = tuple[int, int | None, int | None, int | None]
"""First line and column, last line and column, as in a syntax tree; None where Python does not know it."""
Targets = tuple[str | None, ...]


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


def callsite_at(text: Text, span: Span, /, **known: Any) -> Callsite:
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
