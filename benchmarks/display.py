"""How long after the end of a watched cell the report is there: in JupyterLab, measured in the browser.

    python benchmarks/display.py [--repeats 5]

A real JupyterLab in a headless Chromium runs each cell, again and again. Printed are medians in milliseconds, from the
moment at which the cell's last statement has run (by the kernel's clock, which is the browser's: both are this
machine's) to the moment at which the browser draws the frame

- `report`: with the verdict, which is there without scripts;
- `live`: with the live picture in place of the still one;
- `widget`: with the picture of the live widget, which `--widget` shows below it.

`plain` is a cell that displays one word of HTML instead: what Jupyter itself takes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

SETUP = """%load_ext inplace_magic
import time, torch
from torch import nn
from IPython.display import HTML
logits, x = torch.zeros(4, requires_grad=True), torch.randn(4, 8)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"""
CELLS = {
    "4 calls": """%%inplace_watch{options}
probs = torch.sigmoid(logits)
probs[2] = 1.0
total = probs.sum()
end = time.time()""",
    "100 training steps": """%%inplace_watch{options}
for step in range(100):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
end = time.time()""",
}
PLAIN = "end = time.time()\nHTML('<i class=\"inplace-magic\">word</i>')"
SEEN = {"report": ".inplace-magic", "live": ".inplace-magic svg.im-graph", "widget": ".im-widget svg.im-graph"}
RUN = """async ([source, sought]) => {
  const notebook = jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = 1;
  await jupyterapp.commands.execute("notebook:clear-cell-output");
  notebook.widgets[1].model.sharedModel.setSource(source);
  const node = notebook.widgets[1].node, seen = {};
  const drawn = new Promise((done) => {
    const look = () => {
      for (const [name, selector] of Object.entries(sought)) {
        if (!(name in seen) && node.querySelector(selector)) seen[name] = performance.timeOrigin + performance.now();
      }
      if (Object.keys(seen).length === Object.keys(sought).length) done();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await jupyterapp.commands.execute("notebook:run-cell");
  await drawn;
  return seen;
}"""


def measured(page: Page, source: str, names: list[str], repeats: int) -> dict[str, float]:
    """Medians of milliseconds; the first run, which loads what later ones have, is left out."""
    taken: dict[str, list[float]] = {name: [] for name in names}
    for run in range(repeats + 1):
        seen = page.evaluate(RUN, [source, {name: SEEN[name] for name in names}])
        end = float(run_cell(page, 2, "print(end * 1000)"))
        for name in names if run else ():
            taken[name].append(seen[name] - end)
    return {name: statistics.median(values) for name, values in taken.items()}


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, serve(Path(folder)) as server:
        browser = launch(playwright)
        if browser is None:
            raise SystemExit(INSTALL)
        page = browser.new_page(viewport={"width": 1200, "height": 1400})
        page.set_default_timeout(PATIENCE)
        server.write("display.ipynb", notebook_of([SETUP, "pass", "pass"]))
        open_notebook(page, server.lab("display.ipynb"))
        run_all(page)
        print(f"{'plain':32} {measured(page, PLAIN, ['report'], repeats)['report']:6.0f} ms")
        for title, cell in CELLS.items():
            for option, names in (("", ["report", "live"]), (" --widget", ["report", "live", "widget"])):
                found = measured(page, cell.format(options=option), names, repeats)
                print(f"{title + option:32} " + "  ".join(f"{name} {found[name]:6.0f} ms" for name in names))
        browser.close()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from browser.front_ends import INSTALL, PATIENCE, launch, notebook_of, open_notebook, run_all, run_cell, serve

    main()
