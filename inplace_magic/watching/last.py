"""The newest report of this process, of a cell or a block."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inplace_magic.report import Report

_last: Report | None = None
_put_off: Callable[[], object] | None = None


def last_report() -> Report | None:
    """Return the newest report, of a cell or a ``with watch():`` block, or None.

    Example:
        >>> inplace_magic.last_report().memory
    """
    if _put_off is not None:
        _put_off()
    return _last


def note(report: Report) -> None:
    """Make a report the newest one."""
    global _last
    _last = report


def put_off(make: Callable[[], object] | None) -> None:
    """Store the function that makes a postponed report; None if there is none."""
    global _put_off
    _put_off = make
