"""Lines of the user's as a program: the block of a ``with watch():``, or those that raised an error.

A block is its statements, and the variables in whose sight they stand.

Lines that raised are found from the traceback, in the frame that is still alive. In a function that handles the error
itself they are the body of its ``try``; else, as in a debugger, the statement of the outermost function of the user's
that the traceback goes through. The frame's variables are at hand as they are now. What they hold of a graph cannot be
copied, so the statements above that bound it are taken in as well, one by one.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import walk_tb
from types import CodeType, FrameType, TracebackType
from typing import Any

from inplace_magic.capture.frames import belongs_to_user, library_folders
from inplace_magic.capture.naming.scope import locals_of
from inplace_magic.errors import CompareError
from inplace_magic.language import _
from inplace_magic.rerun.program import CellProgram, program_of, unprinted
from inplace_magic.rerun.replacing import changes_by_name, replaced
from inplace_magic.source.expressions import variables_bound
from inplace_magic.source.hunks import Hunk, Whose, changed, moved
from inplace_magic.source.shells import cells_so_far
from inplace_magic.source.statements import spans
from inplace_magic.source.text import blocks_of

_MOST = 4
"""Functions of a traceback that are tried one after the other."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Where a watched block stands. Of its variables nothing is kept but, outside of functions, its module's namespace.

    Args:
        line: on which its ``with`` stands.
        module: the namespace of the module that it stands in; None within a function.
    """

    code: CodeType
    line: int
    module: dict[str, Any] | None

    @classmethod
    def at(cls, frame: FrameType) -> Block:
        """Return the block that a frame begins now."""
        own = frame.f_code.co_flags & inspect.CO_OPTIMIZED
        outside = not own and frame.f_locals is frame.f_globals
        return cls(frame.f_code, frame.f_lineno, frame.f_globals if outside else None)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()  # a copy or a pickle of its report knows no process

    def statements(self, tree: ast.Module, line: int) -> list[ast.stmt]:
        """What stands in the block.

        Args:
            line: on which the ``with`` stands there.

        Raises:
            CompareError: it is not there, or enters something else as well.
        """
        found = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.With) and node.lineno <= line <= (node.items[-1].context_expr.end_lineno or 0)
        ]
        if not found:
            raise CompareError(_("The text of the watched block is not known."))
        if len(found[-1].items) > 1:
            text = _("Line {line} enters several contexts at once; give the watch a `with` of its own.")
            raise CompareError(text.format(line=line))
        return found[-1].body

    @contextmanager
    def begun(self, frame: FrameType | None) -> Iterator[Staged]:
        """See :class:`.Origin`."""
        namespace = self.module
        while namespace is None:
            if frame is None:
                text = _("The variables of the watched block are gone: `{function}` has returned.")
                raise CompareError(text.format(function=self.code.co_name))
            if frame.f_code is self.code:
                namespace = {**frame.f_globals, **(locals_of(frame) or frame.f_locals)}
            frame = frame.f_back
        lines = tuple(line.rstrip("\n") for line in linecache.getlines(self.code.co_filename))
        yield Staged(self, lines, namespace)


@dataclass(frozen=True, slots=True, eq=False)
class Staged:
    """A block whose variables are at hand."""

    block: Block
    lines: tuple[str, ...]
    namespace: dict[str, Any]

    quiet = staticmethod(unprinted)
    """Makes a context in which nothing is printed."""

    @property
    def cells(self) -> dict[str, int]:
        """Execution count by compiled file name."""
        return cells_so_far()

    @contextmanager
    def program(self, changes: Mapping[Whose, list[Hunk]]) -> Iterator[CellProgram]:
        """The program of the block with changes of its file and of others, while the block of this runs.

        Raises:
            CompareError: it cannot be run outside of its function, or a change cannot be made.
        """
        name = self.block.code.co_filename
        texts = changes_by_name(changes, self.cells)
        hunks = texts[name][1] if name in texts else []
        old = self._statements(self.lines, self.block.line)
        run_anew = range(old[0].lineno, (old[-1].end_lineno or old[-1].lineno) + 1)
        new = self._statements(changed(self.lines, hunks), moved(self.block.line, hunks))
        try:
            program = program_of(new, name=name, namespace=self.namespace, filename=name, source="")
        except SyntaxError as error:
            text = _("These lines cannot run outside of their function: {error} on line {line}.")
            raise CompareError(text.format(error=error.msg, line=error.lineno)) from None
        with replaced(texts, {name: run_anew}):
            yield program

    def _statements(self, lines: tuple[str, ...], line: int) -> list[ast.stmt]:
        try:
            tree = ast.parse("\n".join(lines))
        except SyntaxError as error:
            raise CompareError(_("The changed text is no Python: {error}.").format(error=error.msg)) from None
        return self.block.statements(tree, line)


@dataclass(frozen=True, slots=True, eq=False)
class RaisingLines(Block):
    """Lines that raised; `line` is the one that did.

    Args:
        above: how many statements above the ``try``, or above the statement, belong to them.
        frame: whose variables are taken; the traceback keeps it alive as well.
    """

    above: int = 0
    frame: FrameType | None = None

    def statements(self, tree: ast.Module, line: int) -> list[ast.stmt]:
        """What raised, with the statements above that are needed.

        Args:
            line: the one that raised, as it stands there.

        Raises:
            CompareError: they are not there.
        """
        suite, place, body = _suite_of(tree, line)
        return [*suite[max(0, place - self.above) : place], *body]

    def binding(self, name: str) -> int | None:
        """How many statements above have to be taken in so that one of them binds a name; None where none does."""
        tree = ast.parse("".join(linecache.getlines(self.code.co_filename)))
        suite, place, _body = _suite_of(tree, self.line)
        further = range(self.above + 1, place + 1)
        return next((above for above in further if name in variables_bound(suite[place - above])), None)

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last."""
        tree = ast.parse("".join(linecache.getlines(self.code.co_filename)))
        found = self.statements(tree, self.line)
        return found[0].lineno, found[-1].end_lineno or found[-1].lineno


def raising_lines(traceback: TracebackType | None, asker: FrameType) -> list[RaisingLines]:
    """Return the lines that raised an error, by the functions of the user's that the traceback goes through: that of
    the asker, or else the outermost, first.

    Raises:
        CompareError: no line of the user's own files is in it.
    """
    libraries = library_folders()
    own = [
        (frame, line)
        for frame, line in walk_tb(traceback)
        if linecache.getlines(name := frame.f_code.co_filename) and belongs_to_user(name, libraries)
    ]
    if not own:
        raise CompareError(_("The traceback has no line of a file of yours."))
    found = []
    first = next((place for place, (frame, _line) in enumerate(own) if frame is asker), 0)
    for frame, line in own[first : first + _MOST]:
        block = Block.at(frame)
        found.append(RaisingLines(block.code, line, block.module, 0, frame))
    return found


def _suite_of(tree: ast.Module, line: int) -> tuple[list[ast.stmt], int, list[ast.stmt]]:
    """Return the suite that the lines stand in, the place of their first statement there, and the statements."""
    suites: list[list[ast.stmt]] = [tree.body]
    tried = None
    outer: list[ast.stmt] = tree.body
    while suites:
        suite = suites.pop()
        for place, node in enumerate(suite):
            if not spans(node, line):
                continue
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                outer, tried = node.body, None  # its own lines
            if isinstance(node, ast.Try) and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0):
                tried = suite, place, node.body
            suites += blocks_of(node)
    if tried is not None:
        return tried
    for place, node in enumerate(outer):
        if spans(node, line):
            return outer, place, [node]
    raise CompareError(_("The text of the lines that raised is not known."))
