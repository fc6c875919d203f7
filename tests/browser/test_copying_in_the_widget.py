"""The live widget in a real JupyterLab, too, has the button that copies the corrected lines."""

from __future__ import annotations

from browser.conftest import OpenPage
from browser.front_ends import Server, notebook_of, open_notebook, run_all

LOAD = "%load_ext inplace_magic\n%xmode Minimal\nimport torch\nx = torch.ones(3, requires_grad=True)"
BROKEN = "%%inplace_watch --prove --widget\ngate = torch.sigmoid(x)\ngate.mul_(2)\ngate.sum().backward()"
UNTRIED = "%%inplace_watch --widget\ngate = torch.sigmoid(x)\ngate.mul_(2)\ngate.sum().backward()"
WIDGET = ".im-widget"
COPY = "Copy the corrected lines"


def test_the_button_of_the_widget_copies_the_corrected_lines(new_page: OpenPage, server: Server) -> None:
    server.write("copying.ipynb", notebook_of([LOAD, BROKEN]))
    page = new_page(
        viewport={"width": 1300, "height": 1800}, permissions=["clipboard-read", "clipboard-write"], locale="en-GB"
    )
    open_notebook(page, server.lab("copying.ipynb"))
    run_all(page)
    page.locator(f"{WIDGET} svg.im-graph").wait_for()

    page.locator(WIDGET).get_by_role("button", name=COPY).click()

    page.wait_for_function("navigator.clipboard.readText().then(text => text === 'gate = gate * 2')")


def test_where_nothing_was_tried_the_widget_has_no_such_button(new_page: OpenPage, server: Server) -> None:
    server.write("untried.ipynb", notebook_of([LOAD, UNTRIED]))
    page = new_page(viewport={"width": 1300, "height": 1800}, locale="en-US")
    open_notebook(page, server.lab("untried.ipynb"))
    run_all(page)
    page.locator(f"{WIDGET} svg.im-graph").wait_for()

    assert page.locator(WIDGET).get_by_role("button", name=COPY).count() == 0
