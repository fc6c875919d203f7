"""The output of a watched cell: one display, a widget on request, cards of a story, one line for an internal error.

An internal error never reaches the user's cell, which has its result already: it is contained and reported here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from inplace_magic.language import N_, _, use_language
from inplace_magic.needed import needed
from inplace_magic.record.options import ShowOptions
from inplace_magic.render.deliver import boundary

if TYPE_CHECKING:
    from inplace_magic.hazards import Hazard
    from inplace_magic.report import Report


WHOLE_STORY = N_("`%inplace_report` shows the whole story so far.")


def show(shell: Any, report: Report, options: ShowOptions, *, beside_widget: bool = False, told: bool = False) -> None:
    """Displays a report as one output."""
    with boundary(_("the report could not be displayed")):
        from inplace_magic.render import to_mimebundle
        from inplace_magic.render.terminal import publish

        bundle = to_mimebundle(
            report, raw=options.raw, graph=options.graph, opened=options.opened, beside_widget=beside_widget, told=told
        )
        publish(shell, bundle)


def show_widget(shell: Any, report: Report, name: str) -> None:
    """Display a report as a widget, as a second output.

    Args:
        name: variable for the widget; empty for none. An existing widget takes the report in. It is displayed each
            time: a front end clears the output of a cell that runs again.
    """
    with boundary(_("the widget could not be displayed")):
        from IPython.display import display

        with needed(_("The live view"), "anywidget", "ipywidgets"):
            from inplace_magic.widgets.report_widget import ReportWidget

        widget = shell.user_ns.get(name)
        if isinstance(widget, ReportWidget) and widget.comm is not None:
            widget.add(report)
        else:
            widget = ReportWidget(report)
            if name:
                shell.user_ns[name] = widget
        display(widget)  # type: ignore[no-untyped-call]  # IPython leaves it without annotations


def show_cards(shell: Any, report: Report, hazards: Sequence[Hazard], *, more: str = WHOLE_STORY) -> None:
    """Displays some findings of a report as one output, with a sentence on where the rest is."""
    with boundary(_("a finding could not be displayed")):
        from inplace_magic.render import to_card_mimebundle
        from inplace_magic.render.terminal import publish

        with use_language(report.language, report.framework):
            text = _(more)
        publish(shell, to_card_mimebundle(report, hazards, more=text))


DELAY = 1.0
"""Seconds before a bar appears; shorter work shows none."""
DELAY_OF_RUNS = 2.0
"""The same for runs whose number is unknown beforehand."""


def is_somebody_there(shell: Any = None) -> bool:
    """True if a person is watching: in a terminal, or in a front end that can ask for input.

    nbclient, papermill and nbconvert run cells with ``allow_stdin`` off, JupyterLab, Notebook, VS Code and Colab with
    it on. A bar's text would stay in the executed notebook.

    Args:
        shell: IPython's shell; None outside.
    """
    parent = getattr(shell, "parent_header", None) if getattr(shell, "kernel", None) is not None else None
    if isinstance(parent, dict):
        return bool(parent.get("content", {}).get("allow_stdin"))
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def runs_shown(name: str, shell: Any = None) -> Iterator[None]:
    """In this block, count runs on copies by a bar on stderr, if a person is watching and it takes longer than
    :data:`DELAY_OF_RUNS`.
    """
    from inplace_magic.proving.bench import each_run

    if not is_somebody_there(shell) or find_spec("tqdm") is None:
        yield
        return
    from tqdm import tqdm

    look = "{desc}: {n} {unit}, {elapsed}"
    with tqdm(desc=name, unit="runs", delay=DELAY_OF_RUNS, leave=False, bar_format=look) as bar, each_run(bar.update):
        yield


def steps(count: int, *, shell: Any = None) -> Iterable[int]:
    """Return ``range(count)``, with a bar on stderr if a person is watching and it takes longer than :data:`DELAY`.

    The bar is text: a widget would leave an error behind in a notebook that is saved and opened again.
    """
    if not is_somebody_there(shell) or find_spec("tqdm") is None:
        return range(count)
    from tqdm import tqdm

    return tqdm(range(count), desc="inplace_compare", unit="run", delay=DELAY, leave=False, dynamic_ncols=True)
