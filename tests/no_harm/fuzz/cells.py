"""A program as a tree of statements, which renders to source text and can be made smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

HELPERS = """\
def scaled(t, by):
    t.mul_(by)
    return t
def shifted(t):
    flat = t.reshape(-1)
    flat += 1
    return flat
def squashed(t):
    inner = torch.sigmoid(t * 2)
    return inner + 1
def rectified(t):
    return nn.ReLU(inplace=True)(t)
"""
"""What cells call; compiled with the cell, so a place inside has the calling line as its caller."""


@dataclass(frozen=True)
class Line:
    """A simple statement."""

    text: str
    binds: tuple[str, ...] = ()
    """Names that get the outputs of the last torch call of the statement, in order."""
    backward: bool = False


@dataclass(frozen=True)
class Block:
    """A compound statement; `handler` is the body of ``except RuntimeError:``."""

    header: str
    body: tuple[Statement, ...]
    handler: tuple[Statement, ...] = ()


Statement: TypeAlias = "Line | Block"


@dataclass(frozen=True)
class Cell:
    """A whole program."""

    statements: tuple[Statement, ...]

    def source(self, wrap: Callable[[Line, int], str] = lambda line, _: line.text) -> str:
        """The text; line 1 begins the watch, and stands where the magic line would.

        Args:
            wrap: gives the text of each simple statement from it and its line number, on one line.
        """
        lines = ["begin()", *HELPERS.splitlines()]
        _render(self.statements, "", lines, wrap)
        return "\n".join(lines) + "\n"

    def lines(self) -> dict[int, Line]:
        """The simple statements by line number."""
        found: dict[int, Line] = {}

        def note(line: Line, number: int) -> str:
            found[number] = line
            return line.text

        self.source(note)
        return found


def _render(statements: tuple[Statement, ...], indent: str, lines: list[str], wrap: Callable[[Line, int], str]) -> None:
    for statement in statements:
        if isinstance(statement, Line):
            lines.append(indent + wrap(statement, len(lines) + 1))
            continue
        lines.append(indent + statement.header)
        _render(statement.body, indent + "    ", lines, wrap)
        if statement.handler:
            lines.append(indent + "except RuntimeError:")
            _render(statement.handler, indent + "    ", lines, wrap)


def smaller(cell: Cell) -> Iterator[Cell]:
    """The cell with one statement less, or with a block opened up, in every way."""
    for statements in _smaller(cell.statements):
        yield replace(cell, statements=statements)


def _smaller(statements: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    for i in reversed(range(len(statements))):
        before, here, after = statements[:i], statements[i], statements[i + 1 :]
        yield before + after
        if isinstance(here, Block):
            yield before + here.body + after
            for body in _smaller(here.body):
                if body:
                    yield (*before, replace(here, body=body), *after)
