"""Source text: instruction offsets -> lines, expressions and statements; after the watch, never during it."""

from __future__ import annotations

import ast
import linecache
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import CodeType, SimpleNamespace
from typing import Any

from inplace_magic.trace import AliasStatement, Callsite


class Sources:
    """Source text by compiled file name.

    Args:
        cell: execution count of the watched cell.
        filename: compiled file name of the watched cell.
        text: the watched cell as the user sees it.
        cells: execution count by compiled file name, for the other cells.
    """

    def __init__(
        self,
        cell: int | None = None,
        filename: str | None = None,
        text: str = "",
        cells: Mapping[str, int] | None = None,
    ) -> None:
        self._cells = dict(cells or {})
        if filename is not None and cell is not None:
            self._cells[filename] = cell
        self._shown = {filename: text.splitlines()} if filename is not None and text else {}
        self._trees: dict[str, ast.AST | None] = {}
        self._texts: dict[str, list[str]] = {}
        self._statements: dict[str, list[ast.stmt]] = {}

    def locate(self, code: CodeType, lasti: int, caller: Callsite | None) -> Callsite:
        """The place of one instruction."""
        filename = code.co_filename
        cell = self._cells.get(filename)
        line, end_line, column, end_column = _position(code, lasti)
        lines = self._lines(filename)
        shown = self._shown.get(filename, lines)
        text = shown[line - 1].strip() if 0 < line <= len(shown) else ""
        statement, expression = "", ""
        tree = self._tree(filename)
        if tree is not None and line:
            if filename not in self._statements:
                self._statements[filename] = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
            statement = _statement_text(self._statements[filename], line, lines)
        if end_line is None or column is None or end_column is None:
            node = _executing_node(code, lasti, line, filename)
            if node is not None:
                line, end_line = node.lineno, node.end_lineno
                column, end_column = node.col_offset, node.end_col_offset
        if end_line is not None and column is not None and end_column is not None:
            expression = _segment(lines, line, end_line, column, end_column)
            column, end_column = _characters(lines, line, column), _characters(lines, end_line, end_column)
        return Callsite(
            line=line,
            text=text,
            cell=cell,
            file=None if cell is not None or filename.startswith("<") else filename,
            function=getattr(code, "co_qualname", None) or _qualified_name(tree, code),
            caller=caller,
            end_line=end_line,
            column=column,
            end_column=end_column,
            expression=expression,
            statement=statement,
            parameters=code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],
        )

    def only_statement_between(
        self, before: Callsite, after: Callsite | None, names: tuple[str, ...], called: Iterable[Callsite]
    ) -> Callsite | None:
        """The one statement that runs between two places of straight-line code and can have written memory; None when
        there are several or none.

        Args:
            before: place of the last call before.
            after: place of the first call after it; None at the end of the block.
            names: names of what was written; if any candidate mentions one, only those count.
            called: all places of recorded calls: what was seen is no candidate.
        """
        if after is not None and _outermost(before) != _outermost(after):
            return None  # in two cells: what else ran between them, nobody saw
        first, last = _where_they_part(before, after)
        filename = self._filename(first)
        tree = self._tree(filename) if filename is not None else None
        if tree is None or filename is None or (last is not None and last.line <= first.line):
            return None
        end = last.line if last is not None else 10**9
        lines = self._lines(filename)
        found = [
            node
            for node in _simple_statements(tree, first.function)
            if (first.end_line or first.line) < node.lineno and (node.end_lineno or node.lineno) < end
        ]
        recorded = {site.expression for site in called if _whose(site) == _whose(first)}
        found = [node for node in found if any(text not in recorded for text in _actions(node, lines))]
        writing = [node for node in found if any(_writes_to(node, name) for name in names)]
        naming = [node for node in found if any(_mentions(node, name) for name in names)]
        candidates = writing or naming or found
        if len(candidates) != 1:
            return None
        node = candidates[0]
        text = _segment(lines, node.lineno, node.end_lineno or node.lineno, node.col_offset, node.end_col_offset or 0)
        shown = self._shown.get(filename, lines)
        return replace(
            first,
            line=node.lineno,
            end_line=node.end_lineno,
            column=node.col_offset,
            end_column=node.end_col_offset,
            text=shown[node.lineno - 1].strip() if node.lineno <= len(shown) else "",
            expression=text,
            statement=text,
            direct=True,
        )

    def _filename(self, site: Callsite) -> str | None:
        if site.file is not None:
            return site.file
        for filename in self._trees:
            if self._cells.get(filename) == site.cell and (site.cell is not None or filename.startswith("<")):
                return filename
        return None

    def aliases(self) -> tuple[AliasStatement, ...]:
        """The statements, in the files and cells met so far, that give an object a second name."""
        found: list[AliasStatement] = []
        for filename, tree in self._trees.items():
            if tree is None:
                continue
            cell = self._cells.get(filename)
            file = None if cell is not None or filename.startswith("<") else filename
            lines = self._lines(filename)
            for function, node in _statements_by_function(tree):
                for target, source in _alias_pairs(node):
                    text = lines[node.lineno - 1].strip() if node.lineno <= len(lines) else ""
                    found.append(AliasStatement(function, cell, file, node.lineno, target, source, text))
        return tuple(found)

    def _lines(self, filename: str) -> list[str]:
        if filename not in self._texts:
            self._texts[filename] = [line.rstrip("\n") for line in linecache.getlines(filename)]
        return self._texts[filename]

    def _tree(self, filename: str) -> ast.AST | None:
        if filename not in self._trees:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the user has seen what Python says of this text
                    self._trees[filename] = ast.parse("\n".join(self._lines(filename)))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._trees[filename] = None
        return self._trees[filename]


def _position(code: CodeType, lasti: int) -> tuple[int, int | None, int | None, int | None]:
    """(line, end line, column, end column) of an instruction; columns in UTF-8 bytes. Python 3.10 knows the line
    only."""
    if hasattr(code, "co_positions"):
        for i, position in enumerate(code.co_positions()):
            if i == lasti // 2:
                return position[0] or 0, position[1], position[2], position[3]
    for start, end, line in code.co_lines():
        if start <= lasti < end:
            return line or 0, None, None, None
    return 0, None, None, None


def _executing_node(code: CodeType, lasti: int, line: int, filename: str) -> Any:
    """On Python 3.10 ``executing`` finds the expression by its bytecode."""
    try:
        from executing import Source
    except ImportError:
        return None
    frame: Any = SimpleNamespace(f_code=code, f_lasti=lasti, f_lineno=line, f_globals={"__name__": ""}, f_locals={})
    try:
        return Source.executing(frame).node
    except Exception:  # executing asserts its way through odd bytecode; then the expression is unknown
        return None


def _segment(lines: list[str], line: int, end_line: int, column: int, end_column: int) -> str:
    if not 0 < line <= end_line <= len(lines):
        return ""
    picked = [text.encode() for text in lines[line - 1 : end_line]]
    picked[-1] = picked[-1][:end_column]
    picked[0] = picked[0][column:]
    return b"\n".join(picked).decode(errors="replace")


def _characters(lines: list[str], line: int, column: int) -> int:
    if not 0 < line <= len(lines):
        return column
    return len(lines[line - 1].encode()[:column].decode(errors="replace"))


def _statement_text(statements: list[ast.stmt], line: int, lines: list[str]) -> str:
    """Source of the innermost of a file's statements on `line`; of a compound statement, its header."""
    best: ast.stmt | None = None
    for node in statements:
        on_line = node.lineno <= line <= (node.end_lineno or node.lineno)
        if on_line and (best is None or node.lineno >= best.lineno):
            best = node
    if best is None:
        return ""
    body = getattr(best, "body", None)
    last = best.end_lineno or best.lineno
    if isinstance(body, list) and body:
        last = max(best.lineno, body[0].lineno - 1)
    text = "\n".join(lines[best.lineno - 1 : last])
    if not body:
        text = _segment(lines, best.lineno, last, best.col_offset, best.end_col_offset or 0)
    return text.strip()


def _whose(site: Callsite) -> tuple[str, int | None, str | None]:
    return site.function, site.cell, site.file


def _outermost(site: Callsite) -> tuple[int | None, str | None]:
    """The cell, or the file, in which a chain of callers begins."""
    while site.caller is not None:
        site = site.caller
    return site.cell, site.file


def _where_they_part(before: Callsite, after: Callsite | None) -> tuple[Callsite, Callsite | None]:
    """Of two chains of callers, the pair of places in the same function where they part."""

    def outermost_first(site: Callsite | None) -> list[Callsite]:
        chain = []
        while site is not None:
            chain.append(site)
            site = site.caller
        return chain[::-1]

    one, other = outermost_first(before), outermost_first(after)
    if not other:
        return one[0], None
    at = 0
    while (
        at + 1 < min(len(one), len(other))
        and one[at].line == other[at].line
        and one[at + 1].function == other[at + 1].function
    ):
        at += 1
    return one[at], other[at]


def _qualified_name(tree: ast.AST | None, code: CodeType) -> str:
    """``Encoder.forward`` on Python 3.10, whose code objects know ``forward`` only: the function that begins on that
    line."""

    def visit(node: ast.AST, prefix: str) -> Iterator[tuple[int, str, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                yield first, child.name, f"{prefix}{child.name}"
                yield from visit(child, f"{prefix}{child.name}.<locals>.")
            elif isinstance(child, ast.ClassDef):
                yield from visit(child, f"{prefix}{child.name}.")
            else:
                yield from visit(child, prefix)

    for line, name, qualified in visit(tree, "") if tree is not None else ():
        if (line, name) == (code.co_firstlineno, code.co_name):
            return qualified
    return code.co_name


def _statements_by_function(tree: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    """Every simple statement with the qualified name of the function that holds it, as code objects spell it."""

    def visit(node: ast.AST, function: str, prefix: str) -> Iterator[tuple[str, ast.stmt]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{prefix}{child.name}"
                yield from visit(child, name, f"{name}.<locals>.")
            elif isinstance(child, ast.ClassDef):
                yield from visit(child, f"{prefix}{child.name}", f"{prefix}{child.name}.")
            else:
                if isinstance(child, ast.stmt) and not hasattr(child, "body"):
                    yield function, child
                yield from visit(child, function, prefix)

    yield from visit(tree, "<module>", "")


_IDLE = (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal, ast.Break, ast.Continue)


def _simple_statements(tree: ast.AST, function: str) -> list[ast.stmt]:
    """The statements of a function that can do something."""
    return [
        node
        for name, node in _statements_by_function(tree)
        if name == function
        and not isinstance(node, _IDLE)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]


def _actions(node: ast.stmt, lines: list[str]) -> list[str]:
    """Sources of what a statement does that can write memory: its calls, and itself where it assigns in place."""
    acting: list[Any] = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    if isinstance(node, (ast.AugAssign, ast.Delete)) or (
        isinstance(node, ast.Assign) and any(isinstance(target, ast.Subscript) for target in node.targets)
    ):
        acting.append(node)
    return [_segment(lines, n.lineno, n.end_lineno or n.lineno, n.col_offset, n.end_col_offset or 0) for n in acting]


def _writes_to(node: ast.stmt, name: str) -> bool:
    """Whether a statement assigns in place to something that begins with `name`."""
    targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets if isinstance(node, ast.Assign) else []
    for target in targets:
        root: ast.expr = target
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        plain = isinstance(target, ast.Name) and isinstance(node, ast.Assign)
        if isinstance(root, ast.Name) and root.id == name and not plain:
            return True
    return False


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node))


def _alias_pairs(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """(new name, old name) of ``a = b``, ``a = b.detach()``, ``a = b = f()``, ``a, b = c, d``, ``d[k] = b``,
    ``d.append(b)`` and, with ``return`` as the new name, of what a function gives."""
    if isinstance(node, ast.Assign):
        paths = [path for target in node.targets if (path := _path(target)) is not None]
        source = _path(_undetached(node.value))
        if source is not None:
            yield from ((path, source) for path in paths)
        else:
            yield from ((path, paths[0]) for path in paths[1:])
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for left, right in zip(target.elts, node.value.elts, strict=False):
                    new, old = _path(left), _path(_undetached(right))
                    if new is not None and old is not None:
                        yield new, old
    elif isinstance(node, ast.Return) and node.value is not None:
        given = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        yield from (("return", path) for value in given if (path := _path(value)) is not None)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call, owner = node.value, _path(node.value.func.value)
        if node.value.func.attr == "append" and len(call.args) == 1 and owner is not None:
            source = _path(_undetached(call.args[0]))
            if source is not None:
                yield f"{owner}[]", source


def _undetached(node: ast.expr) -> ast.expr:
    """``x`` of ``x.detach()``, which many take for a copy."""
    detached = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "detach"
    return node.func.value if detached else node  # type: ignore[attr-defined]  # checked just above


def _path(node: ast.expr) -> str | None:
    if isinstance(node, (ast.Name, ast.Attribute)) or (
        isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.Name))
    ):
        root: ast.expr = node
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if isinstance(root, ast.Name):
            return ast.unparse(node).replace("'", '"')
    return None
