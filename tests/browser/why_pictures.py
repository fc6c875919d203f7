"""Takes the pictures of docs/fixes.md in JupyterLab, a cell that fails and its way to a proven fix:
`python tests/browser/why_pictures.py`."""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from browser.front_ends import INSTALL, launch, notebook_of, open_notebook, run_cell, serve
from browser.screenshots import _page, _save

SETUP = "%load_ext inplace_magic\n%inplace_config --lang en\n%xmode Minimal\nimport torch\nx = torch.randn(4)"
FAILS = "w = torch.ones(4, requires_grad=True)\ngate = torch.sigmoid(w * x)\ngate *= 2\ngate.sum().backward()"


def main() -> None:
    """Runs the cells one after the other, and shows each."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, serve(Path(folder)) as server:
        browser = launch(playwright)
        if browser is None:
            raise SystemExit(INSTALL)
        server.write("why.ipynb", notebook_of([SETUP, FAILS, "%inplace_why", "%inplace_fix"]))
        with _page(browser) as page:
            open_notebook(page, server.lab("why.ipynb"))
            cells = page.locator(".jp-Notebook .jp-Cell")
            run_cell(page, 0, SETUP)
            with suppress(AssertionError):  # it fails, as it is meant to
                run_cell(page, 1, FAILS)
            run_cell(page, 2, "%inplace_why")
            cells.nth(2).get_by_role("button", name="Copy the corrected lines").wait_for()
            _save("why-1-fails", page, cells.nth(1))
            _save("why-2-answers", page, cells.nth(2), 640)
            run_cell(page, 3, "%inplace_fix")
            page.get_by_text("gate = gate * 2", exact=False).last.wait_for()
            _save("why-3-fixed", page, cells.nth(4))
        browser.close()


if __name__ == "__main__":
    main()
