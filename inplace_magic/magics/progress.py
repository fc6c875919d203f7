"""A progress bar for long work that somebody waits for, and nothing at all otherwise."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

DELAY = 1.0
"""Seconds before a bar appears; shorter work shows none."""
DELAY_OF_RUNS = 2.0
"""The same of runs whose number is not known beforehand."""


def is_somebody_there(shell: Any = None) -> bool:
    """Whether a person looks on: a terminal, or a front end that could ask one for input.

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
