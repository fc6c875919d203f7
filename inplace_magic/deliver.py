"""A report on its way out of the house: to a file, or one line where we failed.

Whoever shows reports (the magics, a script's ``with watch()``) writes files this way, so that the file, the sentences
and what happens on a fault are the same everywhere.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import _, use_language
from inplace_magic.record.options import ShowOptions
from inplace_magic.report import Report


def write(report: Report, path: str, show: ShowOptions, *, told: TextIO | None = None) -> None:
    """Saves a report to a file and says where it is. Never raises: what it is about has its result already.

    Args:
        report: what to write.
        path: where to; the suffix picks the format.
        show: how the report is shown.
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
        report: what to tell.
        quiet: where nothing went wrong, say nothing.
    """
    sys.stdout.flush()
    try:
        from inplace_magic.render.text import to_findings
        from inplace_magic.render.verdict import verdict

        serious = [hazard for hazard in report.hazards if hazard.severity != "info"]
        said = f"\n{to_findings(report, serious)}\n" if serious else f"inplace_magic: {verdict(report)}"
        if serious or not quiet:
            print(said, file=sys.stderr)
        for fault in report.faults:
            print(f"inplace_magic: {fault}", file=sys.stderr)
    except Exception as error:  # a boundary, see above
        complain(_("the report could not be shown"), error)


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
