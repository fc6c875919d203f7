"""Source text: instruction offsets -> lines, expressions and statements; after the watch, never during it."""

from __future__ import annotations

import ast
import linecache
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import CodeType

from inplace_magic.capture.positions import Position, node_of, positions, qualified_name
from inplace_magic.capture.statements import (
    actions,
    alias_pairs,
    in_force,
    mentions,
    runs_after,
    segment,
    shared_defaults,
    simple_statements,
    stands_beside,
    statements_by_function,
    writes_to,
)
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
        self._statements: dict[str, dict[int, list[ast.stmt]]] = {}
        self._defaults: dict[str, dict[str, tuple[str, ...]]] = {}
        self._positions: dict[int, tuple[CodeType, list[Position]]] = {}
        self._between: dict[tuple[Callsite, Callsite | None, tuple[str, ...]], Callsite | None] = {}

    def locate(self, code: CodeType, lasti: int, caller: Callsite | None) -> Callsite:
        """The place of one instruction."""
        filename = code.co_filename
        cell = self._cells.get(filename)
        known_line, end_line, column, end_column = self._position(code, lasti)
        line = known_line or 0
        lines = self._lines(filename)
        shown = self._shown.get(filename, lines)
        text = shown[line - 1].strip() if 0 < line <= len(shown) else ""
        expression = ""
        tree = self._tree(filename)
        around: list[ast.stmt] = []
        if tree is not None and line:
            if filename not in self._statements:
                self._statements[filename] = _statements_on_lines(tree)
                self._defaults[filename] = shared_defaults(tree)
            around = self._statements[filename].get(line, [])
        if end_line is None or column is None or end_column is None:
            node = node_of(tree, code, lasti, line)
            if node is not None:
                line, end_line = node.lineno, node.end_lineno
                column, end_column = node.col_offset, node.end_col_offset
        statement = _statement_text(_innermost(around, line, column), lines)
        if end_line is not None and column is not None and end_column is not None:
            expression = segment(lines, line, end_line, column, end_column)
            column, end_column = _characters(lines, line, column), _characters(lines, end_line, end_column)
        function = getattr(code, "co_qualname", None) or qualified_name(tree, code)
        return Callsite(
            line=line,
            text=text,
            cell=cell,
            file=None if cell is not None or filename.startswith("<") else filename,
            function=function,
            caller=caller,
            end_line=end_line,
            column=column,
            end_column=end_column,
            expression=expression,
            statement=statement,
            parameters=code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],
            shared_defaults=self._defaults.get(filename, {}).get(function, ()),
        )

    def only_statement_between(
        self, before: Callsite, after: Callsite | None, names: tuple[str, ...], called: Iterable[Callsite]
    ) -> Callsite | None:
        """The one statement that runs between two places of straight-line code and can have written memory; None when
        there are several or none. Of several that all assign in place to the same name it is the first, if that one
        ran for sure. Where a loop came round between the two places, it is one that assigns in place below the first.

        Args:
            before: place of the last call before.
            after: place of the first call after it; None at the end of the block.
            names: names of what was written; if any candidate mentions one, only those count.
            called: all places of recorded calls: what was seen is no candidate.
        """
        key = before, after, names
        if key not in self._between:
            self._between[key] = self._only_statement_between(before, after, names, called)
        return self._between[key]

    def _only_statement_between(
        self, before: Callsite, after: Callsite | None, names: tuple[str, ...], called: Iterable[Callsite]
    ) -> Callsite | None:
        if after is not None and _outermost(before) != _outermost(after):
            return None  # in two cells: what else ran between them, nobody saw
        first, last = _where_they_part(before, after)
        filename = self._filename(first)
        tree = self._tree(filename) if filename is not None else None
        if tree is None or filename is None:
            return None
        came_round = last is not None and last.line <= first.line
        end = last.line if last is not None and not came_round else 10**9
        lines = self._lines(filename)
        found = [
            node
            for node in simple_statements(tree, first.function)
            if (first.end_line or first.line) < node.lineno and (node.end_lineno or node.lineno) < end
        ]
        recorded = {site.expression for site in called if _whose(site) == _whose(first)}
        found = [node for node in found if any(text not in recorded for text in actions(node, lines))]
        writing = [node for node in found if any(writes_to(node, name) for name in names)]
        naming = [node for node in found if any(mentions(node, name) for name in names)]
        candidates = writing or naming or found
        several = len(writing) > 1 and any(all(writes_to(node, name) for node in writing) for name in names)
        if several and stands_beside(tree, writing[0], (first.line, end)):
            candidates = writing[:1]  # `picture -= low; picture /= high`: the first of them has written it already
        if came_round:
            candidates = [node for node in writing if runs_after(tree, node, first.line)][:1]
        if len(candidates) != 1:
            return None
        node = candidates[0]
        text = segment(lines, node.lineno, node.end_lineno or node.lineno, node.col_offset, node.end_col_offset or 0)
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
            for function, node in statements_by_function(in_force(tree)):
                for target, source in alias_pairs(node):
                    text = lines[node.lineno - 1].strip() if node.lineno <= len(lines) else ""
                    found.append(AliasStatement(function, cell, file, node.lineno, target, source, text))
        return tuple(found)

    def _position(self, code: CodeType, lasti: int) -> Position:
        known = self._positions.get(id(code))
        if known is None:
            known = self._positions[id(code)] = code, positions(code)
        position = lasti // 2
        line, end_line, column, end_column = known[1][position] if position < len(known[1]) else (0, None, None, None)
        return line, end_line, column, end_column

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


def _characters(lines: list[str], line: int, column: int) -> int:
    if not 0 < line <= len(lines):
        return column
    return len(lines[line - 1].encode()[:column].decode(errors="replace"))


def _statements_on_lines(tree: ast.AST) -> dict[int, list[ast.stmt]]:
    """The statements of a file by each line that they take."""
    found: dict[int, list[ast.stmt]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found.setdefault(line, []).append(node)
    return found


def _innermost(statements: list[ast.stmt], line: int, column: int | None) -> ast.stmt | None:
    """Of the statements on a line the innermost one; of ``a = f(x); b = g(x)``, that which holds the column."""
    holding = [
        node
        for node in statements
        if column is None
        or (node.lineno, node.col_offset)
        <= (line, column)
        < (node.end_lineno or node.lineno, node.end_col_offset or column + 1)
    ]
    return max(holding or statements, key=lambda node: (node.lineno, node.col_offset), default=None)


def _statement_text(best: ast.stmt | None, lines: list[str]) -> str:
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
