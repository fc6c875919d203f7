"""A sentence about a missing package, instead of an import error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from inplace_magic.errors import MissingPackageError
from inplace_magic.language import _


@contextmanager
def needed(what: str, *packages: str) -> Iterator[None]:
    """Wrap imports: a missing package raises an error whose text says what to install.

    Args:
        what: subject of the sentence, in the reader's language.
        packages: names of packages that may be missing, as they are imported and installed.

    Raises:
        MissingPackageError: one of them is missing. Other import errors pass through.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in packages:
            raise
        text = _("{what} needs the package {package}, which is not installed: `pip install {package}`.")
        raise MissingPackageError(text.format(what=what, package=missing)) from None
