"""Takes the screenshots of README.md and docs/front-ends.md: `python tests/browser/screenshots.py`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Locator, Page, sync_playwright

if TYPE_CHECKING:
    from browser.front_ends import Server

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
LIMIT = 220_000
"""Bytes of one screenshot."""
CELL = """%%inplace_watch{option}
logits = torch.zeros(4, requires_grad=True)
probs = torch.sigmoid(logits)
probs[2] = 1.0
probs.sum().backward()"""
README = """%%inplace_watch -o report
import torch
logits = torch.randn(4, requires_grad=True)
probs = torch.sigmoid(logits)
probs[2] = 1.0
probs.sum().backward()"""
CELLS = ["%load_ext inplace_magic\nimport torch", CELL.format(option="")]
SETUP = """%load_ext inplace_magic
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(4, 8)"""
LOOP = """%%inplace_watch --widget view
for step in range(100):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()"""
RESIDUAL = """%%inplace_watch
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x):
        return x + self.conv(self.relu(x))

net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), Block())
loss = net(torch.randn(1, 3, 16, 16)).square().mean()
loss.backward()"""
"""The block adds what its ReLU left of its input."""
REPORT = ".jp-OutputArea-output .inplace-magic"
HEIGHT = 3000
"""Pixels of the window: all of a report is in sight at once, so nothing is scrolled away."""


@contextmanager
def _page(browser: Browser, **settings: Any) -> Iterator[Page]:
    context = browser.new_context(**{"viewport": {"width": 1100, "height": HEIGHT}, **settings})
    context.set_default_timeout(60_000)
    try:
        yield context.new_page()
    finally:
        context.close()


def _save(name: str, page: Page, shown: Locator, height: int = 900, top: int = 0) -> None:
    """Writes a part of an element: so many pixels from `top` on."""
    shown.evaluate("element => element.scrollIntoView({ block: 'start' })")
    page.mouse.move(0, 0)  # no box is pointed at
    page.wait_for_timeout(1000)  # a theme fades in, a notebook scrolls softly
    box = shown.bounding_box()
    assert box is not None
    clip = {**box, "y": box["y"] + top, "height": min(box["height"] - top, height)}
    file = IMAGES / f"{name}.png"
    page.screenshot(path=file, clip=clip)
    size = file.stat().st_size
    print(f"{file.relative_to(ROOT)}: {size / 1000:.0f} KB")
    assert size <= LIMIT, f"{file} takes more than {LIMIT} bytes: show less of it."


def _assert_chinese_letters() -> None:
    """Without a font of theirs, Chinese letters would be photographed as empty boxes."""
    fonts = subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True, text=True, check=True).stdout
    if not fonts.strip():
        raise SystemExit("No font here has Chinese letters: install one, such as the package fonts-noto-cjk.")


def live_graph(browser: Browser, server: Server) -> None:
    """Shows the graph of a report with the box that is to blame clicked."""
    server.write("graph.ipynb", notebook_of([SETUP, RESIDUAL]))
    with _page(browser) as page:
        open_notebook(page, server.lab("graph.ipynb"))
        run_all(page)
        report = page.locator(REPORT)
        report.locator("svg.im-graph").wait_for()
        report.locator("svg.im-graph g.guilty").first.click()
        titles = (report.locator("summary", has_text=title).first for title in ("Autograd graph", "Memory by line"))
        above, top, below = (each.bounding_box() for each in (report, *titles))
        assert above is not None
        assert top is not None
        assert below is not None
        _save("live-graph", page, report, round(below["y"] - top["y"]), round(top["y"] - above["y"]))


def main() -> None:
    """Runs a notebook in JupyterLab and shows it as other people will meet it."""
    _assert_chinese_letters()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, serve(Path(folder)) as server:
        browser = launch(playwright)
        if browser is None:
            raise SystemExit(INSTALL)
        server.write("live.ipynb", notebook_of(CELLS))
        server.write("widget.ipynb", notebook_of([SETUP, LOOP]))
        with _page(browser) as page:
            open_notebook(page, server.lab("live.ipynb"))
            run_all(page)
            page.locator(f"{REPORT} svg.im-graph").wait_for()
            page.locator(f"{REPORT} svg.im-graph g.guilty").first.click()
            command(page, "docmanager:save")
            _save("jupyterlab-light", page, page.locator(".jp-Notebook .jp-Cell").nth(1), 840)
            use_theme(page, "JupyterLab Dark")
            _save("jupyterlab-dark", page, page.locator(REPORT), 900, 250)
            use_theme(page, "JupyterLab Light")
        for name, language in (("first-finding", "en"), ("first-finding.zh", "zh")):
            load = f"%load_ext inplace_magic\n%inplace_config --lang {language}"
            server.write(f"{name}.ipynb", notebook_of([load, README]))
            with _page(browser, viewport={"width": 1200, "height": HEIGHT}) as page:
                open_notebook(page, server.lab(f"{name}.ipynb"))
                run_all(page)
                page.locator(f"{REPORT} svg.im-graph").wait_for()
                _save(name, page, page.locator(".jp-Notebook .jp-Cell").nth(1), 1012)
        live_graph(browser, server)
        saved = server.read("live.ipynb")
        received = notebook_of([])
        received.cells = saved.cells
        received.metadata = {"kernelspec": {"name": "gone", "display_name": "Gone", "language": "gone"}}
        server.write("received.ipynb", received)
        with _page(browser) as page:
            open_notebook(page, server.lab("received.ipynb"))
            page.locator(".jp-Dialog button", has_text="No Kernel").click()
            page.locator(f"{REPORT} img").first.wait_for()
            _save("jupyterlab-untrusted", page, page.locator(".jp-Notebook .jp-Cell").nth(1), 930)
        with _page(browser, java_script_enabled=False) as page:
            html = Path(folder) / "page.html"
            html.write_text(HTMLExporter().from_notebook_node(saved)[0], encoding="utf-8")
            page.goto(html.as_uri())
            _save("nbconvert", page, page.locator(".jp-Cell").nth(1), 930)
        with _page(browser, viewport={"width": 1100, "height": 680}) as page:  # its picture's height
            open_notebook(page, server.lab("widget.ipynb"))
            run_all(page)
            widget = page.locator(".im-widget")
            widget.locator("g.n", has_text="T1 x").click()
            page.get_by_role("button", name="Values now").click()
            page.get_by_text("holds now").wait_for()
            page.set_viewport_size({"width": 1100, "height": HEIGHT})
            _save("widget", page, widget)
        browser.close()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    from browser.front_ends import INSTALL, command, launch, notebook_of, open_notebook, run_all, serve, use_theme

    main()
