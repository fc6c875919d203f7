"""A report on its way out of the house: to a file, or one line where we failed.

Whoever shows reports (the magics, a script's ``with watch()``) writes files this way, so that the file, the sentences
and what happens on a fault are the same everywhere.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import _, use_language

if TYPE_CHECKING:
    from inplace_magic.record.options import ShowOptions
    from inplace_magic.report import Report

MARK = "inplace_magic: "
"""How what this package says of itself begins; by this one tells that an exception has its note."""


def write(report: Report, path: str, show: ShowOptions, *, told: TextIO | None = None) -> None:
    """Saves a report to a file and says where it is. Never raises: what it is about has its result already.

    Args:
        path: where to; the suffix picks the format.
        told: where the sentence goes; standard output where it is None.
    """
    target = os.path.abspath(os.path.expanduser(path))
    try:
        from inplace_magic.render.save import save

        save(report, target, raw=show.raw, graph=show.graph)
    except InplaceMagicError as error:
        print(f"inplace_magic: {error}", file=sys.stderr)
    except Exception as error:  # a boundary, see above
        complain(_("the report could not be saved to {file}").format(file=target), error)
    else:
        with use_language(report.language, report.framework):
            print(_("inplace_magic: report saved to {file}").format(file=target), file=told)


def tell(report: Report, *, quiet: bool = False) -> None:
    """Says on standard error what went wrong, else in one line that nothing did. Never raises, as :func:`write`.

    Args:
        quiet: where nothing went wrong, say nothing.
    """
    try:
        say(telling(report, quiet=quiet))
    except Exception as error:  # a boundary, see above
        complain(_("the report could not be shown"), error)


def telling(report: Report, *, quiet: bool = False) -> str:
    """What :func:`tell` says."""
    from inplace_magic.render.text import to_findings
    from inplace_magic.render.verdict import verdict

    serious = [hazard for hazard in report.hazards if hazard.is_alarm]
    said = f"\n{to_findings(report, serious)}\n" if serious else MARK + verdict(report)
    return "\n".join([*([said] if serious or not quiet else []), *(MARK + fault for fault in report.faults)])


def give(report: Report, form: str, path: str | None, stream: TextIO | None) -> None:
    """Writes the findings in a format for programs, in one piece. Never raises, as :func:`write`.

    Args:
        form: a key of :data:`inplace_magic.render.machines.FORMATS`.
        path: the file to write to; None: the stream.
        stream: where to without a file; nowhere where the program has closed it.
    """
    try:
        from inplace_magic.render.machines import FORMATS
        from inplace_magic.render.save import write as write_file

        with use_language(report.language, report.framework):
            text = FORMATS[form](report)
        if path is not None:
            write_file(path, f"{text}\n")
        elif text and stream is not None:
            stream.write(f"{text}\n")
            stream.flush()
    except InplaceMagicError as error:
        print(f"inplace_magic: {error}", file=sys.stderr)
    except Exception as error:  # a boundary, see above
        complain(_("the report could not be shown"), error)


def say(text: str, stream: TextIO | None = None) -> None:
    """Prints something of ours, empty or not, as the terminal shows it best.

    Args:
        stream: where to; standard error where it is None. A program may have closed either.
    """
    stream = sys.stderr if stream is None else stream
    if not text or stream is None:
        return
    from inplace_magic.render.terminal import fitted

    with suppress(AttributeError, ValueError):  # what a program has put there need be no open file
        sys.stdout.flush()
    stream.write(f"{fitted(text, stream)}\n")  # at once: between two writes another rank's line may come


def attach(report: Report, error: BaseException) -> None:
    """Adds the finding to the notes of the error that ended the block, once, so that whoever shows the error shows it
    too: a traceback, pytest, a log. Said on standard error where notes are not shown. Never raises, as :func:`write`.

    Notes are those of https://peps.python.org/pep-0678, of Python 3.11 and IPython 8.14.
    """
    try:
        from inplace_magic.render.note import to_note

        note = to_note(report)
        if not note or has_note(error):
            return
        if hasattr(error, "add_note"):
            error.add_note(MARK + note)
        if not hasattr(error, "add_note") or _in_an_old_shell():
            say(MARK + note)
    except Exception as fault:  # a boundary, see above
        complain(_("the report could not be shown"), fault)


def has_note(error: BaseException | None) -> bool:
    """True if one of ours was added to it."""
    notes = getattr(error, "__notes__", None)
    return isinstance(notes, list) and any(isinstance(note, str) and note.startswith(MARK) for note in notes)


def _in_an_old_shell() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and shell.get_ipython() is not None and shell.version_info[:2] < (8, 14)


def complain(what: str, error: Exception) -> None:
    """One line on a fault of ours, asking to report it."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    print(
        _(
            "inplace_magic: {what} ({error}). The result of your cell is not affected. This is a fault of "
            "inplace_magic; please report it with this line."
        ).format(what=what, error=text),
        file=sys.stderr,
    )
