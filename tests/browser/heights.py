"""How much of a screen a report takes in JupyterLab: ``python tests/browser/heights.py``.

Prints a table: for each cell the height of its report, with the file browser beside it, as JupyterLab opens, and with
that closed; and how far below the cell's first line the verdict begins. In pixels of a window of 1400 × 1000.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SETUP = """%load_ext inplace_magic
import torch
from torch import nn
torch.manual_seed(0)"""
CELLS = {
    "a saved tensor is overwritten": """%%inplace_watch
logits = torch.randn(4, requires_grad=True)
probs = torch.sigmoid(logits)
probs[2] = 1.0
probs.sum().backward()""",
    "a loop with an in-place ReLU": """%%inplace_watch
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters())
x, y = torch.randn(32, 8), torch.randn(32, 1)
for step in range(20):
    opt.zero_grad()
    loss = (model(x) - y).square().mean()
    loss.backward()
    opt.step()""",
    "a write through a view": """%%inplace_watch
x = torch.zeros(3)
y = x.view(3, 1)
y.add_(1)""",
    "`x = conv(x)`, nothing written": """%%inplace_watch
conv = nn.Conv2d(3, 8, 3)
x = torch.randn(1, 3, 8, 8)
x = conv(x)""",
    "an interrupt": """%%inplace_watch
for i in range(5):
    z = torch.ones(3) * i
raise KeyboardInterrupt""",
}
RUN = """position => {
  jupyterapp.shell.currentWidget.content.activeCellIndex = position;
  jupyterapp.commands.execute("notebook:run-cell");
}"""
RAN = "n => jupyterapp.shell.currentWidget.content.model.cells.get(n).executionCount"
MEASURED = """n => {
  const cell = document.querySelectorAll(".jp-Notebook .jp-Cell")[n], report = cell.querySelector(".inplace-magic");
  const said = [...cell.querySelectorAll(".jp-OutputArea-output")].find((output) => /[✓✗•≠▲] /.test(output.innerText));
  const top = (element) => element.getBoundingClientRect().top;
  return [report.getBoundingClientRect().height, top(said) - top(cell)].map(Math.round);
}"""


def _measured(page: Page) -> list[tuple[int, int]]:
    """Of each cell the height of its report, and how far down its verdict is."""
    found = []
    for position in range(1, len(CELLS) + 1):
        page.locator(".jp-Notebook .jp-Cell").nth(position).scroll_into_view_if_needed()
        page.locator(f".jp-Cell:nth-child({position + 1}) .inplace-magic").wait_for()
        page.wait_for_timeout(2000)  # the live picture is laid out
        height, below = page.evaluate(MEASURED, position)
        found.append((height, below))
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, serve(Path(folder)) as server:
        browser = launch(playwright)
        if browser is None:
            raise SystemExit(INSTALL)
        server.write("heights.ipynb", notebook_of([SETUP, *CELLS.values()]))
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(PATIENCE)
        open_notebook(page, server.lab("heights.ipynb", files=True))
        page.wait_for_function(
            "jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel?.status === 'idle'"
        )
        for position in range(len(CELLS) + 1):  # a cell that fails ends "Run all"
            page.evaluate(RUN, position)
            page.wait_for_function(RAN, arg=position)
        beside = _measured(page)
        command(page, "application:toggle-left-area")
        alone = _measured(page)
        print("| cell | report | report, no file browser | verdict below the cell's first line |")
        print("| --- | --- | --- | --- |")
        for name, (height, below), (wide, _below) in zip(CELLS, beside, alone, strict=True):
            print(f"| {name} | {height} | {wide} | {below} |")
        browser.close()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    from browser.front_ends import INSTALL, PATIENCE, command, launch, notebook_of, open_notebook, serve

    main()
