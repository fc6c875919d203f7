"""``inplace_magic.answer()``, and the answer to one error, which is made once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from inplace_magic.answering import marimo
from inplace_magic.errors import chained
from inplace_magic.record.answer import Answer


def last_error() -> BaseException | None:
    """Return the error that is being handled, else the last that nobody handled, in a script or a notebook."""
    asked = (getattr(sys, name, None) for name in ("last_value", "last_exc"))  # the second alone from Python 3.12 on
    found = (sys.exc_info()[1], *asked, marimo.last_error())
    return next((error for error in found if error is not None), None)


@dataclass(slots=True)
class _Latest:
    """The answer made last, and the `id` of its error, which it does not keep alive."""

    key: int | None = None
    answer: Answer | None = None


_latest = _Latest()
_KINDS = RuntimeError, ValueError, SystemError
"""What PyTorch's autograd raises, and what Paddle's does besides."""


def answer(error: BaseException | None = None) -> Answer | None:
    """Return what caused an autograd error that nobody watched; None where there is no error, or one of another kind.

    Nothing runs again: the traceback, the graph that is still alive and the text of the cells tell. In a notebook the
    extension need not have been loaded when the cell failed; in a script ask in the ``except`` block, or after the
    error was printed, as in a debugger.

    Args:
        error: None: the one that is being handled, else the last that nobody handled.

    Example:
        >>> found = inplace_magic.answer()
        >>> found.mutation.line if found and found.certain else found and found.candidates
    """
    raised = error if error is not None else last_error()
    if raised is None:
        return None
    if _is_of_the_shell(raised):  # a magic that was mistyped: the question is about the failure before it
        return _latest.answer
    return answer_of(raised)


def answer_of(error: BaseException, number: int | None = None) -> Answer | None:
    """Return the answer to an error; of the last that nobody handled it is made once, since names go on to change.

    Args:
        error: with its traceback.
        number: execution count of the cell that raised it, where that is known.
    """
    if error is not getattr(sys, "last_value", None):  # nothing keeps it: a later one can have its `id`
        return made(error, number)
    if _latest.key != id(error):
        _latest.key, _latest.answer = id(error), made(error, number)
    return _latest.answer


def is_known(error: BaseException) -> bool:
    """Whether the answer to an error was made, and so shown, already."""
    return _latest.key == id(error)


def made(error: BaseException, number: int | None, cells: Mapping[str, int] | None = None) -> Answer | None:
    """Return the answer to an error, made anew.

    Args:
        error: with its traceback.
        number: execution count of the cell that raised it, where that is known.
        cells: execution count by compiled file name, where cells run under other names than the shell gave them.
    """
    can_be = any(map(_can_be_explained, chained(error)))  # else nothing is loaded for it
    if not can_be or not {"torch", "paddle"} & set(sys.modules):
        return None
    from inplace_magic.answering.sessions import at_hand
    from inplace_magic.postmortem import answer_to

    namespace, ran = at_hand(error, number, cells)
    return answer_to(error, namespace=namespace, cells=ran)


def _can_be_explained(error: BaseException) -> bool:
    """Whether it is of autograd's kinds, or says that something is None, as a gradient can be."""
    text = error.args[0] if error.args else None
    of_none = isinstance(error, (TypeError, AttributeError)) and type(text) is str and "NoneType" in text
    return isinstance(error, _KINDS) or of_none


def _is_of_the_shell(error: BaseException) -> bool:
    return type(error).__module__.startswith("IPython.")
