"""See in a notebook what each line did to PyTorch tensors, and which line broke the gradient.

``%load_ext inplace_magic``, then ``%%inplace_watch`` on top of a cell; outside a notebook,
``with inplace_magic.watch() as w: ...`` and ``w.report``.

Importing this package imports neither torch nor IPython: each public name is loaded at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inplace_magic.answering.asked import answer as answer
    from inplace_magic.answering.hooks import install as install
    from inplace_magic.answering.hooks import uninstall as uninstall
    from inplace_magic.comparing.compare import compare as compare
    from inplace_magic.comparing.comparison import Comparison as Comparison
    from inplace_magic.errors import CompareError as CompareError
    from inplace_magic.errors import CopyError as CopyError
    from inplace_magic.errors import InplaceMagicError as InplaceMagicError
    from inplace_magic.errors import OptionError as OptionError
    from inplace_magic.errors import ReportFormatError as ReportFormatError
    from inplace_magic.hazards import Hazard as Hazard
    from inplace_magic.proving.why import why as why
    from inplace_magic.ranks.watched import watched as watched
    from inplace_magic.record.answer import Answer as Answer
    from inplace_magic.record.options import WatchOptions as WatchOptions
    from inplace_magic.record.places import Callsite as Callsite
    from inplace_magic.record.trace import Trace as Trace
    from inplace_magic.report import Report as Report
    from inplace_magic.watching.api import analyze as analyze
    from inplace_magic.watching.api import watch as watch
    from inplace_magic.watching.last import last_report as last_report
    from inplace_magic.watching.windows import schedule as schedule

__version__ = "0.1.0"

_ROOMS = {
    "answering.asked": ("answer",),
    "answering.hooks": ("install", "uninstall"),
    "comparing.compare": ("compare",),
    "comparing.comparison": ("Comparison",),
    "errors": ("CompareError", "CopyError", "InplaceMagicError", "OptionError", "ReportFormatError"),
    "hazards": ("Hazard",),
    "proving.why": ("why",),
    "ranks.watched": ("watched",),
    "record.answer": ("Answer",),
    "record.options": ("WatchOptions",),
    "record.places": ("Callsite",),
    "record.trace": ("Trace",),
    "report": ("Report",),
    "watching.api": ("analyze", "watch"),
    "watching.last": ("last_report",),
    "watching.windows": ("schedule",),
}
_PUBLIC = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [*sorted(_PUBLIC), "load_ipython_extension", "unload_ipython_extension"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def load_ipython_extension(shell: Any) -> None:
    """Load the extension: ``%load_ext inplace_magic`` calls this. It prints nothing and imports no torch."""
    from inplace_magic.magics.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Unload the extension: ``%unload_ext inplace_magic`` calls this. The shell is as it was before loading."""
    from inplace_magic.magics.extension import unload

    unload(shell)
