"""Runs every cell of the FAQ and writes below it the report that it shows.

    python docs/make_faq.py
    python docs/make_faq.py paddle     where paddle is installed (`.venv-paddle`): the questions on Paddle's tensors

The pages are docs/faq.md and docs/zh/faq.md. Their first code block prepares a notebook. Each block after it that
begins with ``%%inplace_watch`` is run in a fresh namespace, right after that first block, and its report replaces what
stands between it and the next ``</details>``. ``tests/test_docs_faq.py`` fails while a page differs from what its
cells show.
"""

from __future__ import annotations

import gc
import html
import re
import sys
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

DOCS = Path(__file__).resolve().parent
PAGES = (DOCS / "faq.md", DOCS / "zh" / "faq.md")

OF_PADDLE = (DOCS / "faq-paddle.md", DOCS / "zh" / "faq-paddle.md")

_SETUP = re.compile(r"```python\n(?!%%)(.*?)```", re.DOTALL)
_CELL = re.compile(r"```python\n(%%inplace_watch.*?)```\n(?:\n<details>.*?</details>\n)?", re.DOTALL)


def report(shell: InteractiveShell, setup: str, cell: str) -> str:
    """The text of the one report that a cell shows in a fresh namespace after `setup`, whether or not the cell fails.

    Raises:
        SystemExit: the cell showed no report, or several.
    """
    shell.reset()
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        sys.__dict__.pop(name, None)  # an error keeps the tensors of its cell, which Paddle's counters count
    gc.collect()
    with capture_output() as captured:
        shell.run_cell(setup, store_history=True)
        shell.run_cell(cell, store_history=True)
    shown = [output.data["text/plain"] for output in captured.outputs if "text/html" in output.data]
    if len(shown) != 1:
        raise SystemExit(
            f"This cell of the FAQ showed {len(shown)} reports instead of one:\n\n{cell}\n{captured.stdout}"
        )
    return str(shown[0]).strip("\n")


def cells(page: str) -> list[str]:
    """The watched cells of a page, in order."""
    return [match[1] for match in _CELL.finditer(page)]


def setup(page: str) -> str:
    """The code that prepares a notebook for any of the cells.

    Raises:
        SystemExit: the page has none.
    """
    found = _SETUP.search(page)
    if found is None:
        raise SystemExit("A page of the FAQ needs a first code block that loads the extension and imports torch.")
    return found[1]


def page(shell: InteractiveShell, text: str) -> str:
    """The page with the report of each of its cells below it, folded, under its verdict."""
    before = setup(text)

    def with_report(match: re.Match[str]) -> str:
        shown = report(shell, before, match[1])
        verdict = re.sub(r"`(.+?)`", r"<code>\1</code>", html.escape(shown.split("\n", 1)[0], quote=False))
        return (
            f"```python\n{match[1]}```\n\n<details>\n<summary>{verdict}</summary>\n\n"
            f"```text\n{shown}\n```\n\n</details>\n"
        )

    return _CELL.sub(with_report, text)


def main() -> None:
    """Writes the pages."""
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell = InteractiveShell.instance(config=config)
    for path in OF_PADDLE if "paddle" in sys.argv[1:] else PAGES:
        text = path.read_text(encoding="utf-8")
        path.write_text(page(shell, text), encoding="utf-8")
        print(f"{len(cells(text))} reports written to {path.relative_to(DOCS.parent).as_posix()}", file=sys.stderr)


if __name__ == "__main__":
    main()
