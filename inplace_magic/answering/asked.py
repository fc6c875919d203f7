"""``inplace_magic.answer()``; the answer to one error is made once."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from inplace_magic.errors import chained
from inplace_magic.record.answer import Answer
from inplace_magic.source.shells import marimo_error


def last_error() -> BaseException | None:
    """Return the error being handled, else the last unhandled one, in a script or a notebook."""
    asked = (getattr(sys, name, None) for name in ("last_value", "last_exc"))  # the second alone from Python 3.12 on
    found = (sys.exc_info()[1], *asked, marimo_error())
    return next((error for error in found if error is not None), None)


_latest: dict[int, Answer | None] = {}
"""The newest answer by the `id` of its error, which it does not keep alive."""
_KINDS = RuntimeError, ValueError, SystemError
"""Error types of PyTorch's autograd, and further ones of Paddle's."""


def answer(error: BaseException | None = None) -> Answer | None:
    """Return the cause of an unwatched autograd error; None if there is no error, or another kind.

    Nothing runs again: the answer comes from the traceback, the living graph and the text of the cells. In a notebook
    you can load the extension after the failure. In a script call it in the ``except`` block, or after the error was
    printed, as in a debugger.

    Args:
        error: None: the one that is being handled, else the last that nobody handled.

    Example:
        >>> found = inplace_magic.answer()
        >>> found.mutation.line if found and found.certain else found and found.candidates
    """
    raised = error if error is not None else last_error()
    if raised is None:
        return None
    if type(raised).__module__.startswith("IPython."):  # a mistyped magic: the question is about what failed before
        return next(iter(_latest.values()), None)
    return answer_of(raised)


def answer_of(error: BaseException, number: int | None = None) -> Answer | None:
    """Return the answer to an error; for the last unhandled one it is made once, since names change later.

    Args:
        error: with its traceback.
        number: execution count of the cell that raised it, or None.
    """
    if error is not getattr(sys, "last_value", None):  # nothing keeps it: a later one can have its `id`
        return made(error, number)
    if id(error) not in _latest:
        _latest.clear()
        _latest[id(error)] = made(error, number)
    return _latest[id(error)]


def is_known(error: BaseException) -> bool:
    """True if the answer to an error was already made and shown."""
    return id(error) in _latest


def made(error: BaseException, number: int | None, cells: Mapping[str, int] | None = None) -> Answer | None:
    """Make the answer to an error.

    Args:
        error: with its traceback.
        number: execution count of the cell that raised it, or None.
        cells: execution count by compiled file name, if cells run under other names than the shell gave them.
    """
    can_be = any(map(_can_be_explained, chained(error)))  # else nothing is loaded for it
    if not can_be or not {"torch", "paddle"} & set(sys.modules):
        return None
    from inplace_magic.answering.sessions import at_hand
    from inplace_magic.postmortem import answer_to

    namespace, ran = at_hand(error, number, cells)
    return answer_to(error, namespace=namespace, cells=ran)


def _can_be_explained(error: BaseException) -> bool:
    """True if it is an autograd error, or its text says that something is None, as a gradient can be."""
    text = error.args[0] if error.args else None
    of_none = isinstance(error, (TypeError, AttributeError)) and type(text) is str and "NoneType" in text
    return isinstance(error, _KINDS) or of_none
