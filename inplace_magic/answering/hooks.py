"""In scripts, the answer below the traceback of an unhandled error, in any thread."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any

from inplace_magic.language import _
from inplace_magic.render.deliver import complain, has_note, say

_before: dict[str, Any] = {}
"""The hooks that ours replaced, by name; empty if ours are not installed."""
_is_on = False
_told: int | None = None
"""The `id` of the last answered error."""


def install() -> None:
    """Print the cause of an autograd error below its traceback from now on, for errors that nobody handles.

    Nothing is watched and nothing hooked into torch, so the program is the same until it fails. The hook that was there
    before prints the traceback. A second call changes nothing; :func:`uninstall` takes it back. In a notebook,
    ``%load_ext inplace_magic`` does the same.
    """
    global _is_on  # as the hooks are, of the process
    _is_on = True
    if not _before:
        _before.update(main=sys.excepthook, thread=threading.excepthook)
        sys.excepthook, threading.excepthook = _excepthook, _threading_excepthook


def uninstall() -> None:
    """Undo :func:`install`. If somebody else has put a hook in front of ours, ours stays but prints nothing."""
    global _is_on
    _is_on = False
    if sys.excepthook is _excepthook and threading.excepthook is _threading_excepthook:
        sys.excepthook, threading.excepthook = _before.pop("main"), _before.pop("thread")


def tell(error: BaseException) -> None:
    """Print the answer to an error, if any, on standard error, once. Never raises."""
    global _told
    if _told == id(error) and error is getattr(sys, "last_value", None):
        return
    _told = id(error)
    try:
        from inplace_magic.answering.asked import answer_of

        found = None if has_note(error) else answer_of(error)
        if found is not None:
            told = _("`python -m inplace_magic {program}` runs it under a watch, which names the line.")
            say(f"\n{found}" if found.certain else f"\n{found}\n  {told.format(program=sys.argv[0])}")
    except Exception as fault:  # a boundary: the program has ended as it did
        complain(_("the answer could not be shown"), fault)


def _excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    _before["main"](kind, error, traceback)
    if _is_on:
        tell(error)


def _threading_excepthook(args: threading.ExceptHookArgs) -> None:
    _before["thread"](args)
    if _is_on and args.exc_value is not None:
        tell(args.exc_value)
