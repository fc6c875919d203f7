"""The exceptions that a user of this package can meet, and what an exception came from."""

from __future__ import annotations

from collections.abc import Iterator


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
