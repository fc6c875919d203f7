"""The lines that raised an error, as a program: found from its traceback, in the frame that is still alive.

In a function that handles the error itself they are the body of its ``try``; else, as in a debugger, the statement of
the outermost function of the user's that the traceback goes through. The frame's variables are at hand as they are now.
What they hold of a graph cannot be copied, so the statements above that bound it are taken in as well, one by one.
"""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from types import FrameType, TracebackType

from inplace_magic.capture.frames import belongs_to_user, library_folders
from inplace_magic.errors import CompareError
from inplace_magic.language import _
from inplace_magic.rerun.blocks import Block
from inplace_magic.source.statements import spans
from inplace_magic.source.text import blocks_of
from inplace_magic.source.variables import variables_bound

_MOST = 4
"""Functions that are tried one after the other."""


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
        for above in range(self.above + 1, place + 1):
            if name in variables_bound(suite[place - above]):
                return above
        return None

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
    own = own_frames(traceback)
    if not own:
        raise CompareError(_("The traceback has no line of a file of yours."))
    found = []
    first = next((place for place, entry in enumerate(own) if entry.tb_frame is asker), 0)
    for entry in own[first : first + _MOST]:
        block = Block.at(entry.tb_frame)
        found.append(RaisingLines(block.code, entry.tb_lineno, block.module, 0, entry.tb_frame))
    return found


def own_frames(traceback: TracebackType | None) -> list[TracebackType]:
    """Return the entries of a traceback that are of the user's own files, the outermost first."""
    libraries = library_folders()
    found = []
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if linecache.getlines(name) and belongs_to_user(name, libraries):
            found.append(traceback)
        traceback = traceback.tb_next
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
