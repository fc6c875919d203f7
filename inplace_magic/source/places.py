"""Source text: instruction offsets -> lines, expressions and statements; after the watch, never during it.

Of a module that was edited since it was loaded, no line is quoted that did not run (:mod:`.files`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from types import CodeType
from typing import Any

from inplace_magic.record.filled import filled
from inplace_magic.record.names import AliasStatement, SourceText
from inplace_magic.record.places import Callsite, Whose
from inplace_magic.source.between import Between
from inplace_magic.source.files import Files, function_of
from inplace_magic.source.statements import aliases_in, callsite_at, segment, shared_defaults, span_of
from inplace_magic.source.text import Text
from inplace_magic.source.versions import node_of

_alias = filled(AliasStatement)


class Sources:
    """Source text by compiled file name.

    Args:
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
        self.files = Files((*self._cells, *self._shown))
        """The texts, by compiled file name."""
        self._texts: dict[Whose, Text] = {}
        """The text of each seen function, if known."""
        self._defaults = cache(shared_defaults)  # of this report; a long function has many calls
        self.between = Between(self._texts, self._line_in)
        """What ran between two calls."""

    def locate(self, code: CodeType, lasti: int, caller: Callsite | None) -> Callsite:
        """Return the place of one instruction."""
        filename = code.co_filename
        cell, path = self._where(filename)
        twin = self.files.twin(code, lasti)
        known: dict[str, Any] = {
            "cell": cell,
            "file": path,
            "caller": caller,
            "parameters": code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],
            "function": getattr(code, "co_qualname", code.co_name),
        }
        if twin is None:
            self.files.file(filename).edited = True
            return Callsite(self.files.position(code, lasti)[0] or 0, outdated=True, **known)
        text, code = twin.text, twin.code
        line, end_line, column, end_column = self.files.position(code, lasti)
        if line and (end_line is None or column is None or end_column is None):
            node = node_of(text.statements_on(line), code, lasti, line)
            if node is not None:
                line, column, end_line, end_column = span_of(node)
        function = function_of(text, code)
        if function is not None:
            known |= {"function": function.name, "shared_defaults": self._defaults(function.node)}
        shown = self._shown_line(filename, text, line or 0)
        found = callsite_at(text, (line or 0, column, end_line, end_column), text=shown, **known)
        self._texts.setdefault(found.whose, text)
        return found

    def function_at(self, code: CodeType) -> ast.FunctionDef | None:
        """Return the definition of a function in a file or cell with recorded calls."""
        twin = self.files.twin(code, 0) if code.co_filename in self.files.known else None
        found = function_of(twin.text, twin.code) if twin is not None else None
        node = found.node if found is not None else None
        return node if isinstance(node, ast.FunctionDef) else None

    def place_of(self, code: CodeType, node: ast.expr) -> Callsite | None:
        """Return the place of an expression in the function of `code` from :meth:`function_at`."""
        twin = self.files.twin(code, 0)
        return self.site(twin.text, code.co_filename, node) if twin is not None else None

    def site(
        self,
        text: Text,
        filename: str,
        node: ast.expr | ast.stmt,
        function: str = "<module>",
        caller: Callsite | None = None,
    ) -> Callsite:
        """Return the place of an expression or statement in a text."""
        cell, path = self._where(filename)
        told = {"text": self._shown_line(filename, text, node.lineno), "cell": cell, "file": path, "targets": None}
        return callsite_at(text, span_of(node), function=function, caller=caller, **told)

    @property
    def edited(self) -> tuple[str, ...]:
        """Return the files that changed since they were loaded and no longer have the code that ran."""
        return tuple(name for name, file in self.files.known.items() if file.edited)

    def expression_at(self, code: CodeType, lasti: int) -> str:
        """Source of the expression that one instruction stands for, in whatever file; empty where it is not known.
        Nothing but its own lines is parsed, so it costs as little in a long file as in a short one."""
        line, end_line, column, end_column = self.files.position(code, lasti)
        if line and (end_line is None or column is None or end_column is None):
            node = node_of([], code, lasti, line)
            return ast.unparse(node) if node is not None else ""
        if not line or end_line is None or column is None or end_column is None:
            return ""
        return segment(self.files.file(code.co_filename).versions[0].lines, line, end_line, column, end_column)

    def _line_in(self, site: Callsite, text: Text, line: int) -> str:
        filename = site.file or next((name for name in self._shown if self._cells.get(name) == site.cell), None)
        return self._shown_line(filename, text, line)

    def texts(self) -> tuple[SourceText, ...]:
        """Return the files and cells of the places found so far, except the watched cell, if one text explains all code
        that ran."""
        found: list[SourceText] = []
        for filename, file in self.files.known.items():
            cell, path = self._where(filename)
            located = any(where == [cell, path] for *where, _ in self._texts)
            one = len(file.versions) == 1 and not file.edited and file.versions[0].tree is not None
            if located and one and filename not in self._shown and (cell, path) != (None, None):
                found.append(SourceText(cell, path, tuple(file.versions[0].lines)))
        return tuple(found)

    def aliases(self) -> tuple[AliasStatement, ...]:
        """Return the statements in the seen files and cells that give an object a second name; of a file that was
        changed, those in the functions that ran."""
        found: list[AliasStatement] = []
        for filename, file in self.files.known.items():
            cell, path = self._where(filename)
            for text in file.versions:
                ran = {name for (*where, name), its in self._texts.items() if where == [cell, path] and its is text}
                whole = not file.edited and len(file.versions) == 1
                for function, *entry in aliases_in(text) if ran or (whole and filename in self._shown) else ():
                    if whole or function in ran:
                        found.append(_alias(function, cell, path, *entry))
        return tuple(found)

    def _where(self, filename: str) -> tuple[int | None, str | None]:
        """Return the cell that a compiled file name stands for, or the file."""
        cell = self._cells.get(filename)
        return cell, None if cell is not None or filename.startswith("<") else filename

    def _shown_line(self, filename: str | None, text: Text, line: int) -> str:
        if filename is None or filename not in self._shown:
            return text.line(line)
        return "".join(self._shown[filename][line - 1 : line]).strip() if line > 0 else ""
