"""A report to a file: the suffix picks the format, and the file is there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from inplace_magic.errors import InplaceMagicError
from inplace_magic.report import Report


class SaveError(InplaceMagicError, OSError):
    """The file cannot be written there; an ``OSError`` too, for code that treats it as any other failed write."""


def _html(report: Report, raw: bool, graph: bool) -> str:
    return report.to_html(raw=raw, graph=graph)


def _svg(report: Report, raw: bool, graph: bool) -> str:
    return report.to_svg(raw=raw)


def _dot(report: Report, raw: bool, graph: bool) -> str:
    return report.to_dot(raw=raw)


def _json(report: Report, raw: bool, graph: bool) -> str:
    return report.to_json(indent=1) + "\n"


def _csv(report: Report, raw: bool, graph: bool) -> str:
    return report.to_frame("calls").to_csv(index=False)


WRITERS: dict[str, Callable[[Report, bool, bool], str]] = {
    ".html": _html,
    ".svg": _svg,
    ".dot": _dot,
    ".json": _json,
    ".csv": _csv,
}
"""What each suffix writes; ``.csv`` is the table of calls."""


def save(report: Report, path: str | os.PathLike[str], *, raw: bool = False, graph: bool = True) -> Path:
    """Writes a report to a file and gives the path back; an existing file is replaced at once, never half.

    Args:
        report: what to write.
        path: where to; the suffix picks the format: ``.html``, ``.svg``, ``.dot``, ``.json`` (opens again with
            ``Report.from_json``) or ``.csv`` (the table of calls).
        raw: write raw ``id`` and ``data_ptr`` into the picture.
        graph: put the picture into the page; ``.svg`` and ``.dot`` are the picture whatever this says.

    Raises:
        InplaceMagicError: another suffix, no such folder, no permission, or a graph that cannot be drawn.
    """
    target = Path(path)
    writer = WRITERS.get(target.suffix.lower())
    if writer is None:
        raise InplaceMagicError(f"The report was not saved to {target}: the name must end in {', '.join(WRITERS)}.")
    text = writer(report, raw, graph)
    temporary = ""
    try:
        # In the same folder, because os.replace is atomic only within one file system.
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with open(handle, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.remove(temporary)
        raise SaveError(
            f"The report was not saved to {target}: {error.strerror or error}. Give a path in a folder that exists and "
            "that you may write to."
        ) from error
    return target


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, else those of a new file; a temporary file has narrower ones."""
    try:
        return target.stat().st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
