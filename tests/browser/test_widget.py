"""The widget in a real JupyterLab: everything of the live view, what only a kernel can do, and nothing left behind."""

from __future__ import annotations

import copy
import re
import string
from pathlib import Path
from typing import Any

import pytest
from browser.conftest import OpenPage, Show, in_notebook_7
from browser.front_ends import Server, command, notebook_of, run_all, run_cell
from browser.looking import assert_drawn, assert_soon, cells, serious_findings
from playwright.sync_api import Page, expect

LOAD = "%load_ext inplace_magic\n%xmode Minimal\nimport torch"
MODEL = """%%inplace_watch --widget view
layers = [torch.nn.Linear(4, 4) for _ in range(12)]
def forward(x):
    for layer in layers:
        x = torch.relu(layer(x)) + x
    return x
y = forward(torch.zeros(2, 4))
loss = y.sum()
loss.backward()"""
SECOND = """%%inplace_watch --widget view
weights = torch.ones(3)
weights.mul_(2);"""
SEEN = "seen = []\nview.observe(lambda change: seen.append(change['new']), 'selected')"
WIDGET = ".im-widget"
OLDEST = Path(__file__).resolve().parents[2] / ".venv-min" / "bin" / "python"
VERSIONS = "from importlib.metadata import version as v\nprint(v('ipywidgets'), v('traitlets'), v('ipython'))"


@pytest.fixture(scope="module")
def lab(show_for_long: Show, server: Server) -> Page:
    server.write("widget.ipynb", notebook_of([LOAD, MODEL, SEEN, "pass", "pass"]))
    page = show_for_long("widget.ipynb", viewport={"width": 1300, "height": 1800})
    run_all(page)
    page.locator(f"{WIDGET} svg.im-graph").wait_for()
    expect(page.locator(f"{WIDGET} select").last).to_be_enabled()
    return page


def boxes(page: Page) -> list[str]:
    return list(page.locator(f"{WIDGET} g.n").evaluate_all("all => all.map(node => node.dataset.k)"))


def lit(page: Page) -> list[str]:
    return list(page.locator(f"{WIDGET} g.im-on").evaluate_all("all => all.map(node => node.dataset.k)"))


def test_the_widget_stands_below_the_static_report_and_has_a_picture(lab: Page) -> None:
    outputs = lab.locator(".jp-Cell").nth(1).locator(".jp-OutputArea-output")
    expect(outputs).to_have_count(2)
    expect(outputs.nth(0).locator(".inplace-magic")).to_be_visible()
    assert_drawn(outputs.nth(1).locator("svg.im-graph"))
    assert_soon(lab, lambda: serious_findings(lab, WIDGET), [])


def test_a_click_is_read_in_python_and_python_lights_a_box(lab: Page) -> None:
    tensor = next(key for key in boxes(lab) if key.startswith("T"))
    lab.locator(f"{WIDGET} g.n[data-k='{tensor}']").click()
    assert_soon(lab, lambda: run_cell(lab, 3, "print(view.selected, seen)"), f"{tensor} ['{tensor}']")
    other = boxes(lab)[-1]
    assert (
        run_cell(lab, 3, f"view.selected, view.selected = view.selected, {other!r}; view.step = 3; print(view.step)")
        == "3"
    )
    expect(lab.locator(f"{WIDGET} g.im-on")).to_have_attribute("data-k", other)
    expect(lab.locator(f"{WIDGET} g.im-later").first).to_be_attached()
    run_cell(lab, 3, "view.selected = view.step = None")
    expect(lab.locator(f"{WIDGET} g.im-on")).to_have_count(0)


def test_no_letter_pressed_in_the_widget_reaches_the_notebooks_commands(lab: Page) -> None:
    before = cells(lab)
    for place in (f"{WIDGET} g.n[tabindex='0']", f"{WIDGET} .im-bar button"):
        lab.locator(place).first.focus()
        for letter in string.ascii_letters + string.digits:
            lab.keyboard.press(letter)
    assert cells(lab) == before


def test_a_folded_box_opens_and_the_level_of_detail_switches(lab: Page) -> None:
    before = boxes(lab)
    fold = next(key for key in before if key.startswith("F"))
    lab.locator(f"{WIDGET} g.n[data-k='{fold}']").dblclick()
    expect(lab.locator(f"{WIDGET} g.n[data-k='{fold}']")).to_have_count(0)
    assert len(boxes(lab)) > len(before)
    assert run_cell(lab, 3, "print(view.expanded)") == f"['{fold}']"
    lab.get_by_label("Fold all again").click()
    expect(lab.locator(f"{WIDGET} g.n[data-k='{fold}']")).to_have_count(1)
    lab.get_by_label("Detail").select_option("detailed")
    expect(lab.locator(f"{WIDGET} g.n")).not_to_have_count(len(before))
    assert len(boxes(lab)) > 2 * len(before)
    assert run_cell(lab, 3, "view.detail = 'normal'; print(view.detail)") == "normal"
    expect(lab.locator(f"{WIDGET} g.n")).to_have_count(len(before))


def test_values_are_asked_for_while_the_tensor_lives_and_unknown_afterwards(lab: Page) -> None:
    key = run_cell(lab, 3, "print(next(k for k in view.state['nodes'] if 'loss' in view.state['nodes'][k]['title']))")
    run_cell(lab, 3, f"view.selected = {key!r}")
    expect(lab.locator(f"{WIDGET} g.im-on")).to_have_attribute("data-k", key)
    button = lab.get_by_role("button", name="Values now")
    button.click()
    expect(lab.locator(f"{WIDGET} .im-facts")).to_contain_text("loss holds now (v0)")
    run_cell(lab, 3, "del loss, y")
    button.click()
    expect(lab.locator(f"{WIDGET} .im-facts")).to_contain_text("values unknown")
    run_cell(lab, 3, "view.selected = None")


def test_the_report_of_a_second_cell_joins_the_same_widget(lab: Page) -> None:
    run_cell(lab, 3, SECOND)
    assert_drawn(lab.locator(f"{WIDGET} svg.im-graph").last)
    run_cell(lab, 3, "pass")  # its view goes, that of the first cell shows both
    expect(lab.locator(WIDGET)).to_have_count(1)
    chooser = lab.get_by_label("Report", exact=True)
    expect(chooser.locator("option")).to_have_count(2)
    expect(lab.locator(f"{WIDGET} g.n")).not_to_have_count(0)
    assert any("weights" in text for text in lab.locator(f"{WIDGET} g.n").all_text_contents())
    chooser.select_option(index=0)
    expect(lab.locator(f"{WIDGET} g.n[data-k^=F]").first).to_be_attached()
    assert run_cell(lab, 3, "print(view.shown, len(view.reports))") == "0 2"


@pytest.mark.parametrize("front_end", ["lab", "notebook"])
def test_a_cell_that_runs_a_second_time_shows_its_report_and_its_widget_again(
    new_page: OpenPage, show: Show, server: Server, front_end: str
) -> None:
    name = f"again_in_{front_end}.ipynb"
    server.write(name, notebook_of([LOAD, SECOND]))
    page = show(name) if front_end == "lab" else in_notebook_7(new_page, server, name)
    run_all(page)
    for runs in (1, 2, 3):
        outputs = page.locator(".jp-Cell").nth(1).locator(".jp-OutputArea-output")
        expect(outputs).to_have_count(2)
        expect(outputs.nth(0).locator(".inplace-magic")).to_be_visible()
        assert_drawn(outputs.nth(1).locator("svg.im-graph"))
        chooser = outputs.nth(1).get_by_label("Report", exact=True).locator("option")
        expect(chooser).to_have_count(runs if runs > 1 else 0)
        run_cell(page, 1, SECOND)


@pytest.fixture(scope="module")
def saved(lab: Page, server: Server) -> Any:
    """The notebook as JupyterLab saved it, with the widget's state."""
    command(lab, "@jupyter-widgets/jupyterlab-manager:saveWidgetState")
    command(lab, "docmanager:save")
    notebook = server.read("widget.ipynb")
    assert "widgets" in notebook.metadata
    return notebook


@pytest.mark.parametrize("front_end", ["lab", "notebook"])
def test_a_saved_widget_opens_again_in_another_kernel_and_says_what_it_cannot(
    new_page: OpenPage, show: Show, server: Server, saved: Any, front_end: str
) -> None:
    name = f"reopened-in-{front_end}.ipynb"
    server.write(name, copy.deepcopy(saved))
    server.sign(name)
    page = show(name) if front_end == "lab" else in_notebook_7(new_page, server, name)
    graph = page.locator(f"{WIDGET} svg.im-graph")
    graph.scroll_into_view_if_needed()
    assert_drawn(graph)
    expect(page.locator(f"{WIDGET} > .im-bar [role=status]")).to_contain_text("No kernel answers")
    expect(page.get_by_label("Detail")).to_be_disabled()
    node = page.locator(f"{WIDGET} g.n").first
    node.click()
    expect(node).to_have_class(re.compile("im-on"))


def test_where_the_notebook_is_not_trusted_the_static_report_stands_and_the_widget_is_one_line(
    show: Show, server: Server, saved: Any
) -> None:
    received = copy.deepcopy(saved)
    received.metadata["changed"] = True  # so that what was signed is not this notebook
    server.write("untrusted.ipynb", received)
    page = show("untrusted.ipynb")
    outputs = page.locator(".jp-Cell").nth(1).locator(".jp-OutputArea-output")
    assert_drawn(outputs.nth(0).locator("img").first)
    counted = "135 torch calls, in-place: none by your lines, 24 inside layers, initialisation and optimizers"
    expect(outputs.nth(1)).to_have_text(f"<ReportWidget: ✓ Nothing wrong found: {counted}.>")


def test_closing_leaves_no_comm_no_view_and_no_listener(lab: Page) -> None:
    # Another widget, on which no key was pressed: JupyterLab's cell keeps the element that got the last key.
    run_cell(lab, 4, SECOND.replace("view", "other"))
    expect(lab.locator(WIDGET)).to_have_count(2)
    lab.locator(WIDGET).last.locator("g.n").first.click()
    assert_soon(lab, lambda: run_cell(lab, 3, "print(other.selected is not None)"), "True")
    lab.evaluate("window.gone = new WeakRef([...document.querySelectorAll('.im-widget')].pop())")
    code = "import gc, weakref\nother.close()\nprint(other.comm)\ngone = weakref.ref(other); del other"
    assert run_cell(lab, 3, code) == "None"
    assert_soon(lab, lambda: run_cell(lab, 3, "_ = gc.collect(); print(gone() is None)"), "True")
    expect(lab.locator(WIDGET)).to_have_count(1)

    def gone() -> bool:
        lab.request_gc()
        return bool(lab.evaluate("window.gone.deref() === undefined"))

    assert_soon(lab, gone, True)


@pytest.mark.skipif(not OLDEST.exists(), reason="no .venv-min: `make test` makes it")
def test_a_kernel_with_the_oldest_ipywidgets_opens_boxes_and_is_told_what_is_selected(
    show: Show, server: Server
) -> None:
    server.add_kernel("oldest", OLDEST)
    server.write("oldest.ipynb", notebook_of([LOAD, MODEL, SEEN, "pass"], kernel="oldest"))
    page = show("oldest.ipynb", viewport={"width": 1300, "height": 1800})
    run_all(page)
    expect(page.get_by_label("Detail")).to_be_enabled()
    assert run_cell(page, 3, VERSIONS) == "7.7.1 5.7.1 7.34.0"
    fold = next(key for key in boxes(page) if key.startswith("F"))
    page.locator(f"{WIDGET} g.n[data-k='{fold}']").dblclick()
    expect(page.locator(f"{WIDGET} g.n[data-k='{fold}']")).to_have_count(0)
    last = boxes(page)[-1]
    run_cell(page, 3, f"view.selected = {last!r}")
    expect(page.locator(f"{WIDGET} g.im-on")).to_have_attribute("data-k", last)
    assert run_cell(page, 3, "print(view.expanded, seen[-1])") == f"['{fold}'] {last}"
