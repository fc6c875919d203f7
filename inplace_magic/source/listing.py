"""The user's lines with their syntax, and changes to them as a diff.

The whole text is known for a cell and for an unedited file; for other places, only the statement itself. Such a listing
says so, and a fix that needs the surrounding lines makes no diff.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from inplace_magic.record.grouped import grouped
from inplace_magic.record.names import AliasStatement, SourceText
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.source.expressions import path_text
from inplace_magic.source.remembered import for_the_same_lines, for_the_same_object
from inplace_magic.source.statements import segment
from inplace_magic.source.text import characters, children, nodes_in, parsed, text_of_cell

Block = list[ast.stmt]
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.Module

LOOPS = (ast.For, ast.AsyncFor, ast.While)
"""What goes through its body several times."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

_MAX_CHARACTERS = 400_000


@dataclass(frozen=True)
class Edit:
    """New text for the lines ``first`` to ``last``; where ``last`` is one less than ``first``, lines put in before
    ``first``."""

    first: int
    last: int
    new: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """Source lines, the first with number 1, and the syntax tree of them."""

    lines: tuple[str, ...]
    """Lines that are not known are empty."""
    tree: ast.Module
    whole: bool
    """Whether it is the text of the whole cell or file, and not one statement of it."""

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, outer ones first: each rule goes through them."""
        return nodes_in(self.tree)

    def inside(self, node: ast.AST) -> list[ast.AST]:
        """Return a node and all below it, outer ones first; cached for functions and classes."""
        known = self._inside.get(node)
        if known is None:
            known = self._inside[node] = nodes_in(node)
        return known

    @cached_property
    def _inside(self) -> dict[ast.AST, list[ast.AST]]:
        return {self.tree: self.nodes}

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Return the parent of each node."""
        return {child: node for node in self.nodes for child in children(node)}

    @cached_property
    def stores(self) -> dict[str, list[ast.Name]]:
        """Return the bindings of each name."""
        names = (node for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        return grouped((node.id, node) for node in names)

    def values_of(self, path: str | None) -> list[ast.expr]:
        """Return what plain assignments anywhere give to a variable, such as ``self.relu``."""
        plain = (node for node in self.nodes if isinstance(node, ast.Assign))
        return [node.value for node in plain if path is not None and path in map(path_text, node.targets)]

    @cached_property
    def declared(self) -> dict[str, list[ast.Global | ast.Nonlocal]]:
        """Return the ``global`` and ``nonlocal`` declarations of each name."""
        said = (node for node in self.nodes if isinstance(node, (ast.Global, ast.Nonlocal)))
        return grouped((name, node) for node in said for name in node.names)

    @cached_property
    def functions(self) -> dict[str, list[ast.FunctionDef]]:
        """Return the functions of each name."""
        return grouped((node.name, node) for node in self.nodes if isinstance(node, ast.FunctionDef))

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node, the innermost first."""
        above = self.parents.get(node)
        while above is not None:
            yield above
            above = self.parents.get(above)

    def loop_around(self, node: ast.AST) -> ast.For | ast.AsyncFor | ast.While | None:
        """Return the innermost loop around a node."""
        return next((above for above in self.around(node) if isinstance(above, LOOPS)), None)

    def block_of(self, statement: ast.stmt) -> Block:
        """Return the statements among which a statement stands."""
        above = self.parents.get(statement)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(above, name, None)
            if isinstance(block, list) and any(entry is statement for entry in block):
                return block
        return [statement]

    def scope_of(self, node: ast.AST) -> Scope:
        """Return the scope of a node: a function, class or module."""
        for above in self.around(node):
            if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                return above
        return self.tree

    def text(self, node: ast.AST) -> str:
        """Return the source of an expression or statement."""
        line, column, end_line, end_column = _span(node)
        return segment(self.lines, line, end_line, column, end_column)

    def text_between(self, before: ast.AST, after: ast.AST) -> str:
        """Return the source from the end of one node to the end of another."""
        _, _, line, column = _span(before)
        _, _, end_line, end_column = _span(after)
        return segment(self.lines, line, end_line, column, end_column)

    def indent(self, statement: ast.stmt) -> str:
        """Return the white space before a statement."""
        line = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def deeper(self, statement: ast.stmt) -> str:
        """Return the white space before a line one level below a statement, of tabs where the statement's is."""
        indent = self.indent(statement)
        return indent + ("\t" if "\t" in indent else "    ")

    def alone(self, statement: ast.stmt) -> bool:
        """True if no other code stands on the lines of a statement."""
        _, column, end_line, end_column = _span(statement)
        before = self.lines[statement.lineno - 1].encode()[:column].strip()
        after = self.lines[end_line - 1].encode()[end_column:].strip()
        return not before and (not after or after.startswith(b"#"))

    def statement_at(self, site: Callsite) -> ast.stmt | None:
        """Return the innermost statement on the line of a place."""
        return self.statement_on(site.line)

    def statement_on(self, line: int) -> ast.stmt | None:
        """Return the innermost statement on a line."""
        return self._innermost.get(line)

    @cached_property
    def _innermost(self) -> dict[int, ast.stmt]:
        """Return the innermost statement on each line."""
        found: dict[int, ast.stmt] = {}
        statements = (node for node in self.nodes if isinstance(node, ast.stmt))  # outer ones first
        for node in statements:
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                if line not in found or node.lineno >= found[line].lineno:
                    found[line] = node
        return found

    def expression_at(self, site: Callsite) -> ast.expr | None:
        """Return the expression that made the call at a place."""
        found = [node for node in self._expressions.get(site.line, ()) if self.text(node) == site.expression]
        at = [
            node
            for node in found
            if site.column is None or characters(self.lines, node.lineno, node.col_offset) == site.column
        ]
        return (at or found)[0] if len(at) == 1 or len(found) == 1 else None

    @cached_property
    def _expressions(self) -> dict[int, list[ast.expr]]:
        """Return the expressions that begin on each line; cached, since rules ask for every call and files have many
        nodes."""
        return grouped((node.lineno, node) for node in self.nodes if isinstance(node, ast.expr))

    def substitute(self, changes: Iterable[tuple[ast.expr, str]]) -> Edit | None:
        """Return the lines with some expressions replaced; None where that touches a line more than one way, or several
        lines."""
        listed = list(changes)
        rows = {row for node, _ in listed for row in (node.lineno, node.end_lineno or node.lineno)}
        if len(rows) != 1:
            return None
        row = rows.pop()
        line = self.lines[row - 1].encode()
        for node, new in sorted(listed, key=lambda change: -change[0].col_offset):
            line = line[: node.col_offset] + new.encode() + line[node.end_col_offset :]
        return Edit(row, row, (line.decode(errors="replace"),))

    def replace(self, statement: ast.stmt, *new: str) -> Edit | None:
        """Statements instead of one that has its lines to itself; a comment at its end stays with the last."""
        if not self.alone(statement):
            return None
        _, _, end_line, end_column = _span(statement)
        comment = self.lines[end_line - 1].encode()[end_column:].decode(errors="replace").rstrip()
        indent = self.indent(statement)
        rows = [f"{indent}{text}" for text in new]
        return Edit(statement.lineno, end_line, ("\n".join(rows) + comment,))

    def whole_lines(self, statement: ast.stmt) -> tuple[str, ...]:
        """Return the lines of a statement as they stand."""
        return self.lines[statement.lineno - 1 : statement.end_lineno or statement.lineno]


def listing_of(trace: Trace, site: Callsite | None) -> Listing | None:
    """Return the known text around a place; None if not even its statement can be parsed."""
    if site is None or site.line < 1:
        return None
    whole = whole_listing(trace, site) if not site.outdated else None
    lines = whole.lines[site.line - 1 : site.line] if whole is not None else ()
    return whole if lines and lines[0].strip() == site.text.strip() else _statement_only(site)


def whole_listing(trace: Trace, place: Callsite | AliasStatement | None) -> Listing | None:
    """Return the cell or file that holds a place; None where its text is not known, or could not be parsed."""
    if place is None:
        return None
    if trace.source and place.cell == trace.cell and place.file is None:
        return _parse(trace.source)
    return _listings(trace.sources)(place.cell, place.file)


def texts(trace: Trace) -> list[Listing]:
    """Return the watched cell and every other cell and file with a known text."""
    known = (trace.source, *(text.lines for text in trace.sources))
    return [listing for lines in known if lines and (listing := _parse(lines)) is not None]


@for_the_same_object
def _listings(sources: tuple[SourceText, ...]) -> Callable[[int | None, str | None], Listing | None]:
    """Return what finds the listing of a cell or file."""
    known = {(text.cell, text.file): text.lines for text in reversed(sources)}
    return cache(lambda cell, file: _parse(known[cell, file]) if known.get((cell, file)) else None)


@for_the_same_lines
def _parse(source: tuple[str, ...]) -> Listing | None:
    if sum(map(len, source)) > _MAX_CHARACTERS:
        return None
    tree = text_of_cell(source).tree  # as it was parsed while its places were resolved
    return Listing(source, tree, whole=True) if tree is not None else None


def _statement_only(site: Callsite) -> Listing | None:
    rows = (site.statement or site.text).split("\n")
    at = [number for number, row in enumerate(rows) if _without_comment(site.text.strip(), row.strip())]
    tree = parsed("\n".join(rows)) if sum(map(len, rows)) <= _MAX_CHARACTERS else None
    if tree is None or len(at) != 1 or site.line - at[0] < 1:
        return None
    first = site.line - at[0]
    rows[at[0]] += site.text.strip()[len(rows[at[0]].strip()) :]
    head = site.text.find(site.expression.split("\n")[0]) if at[0] == 0 and site.expression else -1
    white = site.indent or " " * (max((site.column or 0) - head, 0) if head >= 0 else 0)
    indent = len(white)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            if node.lineno == 1:
                node.col_offset += indent
            if node.end_lineno == 1 and node.end_col_offset is not None:
                node.end_col_offset += indent
    ast.increment_lineno(tree, first - 1)
    rows[0] = white + rows[0]
    return Listing(("",) * (first - 1) + tuple(rows), tree, whole=False)


def _without_comment(line: str, code: str) -> bool:
    """True if a line is this code, with nothing but a comment behind it."""
    rest = line[len(code) :].lstrip() if line.startswith(code) else "?"
    return not rest or rest.startswith("#")


def _span(node: ast.AST) -> tuple[int, int, int, int]:
    """First line and column, last line and column."""
    assert isinstance(node, (ast.stmt, ast.expr))
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
