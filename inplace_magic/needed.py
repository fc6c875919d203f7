"""A package that is not installed here, said in a sentence where something needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from inplace_magic.errors import MissingPackageError
from inplace_magic.language import _


@contextmanager
def needed(what: str, *packages: str) -> Iterator[None]:
    """Around imports: one that fails because a package is not installed fails with a sentence.

    Args:
        what: needs them, as the subject of a sentence, in the reader's language.
        packages: the packages that may be missing, by the names under which they are imported and installed.

    Raises:
        MissingPackageError: one of them is missing. What else is missing raises as ever.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in packages:
            raise
        told = _("{what} needs the package {package}, which is not installed: `pip install {package}`.")
        raise MissingPackageError(told.format(what=what, package=missing)) from None
