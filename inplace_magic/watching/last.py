"""The report that was made last in this process, by a cell or by a block."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inplace_magic.report import Report

_last: Report | None = None
_put_off: Callable[[], object] | None = None


def last_report() -> Report | None:
    """Return the report that was made last, of a cell or of a ``with watch():`` block; None where there is none.

    Example:
        >>> inplace_magic.last_report().memory
    """
    if _put_off is not None:
        _put_off()
    return _last


def note(report: Report) -> None:
    """Makes a report the last one."""
    global _last
    _last = report


def put_off(make: Callable[[], object] | None) -> None:
    """Names what makes a report that is due; None: none is."""
    global _put_off
    _put_off = make
