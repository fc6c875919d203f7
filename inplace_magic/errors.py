"""The exceptions that a user of this package can meet, and what an exception came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType


class InplaceMagicError(Exception):
    """Base of all of them."""


class OptionError(InplaceMagicError, ValueError):
    """An option that does not exist, or a value it cannot take."""


class MissingPackageError(InplaceMagicError, ImportError):
    """A needed package is not installed. A report as text, page or JSON needs none."""


class ReportFormatError(InplaceMagicError, ValueError):
    """A saved report that cannot be read: not JSON, not ours, of a newer format, or damaged."""


class CompareError(InplaceMagicError):
    """Two variants that cannot be compared."""


class CopyError(CompareError):
    """A compared program reads an object that cannot be copied, so its runs would affect each other."""

    variable: str | None = None
    """The name of the notebook that holds it, where the program read it and so could not go on."""


def chained(error: BaseException) -> Iterator[BaseException]:
    """Yield the error, its causes and contexts, and the members of a group; each once."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            todo += (one.__cause__, one.__context__, *getattr(one, "exceptions", ()))


def error_text(error: BaseException) -> str:
    """``RuntimeError: text``; an exception whose text cannot be had is told by its type alone."""
    try:
        return f"{type(error).__name__}: {error!s}"
    except Exception:  # one of the user's, with a `__str__` that raises
        return type(error).__name__


def without_entries(error: BaseException, beyond: Callable[[TracebackType], TracebackType | None]) -> None:
    """Takes entries out of the traceback of an error, and of all errors that it came from.

    Args:
        beyond: of an entry the one that shall stand in its place: itself, or one further down.
    """
    for one in chained(error):
        first = entry = _kept(one.__traceback__, beyond)
        if first is not one.__traceback__:
            one.__traceback__ = first
        while entry is not None:
            following = _kept(entry.tb_next, beyond)
            if following is not entry.tb_next:
                entry.tb_next = following
            entry = following


def _kept(entry: TracebackType | None, beyond: Callable[[TracebackType], TracebackType | None]) -> TracebackType | None:
    while entry is not None and (further := beyond(entry)) is not entry:
        entry = further
    return entry
