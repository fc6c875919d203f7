"""See in a notebook what each line did to PyTorch tensors, and which line broke the gradient.

``%load_ext inplace_magic``, then ``%%inplace_watch`` on top of a cell; outside a notebook,
``with inplace_magic.watch() as w: ...`` and ``w.report``.

Importing this package imports neither torch nor IPython: every public name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inplace_magic.answering.asked import answer
    from inplace_magic.answering.hooks import install, uninstall
    from inplace_magic.comparing.compare import compare
    from inplace_magic.comparing.comparison import Comparison
    from inplace_magic.errors import CompareError, CopyError, InplaceMagicError, OptionError, ReportFormatError
    from inplace_magic.hazards import Hazard
    from inplace_magic.proving.why import why
    from inplace_magic.ranks.watched import watched
    from inplace_magic.record.answer import Answer
    from inplace_magic.record.options import WatchOptions
    from inplace_magic.record.places import Callsite
    from inplace_magic.record.trace import Trace
    from inplace_magic.report import Report
    from inplace_magic.watching.api import analyze, watch
    from inplace_magic.watching.last import last_report
    from inplace_magic.watching.scheduling import schedule

__version__ = "0.1.0"

_PUBLIC = {
    "Answer": "record.answer",
    "Callsite": "record.places",
    "CompareError": "errors",
    "Comparison": "comparing.comparison",
    "CopyError": "errors",
    "Hazard": "hazards",
    "InplaceMagicError": "errors",
    "OptionError": "errors",
    "Report": "report",
    "ReportFormatError": "errors",
    "Trace": "record.trace",
    "WatchOptions": "record.options",
    "analyze": "watching.api",
    "answer": "answering.asked",
    "compare": "comparing.compare",
    "install": "answering.hooks",
    "last_report": "watching.last",
    "schedule": "watching.scheduling",
    "uninstall": "answering.hooks",
    "watch": "watching.api",
    "watched": "ranks.watched",
    "why": "proving.why",
}

__all__ = [
    "Answer",
    "Callsite",
    "CompareError",
    "Comparison",
    "CopyError",
    "Hazard",
    "InplaceMagicError",
    "OptionError",
    "Report",
    "ReportFormatError",
    "Trace",
    "WatchOptions",
    "analyze",
    "answer",
    "compare",
    "install",
    "last_report",
    "load_ipython_extension",
    "schedule",
    "uninstall",
    "unload_ipython_extension",
    "watch",
    "watched",
    "why",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext inplace_magic``; prints nothing and imports no torch."""
    from inplace_magic.magics.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Called by ``%unload_ext inplace_magic``; leaves the shell exactly as it was before loading."""
    from inplace_magic.magics.extension import unload

    unload(shell)
