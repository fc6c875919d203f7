"""Where a call happened: at run time only code objects and instruction offsets, after the cell lines, text and names.

A place is a chain of the user's own frames, innermost first, up to the watched cell. Frames of torch, of installed
packages and of this package are never part of it: the line that called them is.
"""

from __future__ import annotations

import ast
import linecache
import os
import site
import sysconfig
from collections.abc import Mapping
from dataclasses import replace
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

import torch

from inplace_magic.trace import Callsite

RawChain = tuple[int, ...]
"""``(indirect, id(code), f_lasti, id(code), f_lasti, …)``; the code objects are kept alive by :class:`CallsiteTable`.
``indirect`` is 1 when library code stands between the first place and the torch function."""


def _library_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders.update(site.getsitepackages() if hasattr(site, "getsitepackages") else ())
    folders.add(site.getusersitepackages())
    folders.add(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folders.add(os.path.dirname(os.path.abspath(torch.__file__)))
    return tuple(os.path.join(folder, "") for folder in sorted(folders) if folder)


class CallsiteTable:
    """Collects places during the watch and resolves them after it."""

    def __init__(self) -> None:
        self._libraries = _library_folders()
        self._is_user: dict[str, bool] = {}
        self._override_files = (torch.overrides.__file__, torch._tensor.__file__)
        self._codes: dict[int, CodeType] = {}
        self.chains: list[RawChain] = []
        self._numbers: dict[RawChain, int] = {}
        self.root: CodeType | None = None
        """Code of the frame that began the watch: the chain ends there."""

    def note(self, frame: FrameType | None, function: CodeType | None = None) -> int | None:
        """The number of the place at `frame`; None when no frame is the user's.

        Args:
            frame: the frame that called the torch function, or torch's override machinery.
            function: code of the torch function where it is written in Python; its frame is part of the call.
        """
        chain: list[int] = [0]
        is_user = self._is_user
        codes = self._codes
        root = self.root
        while frame is not None:
            code = frame.f_code
            filename = code.co_filename
            mine = is_user.get(filename)
            if mine is None:
                mine = is_user[filename] = self._belongs_to_user(filename)
            if mine:
                key = id(code)
                if key not in codes:
                    codes[key] = code
                chain.append(key)
                chain.append(frame.f_lasti)
            elif len(chain) == 1 and code is not function and filename not in self._override_files:
                chain[0] = 1
            if code is root:
                break
            frame = frame.f_back
        if len(chain) == 1:
            return None
        raw = tuple(chain)
        number = self._numbers.get(raw)
        if number is None:
            number = self._numbers[raw] = len(self.chains)
            self.chains.append(raw)
        return number

    def _belongs_to_user(self, filename: str) -> bool:
        if filename.startswith("<"):
            return filename.startswith(("<ipython-input", "<stdin", "<string", "<cell", "<doctest"))
        return not os.path.abspath(filename).startswith(self._libraries)

    def resolve(self, sources: Sources) -> list[Callsite]:
        """All places collected so far, by their numbers."""
        made: dict[RawChain, Callsite] = {}
        return [self._resolve(chain, sources, made) for chain in self.chains]

    def _resolve(self, chain: RawChain, sources: Sources, made: dict[RawChain, Callsite]) -> Callsite:
        known = made.get(chain)
        if known is None:
            caller = self._resolve((0, *chain[3:]), sources, made) if len(chain) > 3 else None
            place = sources.locate(self._codes[chain[1]], chain[2], caller)
            known = made[chain] = replace(place, direct=False) if chain[0] else place
        return known


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
            statement = _statement_text(tree, line, lines)
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
            function=getattr(code, "co_qualname", code.co_name),
            caller=caller,
            end_line=end_line,
            column=column,
            end_column=end_column,
            expression=expression,
            statement=statement,
            parameters=code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],
        )

    def _lines(self, filename: str) -> list[str]:
        return [line.rstrip("\n") for line in linecache.getlines(filename)]

    def _tree(self, filename: str) -> ast.AST | None:
        if filename not in self._trees:
            try:
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


def _statement_text(tree: ast.AST, line: int, lines: list[str]) -> str:
    """Source of the innermost statement on `line`; of a compound statement, its header."""
    best: ast.stmt | None = None
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.stmt)
            and node.lineno <= line <= (node.end_lineno or node.lineno)
            and (best is None or node.lineno >= best.lineno)
        ):
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
