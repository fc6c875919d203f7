"""Takes the moving picture of README.md, a failing cell and its way to one that runs, in a plain JupyterLab:

    python tests/browser/moving_picture.py

It needs Pillow (``pip install pillow``), which nothing else here needs.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from browser.front_ends import INSTALL, PATIENCE, command, launch, notebook_of, open_notebook, serve
from browser.screenshots import IMAGES, README

FILE = IMAGES / "from-error-to-fix.gif"
LIMIT = 400_000
"""Bytes of the picture."""
WIDTH, HEIGHT = 920, 600
COLOURS = 48
EDIT = """([position, source]) => {
  const notebook = jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = position;
  notebook.widgets[position].model.sharedModel.setSource(source);
}"""
RAN = "n => jupyterapp.shell.currentWidget.content.model.cells.get(n).executionCount"
SCROLL = "([position, block]) => document.querySelectorAll('.jp-Notebook .jp-Cell')[position].scrollIntoView({block})"


class Film:
    """Frames of a page, each with the time that it stands."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def take(self, milliseconds: int) -> None:
        """Add what the page shows now."""
        self.page.mouse.move(0, 0)
        self.page.wait_for_timeout(800)  # a notebook scrolls softly
        shot = Image.open(io.BytesIO(self.page.screenshot()))
        self.frames.append(shot.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE))
        self.times.append(milliseconds)

    def save(self) -> None:
        """Write the film, which begins again at its end."""
        first, *others = self.frames
        first.save(FILE, save_all=True, append_images=others, duration=self.times, loop=0, optimize=True)
        size = FILE.stat().st_size
        print(f"{FILE.name}: {len(self.frames)} frames, {size / 1000:.0f} kB")
        assert size <= LIMIT, f"{FILE} takes more than {LIMIT} bytes: show less, or fewer colours."


def run(page: Page, position: int) -> None:
    """Run the cell, until it ended and its output stands."""
    page.evaluate("n => { jupyterapp.shell.currentWidget.content.activeCellIndex = n; }", position)
    command(page, "notebook:run-cell")
    page.wait_for_function(RAN, arg=position)


def main() -> None:
    """Film one notebook."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, serve(Path(folder)) as server:
        browser = launch(playwright)
        if browser is None:
            raise SystemExit(INSTALL)
        server.write("film.ipynb", notebook_of(["%load_ext inplace_magic", README, ""]))
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(PATIENCE)
        open_notebook(page, server.lab("film.ipynb"))
        page.wait_for_function(
            "jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel?.status === 'idle'"
        )
        run(page, 0)
        film, cells = Film(page), page.locator(".jp-Notebook .jp-Cell")
        page.evaluate(SCROLL, [1, "start"])
        film.take(1800)
        run(page, 1)
        cells.nth(1).locator("svg.im-graph").wait_for()
        page.evaluate(SCROLL, [1, "start"])
        film.take(4500)
        page.evaluate(EDIT, [2, "%inplace_fix"])
        page.evaluate(SCROLL, [2, "center"])
        film.take(1500)
        run(page, 2)
        cells.nth(3).wait_for()
        page.evaluate(SCROLL, [2, "start"])
        film.take(2500)
        run(page, 3)
        cells.nth(3).locator("svg.im-graph, .inplace-magic").first.wait_for()
        page.evaluate(SCROLL, [2, "start"])
        film.take(4500)
        film.save()
        browser.close()


if __name__ == "__main__":
    main()
