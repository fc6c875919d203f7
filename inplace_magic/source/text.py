"""One version of the text of a file: its lines, its syntax tree, and the statements and functions on a line.

A watch of two lines in a file of ten thousand only parses the whole file. The statement of a line is found from the top
down, through statements and not expressions.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any

from inplace_magic.record.grouped import grouped

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def parsed(text: str) -> ast.Module | None:
    """Return the syntax of a text; None where it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user has seen what Python says of this text
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the text."""

    name: str
    """As code objects spell it: ``Encoder.forward``, ``main.<locals>.step``."""
    node: FunctionNode


class Text:
    """One version of a text, of lines without their ends."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.compiled: dict[tuple[str, int, str, int], dict[str, list[CodeType]]] = {}
        """Cache of :mod:`.versions`: what parts of it compile to, by the last part of names."""
        self._statements: dict[int, list[ast.stmt]] = {}

    @cached_property
    def tree(self) -> ast.Module | None:
        """Its syntax; None where it is not Python."""
        return parsed("\n".join(self.lines))

    @cached_property
    def functions(self) -> dict[str, list[Function]]:
        """Its functions by the last part of their names."""
        functions = _functions(self.tree) if self.tree is not None else ()
        return grouped((function.node.name, function) for function in functions)

    def function(self, name: str, first_line: int) -> Function | None:
        """Return the function of a qualified name; of several, the one that begins on a line, else the last."""
        listed = [each for each in self.functions.get(name.rpartition(".")[2], ()) if each.name == name]
        here = [each for each in listed if first_line_of(each.node) == first_line]
        best = here or listed
        return best[-1] if best else None

    def statements_on(self, line: int) -> list[ast.stmt]:
        """Return the statements, simple and compound, that take a line; outer ones first."""
        known = self._statements.get(line)
        if known is None:
            known = self._statements[line] = []
            inner = covering(self.tree, line) if self.tree is not None else []
            while inner:
                known += [node for node in inner if node.lineno <= line]  # and no decorator
                inner = [child for node in inner for child in covering(node, line)]
        return known

    def line(self, number: int) -> str:
        """Return a line without the space around it; empty for one that it does not have."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""


@lru_cache(maxsize=16)
def text_of(lines: tuple[str, ...]) -> Text:
    """Return a text; of those asked for last, the one that was made then: the files of a session are in many
    reports."""
    return Text(list(lines))


@lru_cache(maxsize=64)
def text_of_cell(lines: tuple[str, ...]) -> Text:
    """Return the text of a cell with its magics and shell commands blanked, so that its lines stay the gutter's."""
    plain = ("", *lines[1:]) if lines and lines[0].lstrip().startswith("%%") else lines
    found = text_of(plain)
    return found if found.tree is not None else text_of(tuple(map(_without_magic, plain)))


def _without_magic(row: str) -> str:
    bare = re.sub(r"^(\s*)[%!?].*", r"\1pass", row)
    bare = re.sub(r"^(\s*[\w, ]+=\s*)[%!].*", r"\1None", bare)
    return re.sub(r"^(\s*)[\w.]+\?{1,2}\s*$", r"\1pass", bare)


def first_line_of(node: ast.stmt) -> int:
    """Return the line on which a statement begins, its decorators included."""
    decorators = getattr(node, "decorator_list", None)
    return min(node.lineno, decorators[0].lineno) if decorators else node.lineno


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below a node, as ``ast.iter_child_nodes`` gives them, but for ``Load``, ``Store`` and
    ``Del``: these are a third of all, have no place and nothing below them, and are asked for by ``node.ctx``."""
    found: list[ast.AST] = []
    for name in node._fields:
        value: Any = getattr(node, name, None)
        if isinstance(value, ast.AST):
            if not isinstance(value, ast.expr_context):
                found.append(value)
        elif isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
    return found


def nodes_in(node: ast.AST) -> list[ast.AST]:
    """Return a node and all below it, in the order of ``ast.walk``: outer ones first."""
    found = [node]
    for each in found:
        found += children(each)
    return found


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of statements right inside a node."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            if isinstance(block[0], ast.stmt):
                yield block
            else:
                for entry in block:  # `except` and `case`
                    yield from blocks_of(entry)


def statements_inside(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements right inside a node."""
    for block in blocks_of(node):
        yield from block


def placed(
    node: ast.AST, around: tuple[ast.stmt, ...] = (), name: str = ""
) -> Iterator[tuple[ast.stmt, tuple[ast.stmt, ...], str]]:
    """Yield each statement inside a node, outer ones first, with those around it, the outermost first, and the name of
    the function or class that holds it, as code objects spell it: ``main.<locals>.step``; empty outside of all."""
    for child in statements_inside(node):
        yield child, around, name
        if not is_simple(child):
            inner = _qualified(child, around, name) if isinstance(child, (FunctionNode, ast.ClassDef)) else name
            yield from placed(child, (*around, child), inner)


def _qualified(node: FunctionNode | ast.ClassDef, around: tuple[ast.stmt, ...], name: str) -> str:
    holder = next((each for each in reversed(around) if isinstance(each, (FunctionNode, ast.ClassDef))), None)
    if holder is None:
        return node.name
    return f"{name}.{node.name}" if isinstance(holder, ast.ClassDef) else f"{name}.<locals>.{node.name}"


def is_simple(node: ast.stmt) -> bool:
    """True if no other statement stands in it."""
    return not hasattr(node, "body") and not hasattr(node, "cases")


def covering(node: ast.AST, line: int) -> list[ast.stmt]:
    """Return the statements right inside a node that cover a line."""
    found: list[ast.stmt] = []
    for block in blocks_of(node):
        at = bisect_right(block, line, key=first_line_of) - 1
        while at >= 0 and (block[at].end_lineno or block[at].lineno) >= line:
            found.insert(0, block[at])
            at -= 1
    return found


def _functions(tree: ast.Module) -> Iterator[Function]:
    for node, around, name in placed(tree):
        if isinstance(node, FunctionNode):
            yield Function(_qualified(node, around, name), node)


def characters(lines: Sequence[str], line: int, column: int) -> int:
    """Return a column in characters, from one in bytes, as Python counts them."""
    if not 0 < line <= len(lines):
        return column
    return len(lines[line - 1].encode()[:column].decode(errors="replace"))
