"""The exceptions that a user of this package can meet."""

from __future__ import annotations


class InplaceMagicError(Exception):
    """Base of all of them."""


class OptionError(InplaceMagicError, ValueError):
    """An option that does not exist, or a value it cannot take."""


class ReportFormatError(InplaceMagicError, ValueError):
    """A saved report that cannot be read: not JSON, not ours, of a newer format, or damaged."""


class CompareError(InplaceMagicError):
    """Two variants that cannot be compared."""


class CopyError(CompareError):
    """Something that a compared program reads and that cannot be copied, so that its runs would see each other."""

    variable: str | None = None
    """The name of the notebook that holds it, where the program read it and so could not go on."""
