"""The live widget in a real JupyterLab, too, has the button that copies the corrected lines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser.conftest import Show
from browser.front_ends import Server, notebook_of, run_all
from playwright.sync_api import Page

LOAD = "%load_ext inplace_magic\n%xmode Minimal\nimport torch\nx = torch.ones(3, requires_grad=True)"
CELL = "%%inplace_watch {}\ngate = torch.sigmoid(x)\ngate.mul_(2)\ngate.sum().backward()"
WIDGET = ".im-widget"
COPY = "Copy the corrected lines"


@pytest.fixture(scope="module")
def lab(show_for_long: Show, server: Server) -> Iterator[Page]:
    """A widget of a fix that was tried, and below it one of the same cell where none was."""
    notebook = notebook_of([LOAD, CELL.format("--prove --widget tried"), CELL.format("--widget untried")])
    notebook.cells[1].metadata["tags"] = ["raises-exception"]  # what runs all cells goes on behind it
    server.write("copying.ipynb", notebook)
    page = show_for_long("copying.ipynb", viewport={"width": 1300, "height": 2600})
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    run_all(page)
    page.locator(f"{WIDGET} svg.im-graph").nth(1).wait_for()
    yield page
    page.context.clear_permissions()


def test_the_button_of_the_widget_copies_the_corrected_lines(lab: Page) -> None:
    lab.locator(WIDGET).first.get_by_role("button", name=COPY).click()

    lab.wait_for_function("navigator.clipboard.readText().then(text => text === 'gate = gate * 2')")


def test_where_nothing_was_tried_the_widget_has_no_such_button(lab: Page) -> None:
    assert lab.locator(WIDGET).count() == 2
    assert lab.locator(WIDGET).last.get_by_role("button", name=COPY).count() == 0
