"""Takes the pictures of docs/fixes.md, a cell that fails and its way to a proven fix, of a notebook as nbconvert shows
it: `python tests/browser/why_pictures.py`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from browser.front_ends import INSTALL, launch, notebook_of
from browser.screenshots import _page, _save

SETUP = "%load_ext inplace_magic\n%inplace_config --lang en\n%xmode Minimal\nimport torch\nx = torch.randn(4)"
FAILS = "w = torch.ones(4, requires_grad=True)\ngate = torch.sigmoid(w * x)\ngate *= 2\ngate.sum().backward()"


def executed() -> Any:
    """The notebook, run, with the cell below that ``%inplace_fix`` asks the front end for."""
    made = notebook_of([SETUP, FAILS, "%inplace_why", "%inplace_fix"])
    asked: list[str] = []

    def note(cell: Any, cell_index: int, execute_reply: Any) -> None:
        asked.extend(each["text"] for each in execute_reply["content"]["payload"] if each["source"] == "set_next_input")

    NotebookClient(made, timeout=300, allow_errors=True, on_cell_executed=note).execute()
    made.cells += notebook_of(asked).cells
    return made


def main() -> None:
    """Shows each cell with what it gave."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            raise SystemExit(INSTALL)
        html = Path(folder) / "page.html"
        html.write_text(HTMLExporter().from_notebook_node(executed())[0], encoding="utf-8")
        with _page(browser) as page:
            page.goto(html.as_uri(), wait_until="domcontentloaded")
            cells = page.locator(".jp-Cell")
            cells.nth(2).get_by_role("button", name="Copy the corrected lines").wait_for()
            _save("why-1-fails", page, cells.nth(1))
            _save("why-2-answers", page, cells.nth(2), 800)
            _save("why-3-fixed", page, cells.nth(4))
        browser.close()


if __name__ == "__main__":
    main()
