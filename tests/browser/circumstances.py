"""How a report looks with little room, trust or light: ``python tests/browser/circumstances.py FOLDER``.

Takes a picture of each circumstance into FOLDER and prints a table: how much of the report stands out of the window to
the right, how many of its texts are cut off, its ground, and how many serious things axe-core finds.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SETUP = "%load_ext inplace_magic\nimport torch\nfrom torch import nn\ntorch.manual_seed(0)"
FAILS = """%%inplace_watch --save page.html
logits = torch.randn(4, requires_grad=True)
probs = torch.sigmoid(logits)
probs[2] = 1.0
probs.sum().backward()"""
LOOP = """%%inplace_watch
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters())
x, y = torch.randn(32, 8), torch.randn(32, 1)
for step in range(20):
    opt.zero_grad()
    loss = (model(x) - y).square().mean()
    loss.backward()
    opt.step()"""
REPORT = ".inplace-magic"
OUT = """(reports) => reports.flatMap((report) => [report, ...report.querySelectorAll("*")]).filter((e) => {
  if (!e.checkVisibility() || (e.closest("svg") && e.localName !== "svg")) return false;
  for (let up = e.parentElement; up && !up.classList.contains("inplace-magic"); up = up.parentElement) {
    if (/auto|scroll|hidden/.test(getComputedStyle(up).overflowX)) return false;
  }
  return e.getBoundingClientRect().right > innerWidth + 1;
}).length"""
CUT = """(reports) => reports.flatMap((report) => [...report.querySelectorAll("td,th,p,summary,button,span,div")])
  .filter((e) => getComputedStyle(e).overflowX === "hidden" && !e.querySelector("svg"))
  .filter((e) => e.scrollWidth > e.clientWidth + 1).length"""
DARK = """(reports) => reports.every((report) => {
  const [r, g, b] = getComputedStyle(report).backgroundColor.match(/[\\d.]+/g).map(Number);
  return r + g + b < 300;
})"""


@contextmanager
def _page(browser: Browser, **settings: Any) -> Iterator[Page]:
    context = browser.new_context(**{"viewport": {"width": 1400, "height": 1000}, **settings})
    context.set_default_timeout(PATIENCE)
    try:
        yield context.new_page()
    finally:
        context.close()


def _row(name: str, page: Page, folder: Path, file: str) -> str:
    shown = page.locator(f"{REPORT}:visible")
    page.wait_for_timeout(1000)
    shown.first.scroll_into_view_if_needed()
    page.screenshot(path=folder / f"{file}.png")
    out, cut, dark = (shown.evaluate_all(script) for script in (OUT, CUT, DARK))
    found = serious_findings(page, REPORT)
    for each in found:
        print("   ", each, file=sys.stderr)
    return f"| {name} | {out} | {cut} | {'dark' if dark else 'light'} | {len(found)} |"


def main() -> None:
    """Prints the table."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print("| where | stands out | cut off | ground | axe, serious |\n| --- | --- | --- | --- | --- |")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as work, serve(Path(work)) as server:
        browser = launch(playwright)
        if browser is None:
            raise SystemExit(INSTALL)
        server.write("live.ipynb", notebook_of([SETUP, LOOP, FAILS]))
        with _page(browser) as page:
            open_notebook(page, server.lab("live.ipynb"))
            run_all(page)
            page.locator(f"{REPORT} svg.im-graph").nth(1).wait_for()
            print(_row("JupyterLab, 1400 × 1000", page, folder, "lab"))
            use_theme(page, "JupyterLab Dark")
            print(_row("the same, dark theme", page, folder, "lab-dark"))
            use_theme(page, "JupyterLab Light")
            command(page, "docmanager:save")
        server.sign("live.ipynb")
        received = notebook_of([])
        received.cells = server.read("live.ipynb").cells
        received.metadata = {"kernelspec": {"name": "gone", "display_name": "Gone", "language": "gone"}}
        server.write("received.ipynb", received)
        zoomed = {"viewport": {"width": 700, "height": 500}, "device_scale_factor": 2}
        narrow = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2}
        for name, file, settings in (("at 200 %", "zoom", zoomed), ("360 pixels wide", "narrow", narrow)):
            with _page(browser, **settings) as page:
                open_notebook(page, server.notebook("live.ipynb"))
                page.locator(f"{REPORT} svg.im-graph").nth(1).wait_for()
                print(_row(f"Notebook 7 {name}", page, folder, f"notebook-{file}"))
            with _page(browser, color_scheme="dark", **settings) as page:
                page.goto((server.root / "page.html").as_uri())
                page.locator(f"{REPORT} svg.im-graph").wait_for()
                print(_row(f"saved page {name}, dark", page, folder, f"page-{file}"))
            with _page(browser, **settings) as page:
                open_notebook(page, server.notebook("received.ipynb"))
                button = page.locator(".jp-Dialog button", has_text="No Kernel")
                button.click()
                page.locator(f"{REPORT} img").first.wait_for()
                print(_row(f"Notebook 7 {name}, not trusted", page, folder, f"untrusted-{file}"))
        browser.close()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    from browser.front_ends import (
        INSTALL,
        PATIENCE,
        command,
        launch,
        notebook_of,
        open_notebook,
        run_all,
        serve,
        use_theme,
    )
    from browser.looking import serious_findings

    main()
