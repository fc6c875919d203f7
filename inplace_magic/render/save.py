"""A report to a file: the suffix picks the format, and the file is there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import _
from inplace_magic.render.graph.layout import to_png
from inplace_magic.report import Report


class SaveError(InplaceMagicError, OSError):
    """The file cannot be written there; an ``OSError`` too, for code that treats it as any other failed write."""


def _csv(report: Report) -> str:
    frame = report.to_frame("calls")
    for column in frame.columns.difference(["values"]):  # those are numbers of ours, and may be negative
        frame[column] = frame[column].map(_harmless)
    text: str = frame.to_csv(index=False)
    return text


def _harmless(cell: Any) -> Any:
    """A spreadsheet program runs a text that begins like this as a formula, even one from a stranger's report. And
    before Python 3.11 a table with a null character cannot be written."""
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\0", "\ufffd")
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text


WRITERS: dict[str, Callable[[Report, bool, bool], str | bytes]] = {
    ".html": lambda report, raw, graph: report.to_html(raw=raw, graph=graph),
    ".svg": lambda report, raw, graph: report.to_svg(raw=raw),
    ".png": lambda report, raw, graph: to_png(report.to_svg(raw=raw)),
    ".dot": lambda report, raw, graph: report.to_dot(raw=raw),
    ".json": lambda report, raw, graph: report.to_json(indent=1) + "\n",
    ".csv": lambda report, raw, graph: _csv(report),
}
"""What each suffix writes; ``.csv`` is the table of calls."""


def save(report: Report, path: str | os.PathLike[str], *, raw: bool = False, graph: bool = True) -> Path:
    """As :meth:`.Report.save`. A symbolic link stays one, and the file that it points to is replaced. A file marked
    read-only is left alone; ``.svg``, ``.png`` and ``.dot`` are the picture whatever `graph` says."""
    target = Path(path).expanduser()
    writer = WRITERS.get(target.suffix.lower())
    if writer is None:
        text = _("The report was not saved to {path}: the name must end in {suffixes}.")
        raise InplaceMagicError(text.format(path=target, suffixes=", ".join(WRITERS)))
    return write(target, writer(report, raw, graph))


def write(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file whole or not at all, and return its path.

    Raises:
        SaveError: it cannot be written there; what was in it is still there.
    """
    target = Path(path).expanduser()
    try:
        _replace(Path(os.path.realpath(target)), content)
    except (OSError, ValueError) as error:  # ValueError: a NUL or half a surrogate pair in the path
        text = _(
            "The report was not saved to {path}: {error}. Give a path in a folder that exists and that you may write "
            "to."
        )
        raise SaveError(text.format(path=target, error=getattr(error, "strerror", None) or error)) from error
    return target


def _replace(target: Path, content: str | bytes) -> None:
    mode = _mode(target)
    if target.is_dir():
        raise IsADirectoryError(_("{path} is a folder").format(path=target))
    if not mode & 0o222:
        # Asked of the mode, because the folder's permissions alone decide whether os.replace may do it.
        raise PermissionError(_("{path} is marked read-only").format(path=target))
    # In the same folder, because os.replace is atomic only within one file system.
    handle, temporary = tempfile.mkstemp(prefix=".inplace_magic-", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", errors="replace"))
            file.flush()
            os.fsync(handle)  # else a power cut after the rename can leave an empty file under the old name
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:  # Ctrl-C too
        os.unlink(temporary)
        raise


def _mode(target: Path) -> int:
    """Return the permissions of the file that is replaced, else those of a new file; a temporary file has narrower
    ones."""
    try:
        return target.stat().st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
