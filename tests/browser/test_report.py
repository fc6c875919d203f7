"""The report in real front ends and a real Chromium: live, saved and untrusted, dark, narrow, without scripts."""

from __future__ import annotations

import copy
import re
import string
from pathlib import Path
from typing import Any

import pytest
import torch
from browser.conftest import OpenPage, Show, in_notebook_7
from browser.front_ends import Server, command, notebook_of, run_all, use_theme
from browser.looking import (
    assert_drawn,
    assert_soon,
    cells,
    overflow,
    serious_findings,
    soon,
    texts_outside_their_boxes,
)
from nbconvert import HTMLExporter
from playwright.sync_api import Page, expect

import inplace_magic

LOAD = "%load_ext inplace_magic\n%xmode Minimal\nimport torch"
SIGMOID = """%%inplace_watch
logits = torch.zeros(4, requires_grad=True)
probs = torch.sigmoid(logits)
probs[2] = 1.0
probs.sum().backward()"""
VERDICT = "was overwritten"
REPORT = ".jp-OutputArea-output .inplace-magic"
GRAPH = f"{REPORT} svg.im-graph"


@pytest.fixture(scope="module")
def lab(show_for_long: Show, server: Server) -> Page:
    """A notebook in JupyterLab with the sigmoid failure, after "Run all"."""
    server.write("live.ipynb", notebook_of([LOAD, SIGMOID]))
    page = show_for_long("live.ipynb")
    run_all(page)
    page.locator(GRAPH).wait_for()
    return page


@pytest.fixture(scope="module")
def saved(lab: Page, server: Server) -> Any:
    """The notebook as JupyterLab saved it."""
    command(lab, "docmanager:save")
    notebook = server.read("live.ipynb")
    assert VERDICT in str(notebook.cells[1].outputs)
    return notebook


def test_a_watched_cell_shows_a_live_picture_with_text_inside_its_boxes(lab: Page) -> None:
    graph = lab.locator(GRAPH)
    expect(lab.locator(REPORT)).to_contain_text(VERDICT)
    assert_drawn(graph, colours=10)
    assert graph.locator("g.n").count() >= 6
    assert_soon(lab, lambda: texts_outside_their_boxes(graph), [])


def test_a_failing_cells_report_is_one_screen_with_all_of_its_picture_in_sight(
    show: Show, server: Server, saved: Any
) -> None:
    server.write("screen.ipynb", saved)
    server.sign("screen.ipynb")
    page = show("screen.ipynb", viewport={"width": 1400, "height": 1000})  # JupyterLab's default window
    page.locator(GRAPH).wait_for()

    height = "report => report.getBoundingClientRect().height"
    assert soon(page, lambda: page.locator(REPORT).evaluate(height), lambda found: found <= 700) <= 700
    expect(page.locator(f"{REPORT} .im-more")).to_be_hidden()
    expect(page.locator(f"{REPORT} summary", has_text="Memory by line")).to_be_visible()


def test_verdict_and_card_of_a_failing_cell_are_on_the_first_screen_above_the_whole_traceback(
    show: Show, server: Server
) -> None:
    server.write("defaults.ipynb", notebook_of([LOAD.replace("%xmode Minimal\n", ""), SIGMOID]))
    page = show("defaults.ipynb", viewport={"width": 1400, "height": 1000})  # with the default %xmode
    run_all(page)
    page.locator(GRAPH).wait_for()

    cell = page.locator(".jp-Notebook .jp-Cell").nth(1)
    top, bottom = "cell => cell.getBoundingClientRect().top", "element => element.getBoundingClientRect().bottom"
    for text in (VERDICT, "overwritten here", "backward raised here", "Fix: "):
        shown = page.locator(REPORT).get_by_text(text).first
        assert soon(page, lambda shown=shown: shown.evaluate(bottom) - cell.evaluate(top), lambda at: at < 600) < 600
    outputs = page.evaluate("jupyterapp.shell.currentWidget.content.model.cells.get(1).toJSON().outputs")
    (error,) = [output for output in outputs if output["output_type"] == "error"]
    assert "modified by an inplace operation" in error["evalue"]
    assert sum("_engine_run_backward" in part for part in error["traceback"]) >= 1, "torch's own frames"
    assert not any("overwritten" in part for part in error["traceback"])


def test_a_click_lights_a_box_and_tells_what_it_is_and_a_second_click_lets_go(lab: Page) -> None:
    node = lab.locator(f"{GRAPH} g.n.guilty").first
    facts = lab.locator(f"{REPORT} .im-facts")
    before = facts.inner_text()
    node.click()
    expect(node).to_have_attribute("aria-pressed", "true")
    expect(lab.locator(f"{GRAPH} g.im-on")).to_have_count(1)
    expect(lab.locator(f"{GRAPH} g.im-dim")).not_to_have_count(0)
    title = facts.locator("b").inner_text()
    assert title
    expect(node).to_have_attribute("aria-label", re.compile(re.escape(title)))
    expect(lab.locator(f"{REPORT} .im-code .im-hot")).not_to_have_count(0)
    heights = "all => all.map(label => label.getBoundingClientRect().height)"
    labels = facts.locator("dt")
    assert soon(lab, lambda: max(labels.evaluate_all(heights)), lambda height: height < 30) < 30  # each on one line
    node.click()
    lab.mouse.move(2, 2)
    expect(lab.locator(f"{GRAPH} g.im-on, {GRAPH} g.im-dim")).to_have_count(0)
    expect(facts).to_have_text(before, use_inner_text=True)


def test_stepping_through_the_calls_hides_what_comes_later(lab: Page) -> None:
    scrubber = lab.locator(f"{REPORT} .im-steps input[type=range]")
    later = lab.locator(f"{GRAPH} g.n.im-later")
    calls = int(scrubber.get_attribute("max") or 0)
    assert scrubber.input_value() == str(calls)
    expect(later).to_have_count(0)
    scrubber.focus()
    lab.keyboard.press("Home")
    boxes = lab.locator(f"{GRAPH} g.n").count()
    expect(later).not_to_have_count(0)
    for _ in range(calls):
        left = later.count()
        lab.keyboard.press("ArrowRight")
        expect(later).not_to_have_count(boxes)
        assert soon(lab, later.count, lambda now, left=left: now <= left) <= left
    expect(later).to_have_count(0)
    expect(scrubber).to_have_value(str(calls))


def test_a_search_leaves_lit_what_it_found(lab: Page) -> None:
    search = lab.locator(f"{REPORT} input[type=search]")
    search.fill("sigmoid")
    found = lab.locator(f"{GRAPH} g.n:not(.im-dim)")
    expect(found).not_to_have_count(lab.locator(f"{GRAPH} g.n").count())
    assert any("sigmoid" in text for text in found.all_text_contents())
    expect(lab.locator(f"{REPORT} .im-bar [role=status]")).to_have_text(f"{found.count()} found")
    search.press("Enter")
    expect(lab.locator(f"{GRAPH} g.n:focus")).to_contain_text("sigmoid")
    lab.keyboard.press("Escape")
    expect(search).to_have_value("")
    expect(lab.locator(f"{GRAPH} g.n.im-dim")).to_have_count(0)


def test_the_keyboard_alone_reaches_every_box(lab: Page) -> None:
    lab.locator(f"{REPORT} input[type=search]").focus()
    lab.keyboard.press("Tab")
    expect(lab.locator(f"{REPORT} .im-steps input")).to_be_focused()
    lab.keyboard.press("Tab")
    focused = lab.locator(f"{GRAPH} g.n:focus")
    expect(focused).to_have_count(1)  # one stop for Tab, arrows from there
    first = focused.get_attribute("data-k")
    reached, waiting = {first}, [first]
    while waiting:
        start = waiting.pop()
        for key in ("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"):
            lab.locator(f"{GRAPH} g.n[data-k='{start}']").focus()
            lab.keyboard.press(key)
            other = focused.get_attribute("data-k")
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    assert reached == set(lab.locator(f"{GRAPH} g.n").evaluate_all("all => all.map(n => n.dataset.k)"))
    lab.keyboard.press("Enter")
    expect(focused).to_have_attribute("aria-pressed", "true")
    lab.keyboard.press("Escape")
    expect(focused).to_have_attribute("aria-pressed", "false")


def test_no_letter_pressed_on_a_node_reaches_the_notebooks_commands(lab: Page) -> None:
    before = cells(lab)
    node = lab.locator(f"{GRAPH} g.n").nth(2)
    node.focus()
    for letter in string.ascii_letters + string.digits:
        lab.keyboard.press(letter)
    expect(node).to_be_focused()
    assert cells(lab) == before
    lab.locator(".jp-Cell .jp-InputPrompt").first.click()  # the same key does its work where it is meant to
    lab.keyboard.press("b")
    expect(lab.locator(".jp-Notebook .jp-Cell")).to_have_count(len(before) + 1)
    command(lab, "notebook:undo-cell-action")
    expect(lab.locator(".jp-Notebook .jp-Cell")).to_have_count(len(before))


def test_axe_finds_nothing_serious_in_light_and_in_dark(lab: Page) -> None:
    assert_soon(lab, lambda: serious_findings(lab, REPORT), [])
    use_theme(lab, "JupyterLab Dark")
    try:
        assert_soon(lab, lambda: serious_findings(lab, REPORT), [])
        assert_drawn(lab.locator(GRAPH))
    finally:
        use_theme(lab, "JupyterLab Light")


def test_what_is_not_live_is_dark_in_a_dark_theme_too(show: Show, server: Server) -> None:
    cells_of_all_kinds = [
        "%%inplace_watch --no-graph\nx = torch.zeros(3)\nx.add_(1)",
        "%%inplace_watch\nx = 1",
        "%%inplace_compare --flip\ntorch.nn.ReLU(inplace=True)(torch.ones(3))",
        "%inplace_watch on",
        SIGMOID.partition("\n")[2],
    ]
    server.write("dark.ipynb", notebook_of([LOAD, *cells_of_all_kinds]))
    page = show("dark.ipynb")
    use_theme(page, "JupyterLab Dark")
    try:
        run_all(page)
        expect(page.locator(REPORT)).to_have_count(4)
        bright = "all => all.map(e => Math.max(...getComputedStyle(e).backgroundColor.match(/\\d+/g).map(Number)))"
        assert_soon(page, lambda: max(page.locator(REPORT).evaluate_all(bright)) < 80, True)
        assert_soon(page, lambda: serious_findings(page, REPORT), [])
    finally:
        use_theme(page, "JupyterLab Light")


def test_a_narrow_window_scrolls_inside_the_report_only(lab: Page) -> None:
    lab.set_viewport_size({"width": 500, "height": 900})
    try:
        assert_soon(lab, lambda: overflow(lab, f"{REPORT}, {REPORT} > *, {GRAPH}"), [])
    finally:
        lab.set_viewport_size({"width": 1200, "height": 1400})


def test_notebook_7_shows_the_same_and_takes_no_keys(new_page: OpenPage, server: Server, saved: Any) -> None:
    page = in_notebook_7(new_page, server, "live.ipynb")
    graph = page.locator(GRAPH)
    expect(page.locator(REPORT)).to_contain_text(VERDICT)
    assert_drawn(graph)
    before = cells(page)
    graph.locator("g.n").nth(2).focus()
    for letter in "abdxyz":
        page.keyboard.press(letter)
    assert cells(page) == before


@pytest.mark.parametrize("front_end", ["lab", "notebook"])
def test_an_untrusted_notebook_without_a_kernel_shows_picture_and_tables(
    new_page: OpenPage, show: Show, server: Server, saved: Any, front_end: str
) -> None:
    received = copy.deepcopy(saved)
    received.metadata = {"kernelspec": {"name": "gone", "display_name": "Gone", "language": "gone"}}
    name = f"received-in-{front_end}.ipynb"
    server.write(name, received)
    page = show(name) if front_end == "lab" else in_notebook_7(new_page, server, name)
    page.locator(".jp-Dialog button", has_text="No Kernel").click()
    picture = page.locator(f"{REPORT} img").first
    picture.scroll_into_view_if_needed()
    expect(page.locator(REPORT)).to_contain_text(VERDICT)
    expect(page.locator(f"{REPORT} svg")).to_have_count(0)
    assert VERDICT in (picture.get_attribute("alt") or "")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 300
    assert_drawn(picture)
    # JupyterLab takes `width:max-content` away; the columns must stand beside each other all the same.
    narrowest = "all => Math.min(...all.map(cell => cell.getBoundingClientRect().width))"
    heads = page.locator(f"{REPORT} details[open] > div > table th")
    assert soon(page, lambda: heads.evaluate_all(narrowest), lambda width: width > 20) > 20
    assert_soon(page, lambda: serious_findings(page, REPORT), [])


def test_nbconvert_without_scripts_shows_picture_and_tables(new_page: OpenPage, saved: Any, tmp_path: Path) -> None:
    body, _ = HTMLExporter().from_notebook_node(saved)
    (tmp_path / "page.html").write_text(body, encoding="utf-8")
    page = new_page(java_script_enabled=False)
    page.goto((tmp_path / "page.html").as_uri())
    report = page.locator(".inplace-magic")
    expect(report).to_contain_text(VERDICT)
    assert_drawn(report.locator("img").first)


def test_nbconvert_with_scripts_shows_the_live_view_and_asks_the_network_for_nothing_more(
    new_page: OpenPage, saved: Any, tmp_path: Path
) -> None:
    bare = copy.deepcopy(saved)
    for cell in bare.cells:
        cell.outputs = []
    asked: list[set[str]] = []
    page = new_page(offline=True)
    page.on("request", lambda request: asked[-1].add(request.url))
    for notebook in (bare, saved):
        asked.append(set())
        body, _ = HTMLExporter().from_notebook_node(notebook)
        (tmp_path / "page.html").write_text(body, encoding="utf-8")
        page.goto((tmp_path / "page.html").as_uri())
    graph = page.locator(".inplace-magic svg.im-graph")
    assert_drawn(graph)
    node = graph.locator("g.n.guilty").first
    node.click()
    expect(node).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".inplace-magic .im-code .im-hot")).not_to_have_count(0)
    expect(page.locator(".inplace-magic")).to_contain_text(VERDICT)
    # nbconvert's own template asks a CDN for require.js and MathJax; the report adds no request to these.
    assert [url for url in asked[1] - asked[0] if not url.startswith(("data:", "blob:"))] == []


INSIDE = """(svg, which) => {
  const frame = svg.parentElement.getBoundingClientRect(), box = svg.querySelector(which).getBoundingClientRect();
  return box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
}"""
LETTERS = """svg => 11 * svg.getScreenCTM().a"""
"""Pixels of the graph's letters, which are 11 units high."""


@pytest.mark.parametrize("shape", ["wide", "tall"])
def test_a_large_graph_opens_readable_at_the_guilty_box_and_says_that_there_is_more(
    new_page: OpenPage, tmp_path: Path, shape: str
) -> None:
    with inplace_magic.watch() as w:
        x = torch.zeros(4, requires_grad=True)
        parts = [x]
        for _ in range(17):
            parts.append((x if shape == "wide" else parts[-1]).sigmoid())
        parts[-1].mul_(2)
    assert w.report is not None
    (tmp_path / "page.html").write_text(w.report.to_html(), encoding="utf-8")
    page = new_page()
    page.goto((tmp_path / "page.html").as_uri())
    graph, more = page.locator("svg.im-graph"), page.locator(".im-more")
    assert_soon(page, lambda: graph.evaluate(INSIDE, ".guilty"), True)
    assert graph.evaluate(LETTERS) >= 7
    expect(more).to_be_visible()
    expect(more).to_contain_text("←")  # a tall one stands in columns
    legend = page.locator(".im-bar > span:last-child")  # stays in sight wherever the picture is moved
    expect(legend).to_contain_text("Double border ✎: mutated in place.")
    expect(legend).to_contain_text("Dashed arrow: kept for backward.")
    expect(page.locator("svg.im-graph > text")).to_have_count(0)
    page.get_by_role("button", name="Fit").click()
    expect(more).to_be_hidden()
    nodes = graph.locator("g.n")
    assert nodes.count() >= 30
    outside = """(all) => all.filter(n => {
      const box = n.getBoundingClientRect(), frame = n.closest(".im-stage").getBoundingClientRect();
      return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
    }).length"""
    assert_soon(page, lambda: nodes.evaluate_all(outside), 0)


UNET = """\
from torch import nn
class Double(nn.Sequential):
    def __init__(self, a, b):
        super().__init__(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.Conv2d(b, b, 3, padding=1))
class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = Double(3, 4), Double(4, 8), Double(8, 16)
        self.pool, self.up2, self.up1 = nn.MaxPool2d(2), nn.ConvTranspose2d(16, 8, 2, 2), nn.ConvTranspose2d(8, 4, 2, 2)
        self.join2, self.join1, self.head = Double(16, 8), Double(8, 4), nn.Conv2d(4, 1, 1)
    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(self.pool(d1))
        u2 = self.join2(torch.cat([d2, self.up2(self.bottom(self.pool(d2)))], 1))
        return torch.sigmoid(self.head(self.join1(torch.cat([d1, self.up1(u2)], 1))))
net, x = UNet(), torch.randn(2, 3, 16, 16)"""
FAILS = "%%inplace_watch\nmask = net(x)\nmask[mask < 0.5] = 0\nmask.mean().backward()"
WORKS = "%%inplace_watch --open graph\nloss = net(x).mean()\nloss.backward()"


def test_of_a_large_model_what_a_finding_names_is_in_sight_and_a_healthy_one_is_an_overview(
    show: Show, server: Server
) -> None:
    server.write("unet.ipynb", notebook_of([LOAD, UNET, WORKS, FAILS]))
    page = show("unet.ipynb", viewport={"width": 1400, "height": 1000})
    run_all(page)
    page.locator(GRAPH).nth(1).wait_for()
    works, fails = page.locator(REPORT).first, page.locator(REPORT).nth(1)
    expect(works.locator(".im-more")).to_be_hidden()
    assert works.locator("g.n").count() <= 18
    assert works.locator("svg.im-graph").evaluate(LETTERS) >= 7

    graph = fails.locator("svg.im-graph")
    keys = fails.evaluate("report => [...report.querySelectorAll('g.n')].map(node => node.dataset.k)")
    lit = [key for key in keys if graph.locator(f'g.n[data-k="{key}"]').text_content().find("here") >= 0]
    assert len(lit) == 2, "saved here, overwritten here"
    for key in lit:
        assert_soon(page, lambda key=key: graph.evaluate(INSIDE, f'.n[data-k="{key}"]'), True)
    assert graph.evaluate(LETTERS) >= 7
    assert fails.locator(".im-stage .im-more").count() == 0, "nothing of ours covers the picture"

    height = "graph => graph.getBoundingClientRect().height"
    before = graph.evaluate(height)
    fails.get_by_role("button", name="Expand").click()
    assert_soon(page, lambda: graph.evaluate(height) > 1.5 * before, True)
    assert graph.evaluate(LETTERS) >= 7
    fails.get_by_role("button", name="Reduce").click()
    assert_soon(page, lambda: abs(graph.evaluate(height) - before) < 2, True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_saved_page_is_live_and_follows_the_readers_colours(new_page: OpenPage, tmp_path: Path, scheme: str) -> None:
    with inplace_magic.watch() as w:
        torch.zeros(4, requires_grad=True).sigmoid().mul_(2)
    assert w.report is not None
    (tmp_path / "page.html").write_text(w.report.to_html(), encoding="utf-8")
    page = new_page(color_scheme=scheme, offline=True)
    page.goto((tmp_path / "page.html").as_uri())
    assert_drawn(page.locator("svg.im-graph"))
    page.locator("svg.im-graph g.n").first.click()
    expect(page.locator("svg.im-graph g.im-on")).to_have_count(1)
    ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    assert_soon(page, lambda: page.evaluate(ground) > 128, scheme == "light")
    chart = page.get_by_role("img", name="Live bytes on cpu")
    expect(chart).to_be_visible()
    card = "svg => getComputedStyle(svg.querySelector('rect')).fill.match(/\\d+/g).map(Number)[0]"
    assert_soon(page, lambda: chart.evaluate(card) > 128, scheme == "light")
    expect(page.locator("img")).to_have_count(0)
    assert_soon(page, lambda: serious_findings(page, "body"), [])


def test_a_search_for_what_is_folded_names_the_box_and_a_double_click_says_how_it_opens(
    new_page: OpenPage, tmp_path: Path
) -> None:
    layer, block = torch.nn.Linear, torch.nn.Sequential
    with inplace_magic.watch() as w:
        net = block(*(block(layer(4, 4), torch.nn.Tanh(), layer(4, 4)) for _ in range(20)))
        net(torch.ones(2, 4)).sum().backward()
    assert w.report is not None
    (tmp_path / "page.html").write_text(w.report.to_html(), encoding="utf-8")
    page = new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.locator("input[type=search]").fill("net[7]")
    expect(page.locator(".im-bar [role=status]")).to_have_text("1 found; folded in net[1]…[19]")
    fold = page.locator("svg.im-graph g.n:not(.im-dim)")
    expect(fold).to_have_count(1)
    key = fold.get_attribute("data-k")
    fold.dblclick()
    expect(page.locator(".im-facts")).to_contain_text(f"expanded=['{key}']")


def test_memory_by_line_is_in_sight_as_a_whole_beside_the_file_browser_of_a_window_of_1400_pixels(
    new_page: OpenPage,
) -> None:
    with inplace_magic.watch() as watched:
        a_name_that_is_long = torch.sigmoid(torch.ones(900, 1000, requires_grad=True)).mul(torch.ones(900, 1000))
        a_name_that_is_long.sum().backward()
    page = new_page(viewport={"width": 968, "height": 1000})
    page.set_content(watched.report.to_html())
    table = page.locator("table", has_text="Kept for backward").first
    expect(table).to_be_visible()
    needed, there = table.evaluate("table => [table.scrollWidth, table.parentElement.clientWidth]")
    assert needed <= there
