"""What a watched cell leaves behind: one display, one file where asked for, one line where we failed.

A fault of ours never reaches the user's cell, whose result stands already: it is contained here and named.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import N_, _, use_language
from inplace_magic.options import WatchOptions

if TYPE_CHECKING:
    from inplace_magic.hazards import Hazard
    from inplace_magic.report import Report

WHOLE_STORY = N_("`%inplace_report` shows the whole story so far.")


def show(shell: Any, report: Report, options: WatchOptions) -> None:
    """Displays a report as one output."""
    try:
        from inplace_magic.render import to_mimebundle

        shell.display_pub.publish(data=to_mimebundle(report, raw=options.raw, graph=options.graph))
    except Exception as error:  # a boundary, see above
        complain(_("the report could not be displayed"), error)


def show_widget(shell: Any, report: Report, name: str) -> None:
    """Displays a report as a widget, as a second output.

    Args:
        shell: where to show it.
        report: what to show.
        name: the variable that holds the widget, or shall; empty for none. A widget that is there takes the report in
            and is shown where it stands already.
    """
    try:
        from IPython.display import display

        from inplace_magic.widgets.report_widget import ReportWidget

        known = shell.user_ns.get(name)
        if isinstance(known, ReportWidget) and known.comm is not None:
            known.add(report)
            return
        widget = ReportWidget(report)
        if name:
            shell.user_ns[name] = widget
        display(widget)  # type: ignore[no-untyped-call]  # IPython leaves it without annotations
    except Exception as error:  # a boundary, see above
        complain(_("the widget could not be displayed"), error)


def show_cards(shell: Any, report: Report, hazards: Sequence[Hazard]) -> None:
    """Displays some findings of a report as one output."""
    try:
        from inplace_magic.render import to_card_mimebundle

        with use_language(report.language):
            more = _(WHOLE_STORY)
        shell.display_pub.publish(data=to_card_mimebundle(report, hazards, more=more))
    except Exception as error:  # a boundary, see above
        complain(_("a finding could not be displayed"), error)


def write(report: Report, options: WatchOptions, path: str) -> None:
    """Saves a report to a file and prints where it is."""
    target = os.path.abspath(os.path.expanduser(path))
    try:
        from inplace_magic.render.save import save

        save(report, target, raw=options.raw, graph=options.graph)
    except InplaceMagicError as error:
        print(f"inplace_magic: {error}", file=sys.stderr)
    except Exception as error:  # a boundary, see above
        complain(_("the report could not be saved to {file}").format(file=target), error)
    else:
        with use_language(report.language):
            print(_("inplace_magic: report saved to {file}").format(file=target))


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
