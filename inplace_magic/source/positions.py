"""The source position of an instruction, from Python 3.11 on with columns.

Python 3.10 has only the line; the rest comes from the syntax tree.
"""

from __future__ import annotations

import ast
import dis
from types import CodeType, SimpleNamespace
from typing import Any

Position = tuple[int | None, int | None, int | None, int | None]
"""(line, end line, column, end column) of an instruction; columns in UTF-8 bytes. Python 3.10 knows the line only."""

_READ_TO_BE_WRITTEN = bytes(dis.opmap.get(name, 255) for name in ("DUP_TOP_TWO", "BINARY_SUBSCR"))
"""How Python 3.10 reads ``x[i]`` of ``x[i] += 1``."""


def positions(code: CodeType) -> list[Position]:
    """Return one entry for each instruction, which takes two bytes."""
    if hasattr(code, "co_positions"):
        return list(code.co_positions())
    lines = ((line, (end - start) // 2) for start, end, line in code.co_lines())
    return [(line, None, None, None) for line, instructions in lines for _ in range(instructions)]


def node_of(on_line: list[ast.stmt], code: CodeType, lasti: int, line: int) -> Any:
    """On Python 3.10, return the source of an instruction; None if uncertain.

    ``executing`` finds expressions by their bytecode, but not ``x += 1`` and ``x[i] += 1``, which are certain if no
    other statement begins on their line.
    """
    written = dis.opname[code.co_code[lasti]].startswith("INPLACE_")
    read = code.co_code[lasti - 2 : lasti + 1 : 2] == _READ_TO_BE_WRITTEN
    if written or read:
        begun = [node for node in on_line if node.lineno == line]
        only = begun[0] if len(begun) == 1 and isinstance(begun[0], ast.AugAssign) else None
        return only if written or only is None else only.target
    try:
        from executing import Source
    except ImportError:
        return None
    frame: Any = SimpleNamespace(f_code=code, f_lasti=lasti, f_lineno=line, f_globals={"__name__": ""}, f_locals={})
    try:
        return Source.executing(frame).node
    except Exception:  # executing asserts its way through odd bytecode; then the expression is unknown
        return None
