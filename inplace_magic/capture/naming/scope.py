"""The names that are in sight where a watched block stands in a file."""

from __future__ import annotations

import dis
import inspect
import sys
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any


def names_in_sight(frame: FrameType) -> dict[str, Any]:
    """Return the globals of a frame, its locals, and what stands in namespaces that were made for ``exec``. A name that
    means two things is the inner one; a frame keeps nothing of it alive."""
    outer, own = frame.f_globals, locals_of(frame)
    executed = {name: value for name, value in {**outer, **own}.items() if was_executed(value)}
    found: dict[str, Any] = {}
    for names in (outer, *executed.values(), own):
        found.update(names)
    return {name: value for name, value in found.items() if name not in executed}


def was_executed(value: object) -> bool:
    """True if it is a namespace: ``exec`` leaves the built-in names there
    (https://docs.python.org/3/library/functions.html#exec)."""
    return type(value) is dict and "__builtins__" in value


def locals_of(frame: FrameType) -> dict[str, Any]:
    """Return the local variables of a function's frame; none of a module's or class's, and none where reading them
    could show.

    Before Python 3.13 (PEP 667) a frame keeps the dict that it once gave, and whoever has it sees it change: a function
    that called ``locals()``, a debugger, which writes it back into the frame. Those are not read. The variables are
    taken out of the dict again, since they would live as long as the frame does; what ``exec`` put there stays.
    """
    code = frame.f_code
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return {}
    if sys.version_info >= (3, 13):
        return dict(frame.f_locals)
    if sys.gettrace() is not None or _asks_for_its_locals(code):
        return {}
    given = frame.f_locals
    names = dict(given)
    if sys.getrefcount(given) <= _REFERENCES:
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            given.pop(name, None)
    return names


def names_of(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a function; of a block, the globals that its code names."""
    code = frame.f_code
    if code.co_flags & inspect.CO_NEWLOCALS:
        return locals_of(frame)
    names = frame.f_globals
    return {name: dict.get(names, name) for name in code.co_names}


_ASKING = frozenset({"_getframe", "currentframe", "locals", "vars"})


def _asks_for_its_locals(code: CodeType) -> bool:
    """True if a function may hold the dict of its local variables, which reading them anew would change. What pytest
    puts into an ``assert`` calls ``locals()`` as an attribute, and does not keep it."""
    # Asked at every call that comes from a new place, and disassembling takes far longer than a look at the names.
    named = (*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars)
    if _ASKING.isdisjoint(named) and _ASKING.isdisjoint(c for c in code.co_consts if type(c) is str):
        return False
    return _names_one_that_gives_them(code)


@lru_cache(maxsize=64)
def _names_one_that_gives_them(code: CodeType) -> bool:
    return any(
        [
            step.argval in ("_getframe", "currentframe")
            or (step.argval in ("locals", "vars") and step.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
            for step in dis.get_instructions(code)
        ]
    )


def _references() -> int:
    given = sys._getframe().f_locals
    return sys.getrefcount(given)


_REFERENCES = _references()
"""To a dict of local variables that nobody but the frame, and the one who just asked for it, has."""
