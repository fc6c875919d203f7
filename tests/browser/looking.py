"""Facts about what a page shows, as numbers and lists.

A page that was resized, clicked or given another theme shows it some moments later. So what a test reads of it goes
through :func:`soon`, or is a Playwright expectation, which waits too.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from typing import Any, TypeVar

from axe_playwright_python.sync_playwright import Axe
from browser.front_ends import PATIENCE
from playwright.sync_api import Error, Locator, Page

T = TypeVar("T")
CELLS = """() => [...jupyterapp.shell.currentWidget.content.model.cells].map(cell => cell.type + ": "
  + cell.sharedModel.getSource())"""
INK = """async source => {
  const image = new Image();
  image.src = "data:image/png;base64," + source;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = context.getImageData(0, 0, image.width, image.height).data;
  const ground = pixels.slice(0, 3).join();
  let drawn = 0;
  const colours = new Set();
  for (let i = 0; i < pixels.length; i += 4) {
    const colour = pixels[i] + "," + pixels[i + 1] + "," + pixels[i + 2];
    colours.add(colour);
    if (colour !== ground) drawn++;
  }
  return [drawn, colours.size];
}"""

OUTSIDE = """svg => [...svg.querySelectorAll("g.n")].flatMap(node => {
  const [shape, ...texts] = ["rect,ellipse,path", "text"].flatMap(kind => [...node.querySelectorAll(kind)]);
  const box = shape.getBBox();
  return texts.filter(text => {
    if (!text.textContent.trim()) return false;
    const words = text.getBBox();
    return words.x < box.x - 1 || words.x + words.width > box.x + box.width + 1
      || words.y < box.y - 2 || words.y + words.height > box.y + box.height + 2;
  }).map(text => text.textContent);
})"""


def soon(page: Page, read: Callable[[], T], holds: Callable[[T], bool]) -> T:
    """What is read, as soon as it holds; the last reading when patience ends, so that the assertion can show it.

    Raises:
        Error: nothing could be read until then, because an element was exchanged for another each time.
    """
    end = time.monotonic() + PATIENCE / 1000
    while True:
        late = time.monotonic() > end
        try:
            found = read()
        except Error:
            if late:
                raise
        else:
            if late or holds(found):
                return found
        page.wait_for_timeout(100)


def assert_soon(page: Page, read: Callable[[], T], expected: T) -> None:
    """Asserts that what is read becomes what is expected."""
    found = soon(page, read, lambda found: found == expected)
    assert found == expected, found


def assert_drawn(shown: Locator, *, pixels: int = 5_000, colours: int = 3) -> None:
    """Asserts that a screenshot comes to have so many pixels that are not ground, and so many colours."""
    drawn = soon(shown.page, lambda: ink(shown), lambda found: found[0] > pixels and found[1] > colours)
    assert drawn[0] > pixels
    assert drawn[1] > colours


def cells(page: Page) -> list[str]:
    """The type and the source of each cell, also of those that are not in sight."""
    return list(page.evaluate(CELLS))


def ink(shown: Locator) -> tuple[int, int]:
    """How many pixels differ from the ground, and how many colours there are, in a screenshot."""
    source = base64.b64encode(shown.screenshot()).decode()
    page = shown.page.context.new_page()
    try:
        drawn, colours = page.evaluate(INK, source)
    finally:
        page.close()
    return drawn, colours


def texts_outside_their_boxes(svg: Locator) -> list[str]:
    """The texts in nodes of a graph that reach over the shape around them."""
    return list(svg.evaluate(OUTSIDE))


def overflow(page: Page, selector: str) -> list[str]:
    """Elements that match and stand out of the window to the right."""
    wide = "all => all.filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"
    return list(page.eval_on_selector_all(selector, wide))


def serious_findings(page: Page, selector: str) -> list[str]:
    """What axe-core finds below the selector and calls serious or critical."""
    found: list[dict[str, Any]] = Axe().run(page, context=selector).response["violations"]
    return [
        f"{each['id']}: {node['html'][:150]} {node.get('failureSummary', '')[:300]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
