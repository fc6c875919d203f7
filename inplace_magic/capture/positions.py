"""Where in its source text an instruction stands, as Python tells it: from 3.11 on with columns and qualified names.

Python 3.10 tells the line alone; the rest is found in the syntax tree.
"""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterator
from types import CodeType, SimpleNamespace
from typing import Any

Position = tuple[int | None, int | None, int | None, int | None]
"""(line, end line, column, end column) of an instruction; columns in UTF-8 bytes. Python 3.10 knows the line only."""

_READ_TO_BE_WRITTEN = bytes(dis.opmap.get(name, 255) for name in ("DUP_TOP_TWO", "BINARY_SUBSCR"))
"""How Python 3.10 reads ``x[i]`` of ``x[i] += 1``."""


def positions(code: CodeType) -> list[Position]:
    """One entry for each instruction, which takes two bytes."""
    if hasattr(code, "co_positions"):
        return list(code.co_positions())
    lines = ((line, (end - start) // 2) for start, end, line in code.co_lines())
    return [(line, None, None, None) for line, instructions in lines for _ in range(instructions)]


def node_of(tree: ast.AST | None, code: CodeType, lasti: int, line: int) -> Any:
    """On Python 3.10, the part of the source text that an instruction stands for; None where that is not certain.

    ``executing`` finds expressions by their bytecode. It leaves ``x += 1`` and ``x[i] += 1`` out, which are certain
    where no other statement begins on their line.
    """
    written = dis.opname[code.co_code[lasti]].startswith("INPLACE_")
    read = code.co_code[lasti - 2 : lasti + 1 : 2] == _READ_TO_BE_WRITTEN
    if written or read:
        begun = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno == line] if tree is not None else []
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


def qualified_name(tree: ast.AST | None, code: CodeType) -> str:
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
