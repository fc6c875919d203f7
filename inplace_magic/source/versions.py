"""From a code object to the text: where its instructions stand, and which version of a file it was compiled from.

From Python 3.11 on an instruction has columns. Python 3.10 has only the line; the rest comes from the syntax tree.

Somebody edits a module without reloading it, or IPython's ``%autoreload`` puts new code into old functions and numbers
its lines from 1. Then the text at an instruction's line is not what ran, and a report could blame a comment. So the
function at that place is compiled again and compared, instruction by instruction. If another place of the text has the
same instructions, the code is there now. Code outside functions, and functions rewritten by an import hook (pytest's
assertions), have no such twin: for these, the names in the statement must stand where the instructions say.
"""

from __future__ import annotations
import __future__

import ast
import dis
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, SimpleNamespace
from typing import Any

from inplace_magic.record.grouped import grouped
from inplace_magic.source.statements import innermost, segment
from inplace_magic.source.text import FunctionNode, Text, covering, statements_inside

Position = tuple[int | None, int | None, int | None, int | None]
"""(line, end line, column, end column) of an instruction; columns in UTF-8 bytes. Python 3.10 knows the line only."""

_READ_TO_BE_WRITTEN = bytes(dis.opmap.get(name, 255) for name in ("DUP_TOP_TWO", "BINARY_SUBSCR"))
"""How Python 3.10 reads ``x[i]`` of ``x[i] += 1``."""

_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag

_PATCHED = "__autoreload_class__"
"""The class around a method that IPython's autoreload compiles alone. If its name changes one day, lines of
autoreloaded methods are reported as those of an older version."""


@dataclass(frozen=True, eq=False)
class Twin:
    """The text of a code object."""

    text: Text
    code: CodeType
    """The same instructions, with the positions that they have in the text."""


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


def twin_of(code: CodeType, text: Text) -> Twin | None:
    """Return the code object of a text with the same instructions; None where there is none, or several, and for code
    outside of functions and classes."""
    for part in ("here", "whole", "alone") if code.co_name != "<module>" else ():
        found: dict[tuple[int, Any], CodeType] = {}
        for each in _codes(text, code, part).get(code.co_name, ()):
            if _alike(code, each):
                place = each.co_firstlineno, tuple(positions(each))
                if place == (code.co_firstlineno, tuple(positions(code))):
                    return Twin(text, code)
                if part != "here" and _same_name(code, each):
                    found[place] = each
        if found:
            return Twin(text, next(iter(found.values()))) if len(found) == 1 else None
    return None


def explains(code: CodeType, text: Text) -> bool:
    """True if a code object, of a function or of a whole file, was compiled from a text."""
    whole = _codes(text, code, "whole").get(code.co_name, ()) if code.co_name == "<module>" else ()
    return any(_alike(code, each) and positions(each) == positions(code) for each in whole) or bool(twin_of(code, text))


def _codes(text: Text, code: CodeType, part: str) -> dict[str, list[CodeType]]:
    """Return the code objects of a text by the last part of their names; it is compiled once, as a text in many reports
    is one object.

    Args:
        text: the text.
        code: one that was compiled like them.
        part: ``here``: the statement that holds it, with the imports: Python compiles ``torch.exp(x)`` differently if
            the file imports ``torch``. ``whole``: all of the text. ``alone``: its functions and classes without the
            rest, as IPython's autoreload compiles a function on its own.
    """
    body = text.tree.body if text.tree is not None else []
    holding = covering(text.tree, code.co_firstlineno) if text.tree is not None and part == "here" else []
    futures = code.co_flags & _FUTURES
    key = code.co_filename, futures, part, holding[0].lineno if holding else 0
    if key not in text.compiled:
        kinds = {"here": _WITH_IMPORTS, "whole": (ast.stmt,), "alone": (FunctionNode, ast.ClassDef)}[part]
        own: list[ast.stmt] = [node for node in body if isinstance(node, kinds) or node in holding]
        module = _module(ast.Module(own, []), code.co_filename, futures)
        text.compiled[key] = grouped((each.co_name, each) for each in (_inside(module) if module is not None else ()))
    return text.compiled[key]


_WITH_IMPORTS = (ast.Import, ast.ImportFrom, ast.If, ast.Try)


def _module(source: ast.Module, filename: str, futures: int) -> CodeType | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module: CodeType = compile(source, filename, "exec", flags=futures, dont_inherit=True)
            return module
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _inside(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _inside(constant)


def _qualified(code: CodeType) -> str:
    return str(getattr(code, "co_qualname", code.co_name))  # Python 3.10 knows the last part only


def _same_name(code: CodeType, other: CodeType) -> bool:
    mine, its = _qualified(code), _qualified(other)
    if mine.startswith(f"{_PATCHED}."):
        return its.endswith(mine[len(_PATCHED) :])
    return mine == its and (hasattr(code, "co_qualname") or not mine.startswith("<"))


def _alike(one: CodeType, other: CodeType) -> bool:
    """True if two code objects do the same, wherever they stand."""
    if one is other:
        return True
    return (
        one.co_name == other.co_name
        and one.co_code == other.co_code
        and one.co_names == other.co_names
        and one.co_varnames == other.co_varnames
        and one.co_freevars == other.co_freevars
        and one.co_cellvars == other.co_cellvars
        and _same(one.co_consts, other.co_consts)
    )


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, CodeType):
        return _alike(one, other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, str):
        return bool(one.split() == other.split())  # autoreload indents a docstring further
    return bool(one == other) if isinstance(one, frozenset) else repr(one) == repr(other)  # 0.0 is not -0.0


def names_stand_in(text: Text, code: CodeType, line: int, column: int | None) -> bool:
    """True if the names that the statement at a place loads stand in a text where its instructions say."""
    statement = innermost(text.statements_on(line), line, column)
    first = last = line
    loose: frozenset[str] = frozenset()
    if statement is not None:
        inner = next(statements_inside(statement), None)
        first = statement.lineno
        last = max(first, inner.lineno - 1) if inner is not None else statement.end_lineno or first
        loose = _names_without_a_place(statement)
    words = " ".join(text.lines[first - 1 : last])
    loaded = _loaded(code)
    known = statement is not None
    for at in range(first, last + 1):
        for name, exactly, (_line, end_line, begin, end) in loaded.get(at, ()):
            if name in loose:
                continue
            known = True
            if not exactly or end_line is None or begin is None or end is None:
                there = isinstance(statement, ast.Assert) or name in words
            else:
                text_there = segment(text.lines, at, end_line, begin, end)
                mangled = text_there.startswith("__") and name.startswith("_") and name.endswith(text_there)
                there = text_there == name or mangled
            if not there:
                return False
    return known


@lru_cache(maxsize=64)
def _loaded(code: CodeType) -> dict[int, list[tuple[str, bool, Position]]]:
    """Return, by line, each name that a code object loads, with its position, and whether the position is its own."""
    found: dict[int, list[tuple[str, bool, Position]]] = {}
    known = positions(code)
    for instruction in dis.get_instructions(code):
        verb, _, what = instruction.opname.partition("_")
        name = instruction.argval
        plain = what in _NAMED
        if verb != "LOAD" or not (plain or what in _ATTRIBUTES) or not isinstance(name, str):
            continue
        position = known[instruction.offset // 2]
        if position[0] is not None and not name.startswith(("@", ".", "__")):  # pytest's, Python's own
            found.setdefault(position[0], []).append((name, plain, position))
    return found


_NAMED = frozenset(("NAME", "GLOBAL", "FAST", "DEREF", "CLASSDEREF", "FAST_CHECK", "FAST_BORROW"))
"""Not ``LOAD_FAST_AND_CLEAR``, with which Python 3.12 puts a name of the same spelling aside for a comprehension."""
_ATTRIBUTES = frozenset(("ATTR", "METHOD"))


def _names_without_a_place(statement: ast.stmt) -> frozenset[str]:
    """Return the names within f-strings, whose exact place Python before 3.12 does not know."""
    if sys.version_info >= (3, 12):
        return frozenset()
    strings = (node for node in ast.walk(statement) if isinstance(node, ast.JoinedStr))
    return frozenset(inner.id for node in strings for inner in ast.walk(node) if isinstance(inner, ast.Name))
