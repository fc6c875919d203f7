"""The error that a person asks about without handing it over."""

from __future__ import annotations

import sys

from inplace_magic.answering import marimo


def last_error() -> BaseException | None:
    """Return the error that is being handled, else the last that nobody handled, in a script or a notebook."""
    asked = (getattr(sys, name, None) for name in ("last_value", "last_exc"))  # the second alone from Python 3.12 on
    found = (sys.exc_info()[1], *asked, marimo.last_error())
    return next((error for error in found if error is not None), None)
