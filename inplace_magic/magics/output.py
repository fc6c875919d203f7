"""What a watched cell shows: one display, a widget where asked for, cards of a story, one line where we failed.

A fault of ours never reaches the user's cell, whose result stands already: it is contained here and named.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from inplace_magic.errors import MissingPackageError
from inplace_magic.language import N_, _, use_language
from inplace_magic.needed import needed
from inplace_magic.record.options import ShowOptions
from inplace_magic.render.deliver import complain, say

if TYPE_CHECKING:
    from inplace_magic.hazards import Hazard
    from inplace_magic.report import Report


WHOLE_STORY = N_("`%inplace_report` shows the whole story so far.")


def show(shell: Any, report: Report, options: ShowOptions, *, beside_widget: bool = False, told: bool = False) -> None:
    """Displays a report as one output.

    Args:
        shell: where to show it.
    """
    try:
        from inplace_magic.render import to_mimebundle
        from inplace_magic.render.terminal import publish

        bundle = to_mimebundle(
            report, raw=options.raw, graph=options.graph, opened=options.opened, beside_widget=beside_widget, told=told
        )
        publish(shell, bundle)
    except Exception as error:  # a boundary, see above
        complain(_("the report could not be displayed"), error)


def show_widget(shell: Any, report: Report, name: str) -> None:
    """Displays a report as a widget, as a second output.

    Args:
        shell: where to show it.
        name: the variable that holds the widget, or shall; empty for none. A widget that is there takes the report in.
            It is displayed each time: a front end has cleared the output of a cell that runs again.
    """
    try:
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
    except MissingPackageError as error:
        say(f"inplace_magic: {error}")
    except Exception as error:  # a boundary, see above
        complain(_("the widget could not be displayed"), error)


def show_cards(shell: Any, report: Report, hazards: Sequence[Hazard], *, more: str = WHOLE_STORY) -> None:
    """Displays some findings of a report as one output, with a sentence on where the rest is."""
    try:
        from inplace_magic.render import to_card_mimebundle
        from inplace_magic.render.terminal import publish

        with use_language(report.language, report.framework):
            told = _(more)
        publish(shell, to_card_mimebundle(report, hazards, more=told))
    except Exception as error:  # a boundary, see above
        complain(_("a finding could not be displayed"), error)


DELAY = 1.0
"""Seconds before a bar appears; shorter work shows none."""
DELAY_OF_RUNS = 2.0
"""The same of runs whose number is not known beforehand."""


def is_somebody_there(shell: Any = None) -> bool:
    """True if a person looks on: a terminal, or a front end that could ask one for input.

    nbclient, papermill and nbconvert run cells with ``allow_stdin`` off, since nobody could answer; JupyterLab,
    Notebook, VS Code and Colab run them with it on. What a bar writes would stay in the executed notebook.

    Args:
        shell: IPython's shell; None outside.
    """
    parent = getattr(shell, "parent_header", None) if getattr(shell, "kernel", None) is not None else None
    if isinstance(parent, dict):
        return bool(parent.get("content", {}).get("allow_stdin"))
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def runs_shown(name: str, shell: Any = None) -> Iterator[None]:
    """While the block runs, each run on copies is counted by a bar on stderr, where somebody is there and it takes
    longer than :data:`DELAY_OF_RUNS`.
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
    """``range(count)``, with a bar on stderr where somebody is there and it takes longer than :data:`DELAY`.

    The bar is text: a widget would leave an error behind in a notebook that is saved and opened again.
    """
    if not is_somebody_there(shell) or find_spec("tqdm") is None:
        return range(count)
    from tqdm import tqdm

    return tqdm(range(count), desc="inplace_compare", unit="run", delay=DELAY, leave=False, dynamic_ncols=True)
