"""A notebook of marimo's as its runtime knows it: cells without numbers, named in the files that they compile to.

marimo sets no ``sys.last_value``; a cell stores its error. We read objects of the running kernel; if another version
has different ones, nothing is known.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

_CONTEXT = "marimo._runtime.context.types"


def _context() -> Any:
    """Return the running notebook; None outside one."""
    find = getattr(sys.modules.get(_CONTEXT), "safe_get_context", None)
    return find() if callable(find) else None


def namespace() -> Mapping[str, object] | None:
    """Return the names of the running notebook; None outside one."""
    names = getattr(_context(), "globals", None)
    return names if isinstance(names, Mapping) else None


def cells() -> list[tuple[str, str]]:
    """Return compiled file name and text of each cell, each after those whose names it reads."""
    graph = getattr(_context(), "graph", None)
    parents = getattr(graph, "parents", None)
    known: dict[Any, Any] = dict(getattr(graph, "cells", None) or {})
    ordered: dict[Any, None] = {}

    def put(cell: Any) -> None:
        if cell in ordered or cell not in known:
            return
        for each in sorted(parents.get(cell, ()), key=list(known).index) if isinstance(parents, Mapping) else ():
            put(each)
        ordered.setdefault(cell)

    for each in known:
        put(each)
    named = ((getattr(getattr(known[each], "body", None), "co_filename", None), known[each]) for each in ordered)
    return [(name, str(getattr(cell, "code", ""))) for name, cell in named if isinstance(name, str)]


def last_error() -> BaseException | None:
    """Return the error of the last failed cell; None outside a notebook or without a failure."""
    context = _context()
    known = getattr(getattr(context, "graph", None), "cells", None) or {}
    raised = [getattr(cell, "exception", None) for cell in known.values()]
    errors = [error for error in raised if isinstance(error, BaseException)]
    newest = getattr(getattr(getattr(context, "_kernel", None), "debugger", None), "_last_traceback", None)
    return next((error for error in errors if error.__traceback__ is newest), errors[-1] if errors else None)
