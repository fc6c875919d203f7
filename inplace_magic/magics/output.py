"""What a watched cell shows: one display, a widget where asked for, cards of a story, one line where we failed.

A fault of ours never reaches the user's cell, whose result stands already: it is contained here and named.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inplace_magic.deliver import complain
from inplace_magic.language import N_, _, use_language
from inplace_magic.record.options import ShowOptions

if TYPE_CHECKING:
    from inplace_magic.hazards import Hazard
    from inplace_magic.report import Report

WHOLE_STORY = N_("`%inplace_report` shows the whole story so far.")


def show(shell: Any, report: Report, options: ShowOptions, *, beside_widget: bool = False, told: bool = False) -> None:
    """Displays a report as one output.

    Args:
        shell: where to show it.
        report: what to show.
        options: how.
        beside_widget: a widget that shows the picture follows.
        told: its findings were shown before.
    """
    try:
        from inplace_magic.render import to_mimebundle

        bundle = to_mimebundle(
            report,
            raw=options.raw,
            graph=options.graph,
            opened=options.opened,
            beside_widget=beside_widget,
            told=told,
        )
        publish(shell, bundle)
    except Exception as error:  # a boundary, see above
        complain(_("the report could not be displayed"), error)


def publish(shell: Any, bundle: Mapping[str, str], *, apart: bool = False) -> None:
    """Displays it; in a terminal, whose text is all that is shown, with lines of its width and its colours.

    Args:
        shell: where.
        bundle: by MIME type.
        apart: in a terminal, with an empty line above.
    """
    if sys.stdout is not None and sys.stdout.isatty():
        from inplace_magic.render.terminal import fitted

        text = fitted(bundle["text/plain"], sys.stdout)
        bundle = {**bundle, "text/plain": f"\n{text}" if apart else text}
    shell.display_pub.publish(data=bundle)


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


def show_cards(shell: Any, report: Report, hazards: Sequence[Hazard], *, more: str = WHOLE_STORY) -> None:
    """Displays some findings of a report as one output, with a sentence on where the rest is."""
    try:
        from inplace_magic.render import to_card_mimebundle

        with use_language(report.language, report.framework):
            told = _(more)
        publish(shell, to_card_mimebundle(report, hazards, more=told))
    except Exception as error:  # a boundary, see above
        complain(_("a finding could not be displayed"), error)
