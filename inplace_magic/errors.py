"""The exceptions that a user of this package can meet, and what an exception came from."""

from __future__ import annotations

from collections.abc import Iterator


class InplaceMagicError(Exception):
    """Base of all of them."""


class OptionError(InplaceMagicError, ValueError):
    """An option that does not exist, or a value it cannot take."""


class MissingPackageError(InplaceMagicError, ImportError):
    """A package that something needs and that is not installed; a report as text, page or JSON needs none."""


class ReportFormatError(InplaceMagicError, ValueError):
    """A saved report that cannot be read: not JSON, not ours, of a newer format, or damaged."""


class CompareError(InplaceMagicError):
    """Two variants that cannot be compared."""


class CopyError(CompareError):
    """Something that a compared program reads and that cannot be copied, so that its runs would see each other."""

    variable: str | None = None
    """The name of the notebook that holds it, where the program read it and so could not go on."""


def chained(error: BaseException) -> Iterator[BaseException]:
    """Yield the error, what it was raised from and while handling what, and the members of a group; each once."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            todo += (one.__cause__, one.__context__, *getattr(one, "exceptions", ()))
