"""Write a report to a file, or print one line on failure.

The magics and a script's ``with watch()`` write files this way, with the same file, sentences and handling of failures.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import _, use_language

if TYPE_CHECKING:
    from inplace_magic.record.options import ShowOptions
    from inplace_magic.report import Report

MARK = "inplace_magic: "
"""The first words of this package's own messages; they also identify its note on an exception."""


def write(report: Report, path: str, show: ShowOptions, *, told: TextIO | None = None) -> None:
    """Save a report to a file and print its path, on standard output if no stream is given. Never raises: the watched
    code has its result already."""
    target = os.path.abspath(os.path.expanduser(path))
    with boundary(_("the report could not be saved to {file}").format(file=target)):
        from inplace_magic.render.save import save

        save(report, target, raw=show.raw, graph=show.graph)
        with use_language(report.language, report.framework):
            print(_("inplace_magic: report saved to {file}").format(file=target), file=told)


def tell(report: Report, *, quiet: bool = False) -> None:
    """Say on standard error what went wrong, else, unless `quiet`, in one line that nothing did. Never raises."""
    with boundary(_("the report could not be shown")):
        say(telling(report, quiet=quiet))


def telling(report: Report, *, quiet: bool = False) -> str:
    """What :func:`tell` says."""
    from inplace_magic.render.text import to_findings
    from inplace_magic.render.verdict import verdict

    serious = [hazard for hazard in report.hazards if hazard.is_alarm]
    said = f"\n{to_findings(report, serious)}\n" if serious else MARK + verdict(report)
    return "\n".join([*([said] if serious or not quiet else []), *(MARK + fault for fault in report.faults)])


def give(report: Report, form: str, path: str | None, stream: TextIO | None) -> None:
    """Write the findings in one of :data:`.machines.FORMATS`, in one piece, to the file, else to the stream, which the
    program may have closed. Never raises."""
    with boundary(_("the report could not be shown")):
        from inplace_magic.render.machines import FORMATS
        from inplace_magic.render.save import write as write_file

        with use_language(report.language, report.framework):
            text = FORMATS[form](report)
        if path is not None:
            write_file(path, f"{text}\n")
        elif text and stream is not None:
            stream.write(f"{text}\n")
            stream.flush()


def say(text: str, stream: TextIO | None = None) -> None:
    """Print something of ours, empty or not, as the terminal shows it best, on standard error if no stream is given; a
    program may have closed either."""
    stream = sys.stderr if stream is None else stream
    if not text or stream is None:
        return
    from inplace_magic.render.terminal import fitted

    with suppress(AttributeError, ValueError):  # what a program has put there need be no open file
        sys.stdout.flush()
    stream.write(f"{fitted(text, stream)}\n")  # at once: between two writes another rank's line may come


def attach(report: Report, error: BaseException) -> None:
    """Add the finding to the notes of the error that ended the block, once, so that a traceback, pytest or a log shows
    both. If notes are not shown, print it on standard error. Never raises, like :func:`write`.

    Notes: https://peps.python.org/pep-0678, Python 3.11, IPython 8.14.
    """
    with boundary(_("the report could not be shown")):
        from inplace_magic.render.text import to_note

        note = to_note(report)
        if not note or has_note(error):
            return
        if hasattr(error, "add_note"):
            error.add_note(MARK + note)
        if not hasattr(error, "add_note") or _in_an_old_shell():
            say(MARK + note)


def has_note(error: BaseException | None) -> bool:
    notes = getattr(error, "__notes__", None)
    return isinstance(notes, list) and any(isinstance(note, str) and note.startswith(MARK) for note in notes)


def _in_an_old_shell() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and shell.get_ipython() is not None and shell.version_info[:2] < (8, 14)


@contextmanager
def boundary(what: str) -> Iterator[None]:
    """Turn what fails in a block into one line: the watched code has its result already."""
    try:
        yield
    except InplaceMagicError as error:
        print(MARK + str(error), file=sys.stderr)
    except Exception as error:
        complain(what, error)


def complain(what: str, error: Exception) -> None:
    """One line on a fault of ours, asking to report it."""
    fault = " ".join(f"{type(error).__name__}: {error}".split())
    text = _(
        "inplace_magic: {what} ({error}). The result of your cell is not affected. This is a fault of inplace_magic; "
        "please report it with this line."
    )
    print(text.format(what=what, error=fault), file=sys.stderr)
