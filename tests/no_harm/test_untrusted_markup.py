"""Names, source lines, errors and file names are text wherever they are shown: never markup, script, DOT, or a command
to a terminal."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest
from cells import run_cell
from no_harm.hostile import SCRIPTS, full_report, infected

from inplace_magic.render.graph.labels import SVG
from inplace_magic.render.graph.layout import ENGINES, MISSING
from inplace_magic.render.page.explorer import live_script, packed_text
from inplace_magic.render.save import save
from inplace_magic.report import Report

VOID = {"img", "meta"}
LOADS = {"href", "srcset", "action", "formaction", "data", "poster", "xlink:href", "background", "ping", "cite"}
SVG_TAGS = {"svg", "style", "g", "title", "path", "rect", "ellipse", "text"}


class Page(HTMLParser):
    """Elements and attributes of a page, and its text outside of scripts."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.values: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.text = self.script = ""
        self.other: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.values += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.script += data
        else:
            self.text += data

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)

    def unknown_decl(self, data: str) -> None:
        self.other.append(data)


@cache
def with_text(text: str) -> Report:
    """A report in which every field is filled, and every free text is `text`."""
    report = full_report()
    return Report(infected(report.trace, text), infected(report.findings, text))


PLAIN = with_text("word")


@pytest.fixture(scope="module")
def plain() -> Page:
    return Page(PLAIN.to_html())


@pytest.mark.parametrize("text", SCRIPTS, ids=lambda text: ascii(text)[:40])
def test_the_page_has_the_elements_and_attributes_of_a_harmless_one(plain: Page, text: str) -> None:
    page = Page(with_text(text).to_html())

    assert set(page.elements) == set(plain.elements) | ({("code", ("style",))} & set(page.elements))
    assert (page.open, page.other, page.script) == ([], [], plain.script)
    assert not [(tag, name) for tag, name, _ in page.values if name.startswith("on") or name in LOADS]
    assert all(value.startswith("data:image/svg+xml,<svg ") for _, name, value in page.values if name == "src")
    usual, found = (
        {re.sub(r"min-width:\d+px", "min-width:Npx", css) for _, name, css in each.values if name == "style"}
        for each in (plain, page)
    )
    other = found - usual  # longer code is given more room, and nothing else is
    assert all(re.fullmatch(r"background:#[0-9A-F]{6};color:#[0-9A-F]{6}", css) for css in other)


@pytest.mark.parametrize("text", SCRIPTS, ids=lambda text: ascii(text)[:40])
def test_the_picture_has_the_boxes_and_arrows_of_a_harmless_one(text: str) -> None:
    svg, plain = ET.fromstring(with_text(text).to_svg()), plain_picture()

    def keys(root: ET.Element) -> list[str | None]:
        return [element.get("data-k") or element.get("data-f") for element in root.iter(f"{{{SVG}}}g")]

    assert keys(svg) == keys(plain)
    for element in svg.iter():
        assert element.tag.removeprefix(f"{{{SVG}}}") in SVG_TAGS
        assert not [
            name for name in element.attrib if name.lower().startswith("on") or "href" in name or name == "style"
        ]
        assert not [value for value in element.attrib.values() if "url(" in value or "script" in value]
    rules = re.findall(r"([^{}]*)\{([^{}]*)\}", svg.findtext(f"{{{SVG}}}style") or "")
    assert rules
    for selector, rule in rules:
        assert re.fullmatch(r"\.im-graph text|\.[ekn][0-9a-f]+( path\+path)?|text\.t[0-9a-f]+", selector)
        assert re.fullmatch(r"[a-z-]+:[#0-9a-zA-Z.,]+(;[a-z-]+:[#0-9a-zA-Z.,]+)*", rule)


@pytest.mark.parametrize("text", SCRIPTS, ids=lambda text: ascii(text)[:40])
def test_graphviz_reads_the_text_as_text_before_anything_is_tidied(text: str) -> None:
    """No label in HTML syntax, no record, no escape such as ``\\N``, no image, no link, no statement of its own."""
    name, engine = _an_engine()
    raw, plain = ET.fromstring(engine(with_text(text).to_dot())), plain_drawing()

    def count(root: ET.Element, tag: str) -> int:
        return len(root.findall(f".//{{{SVG}}}{tag}"))

    for tag in ("g", "a", "image", "polygon", "polyline", "path", "ellipse", "text"):
        assert count(raw, tag) == count(plain, tag), (name, tag)
    links = [value for element in raw.iter() for key, value in element.attrib.items() if key.endswith("href")]
    assert [link for link in links if link] == []


@cache
def plain_picture() -> ET.Element:
    return ET.fromstring(PLAIN.to_svg())


@cache
def plain_drawing() -> ET.Element:
    _name, engine = _an_engine()
    return ET.fromstring(engine(PLAIN.to_dot()))


@cache
def _an_engine() -> Any:
    for name, engine in ENGINES:
        try:
            engine("digraph { a }")
        except MISSING:
            continue
        return name, engine
    raise AssertionError("no engine is installed")


@pytest.mark.parametrize("text", SCRIPTS, ids=lambda text: ascii(text)[:40])
def test_text_forges_no_line_and_gives_a_terminal_no_command(text: str) -> None:
    report = with_text(text)

    lines = report.to_text().split("\n")

    assert all(line.isprintable() for line in lines)
    within_diffs = 2 * (len(text.split("\n")) - 1)  # a fix as a diff is meant to have lines: indented ones
    assert len(lines) == len(PLAIN.to_text().split("\n")) + within_diffs
    assert sum(line.startswith("Finding ") for line in lines) == 2
    for sentence in (report.verdict, repr(report)):
        assert sentence.isprintable()
    bundle = report._repr_mimebundle_()
    assert json.loads(json.dumps(bundle, ensure_ascii=False).encode("utf-8")) == bundle


def test_letters_that_are_written_with_joiners_and_wide_spaces_stay_readable() -> None:
    text = with_text("می\u200cخواهم 👩\u200d🔬 全角\u3000空白\u00a0x").to_text()

    assert "می\u200cخواهم 👩\u200d🔬 全角 空白 x" in text


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", " \t=1"])
def test_no_cell_of_a_saved_table_is_a_formula(tmp_path: Any, text: str) -> None:
    written = save(with_text(text), tmp_path / "calls.csv").read_text(encoding="utf-8")

    cells = [cell for row in csv.reader(io.StringIO(written)) for cell in row]
    assert f"'{text}" in cells
    assert not [cell for cell in cells if cell.strip().startswith(("=", "@", "+", "-"))]


def test_a_page_loads_nothing_from_anywhere() -> None:
    page = Page(with_text("http://example.invalid/x.js url(http://example.invalid/)").to_html())

    assert not [name for _, name, value in page.values if name in LOADS or (name == "style" and "url(" in value)]
    assert packed_text(live_script()) in page.script  # it has a fix that was tried
    script = page.script + live_script()
    assert not re.search(r"fetch|XMLHttp|WebSocket|EventSource|sendBeacon|import\s*\(|importScripts|new Image", script)
    urls = re.findall(r"\w+://[^\s\"']+", script)
    assert set(urls) == {SVG}


ATTACK = "</td><img src=x onerror=alert(1)>\x1b[2J"


def test_names_comments_and_errors_of_a_real_cell_are_text(loaded_shell: Any) -> None:
    cell = [
        "%%inplace_watch -o report",
        "import torch",
        f"names = {{{ATTACK!r}: torch.rand(3, requires_grad=True).sigmoid()}}",
        f"y = names[{ATTACK!r}]  # <script>alert(2)</script>",
        f"y.mul_(2)  # {ATTACK}",
        "y.sum().backward()",
    ]

    ran = run_cell(loaded_shell, "\n".join(cell))

    assert ran.error is not None
    (bundle,) = ran.reports
    page = Page(bundle["text/html"])
    assert "<img src=x onerror=alert(1)>" in page.text
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert not [name for _, name, _ in page.values if name.startswith("on")]
    assert "\x1b" not in bundle["text/plain"] + bundle["text/html"]
    assert Report.from_json(loaded_shell.user_ns["report"].to_json()) == loaded_shell.user_ns["report"]


def test_an_error_with_markup_in_it_is_text(loaded_shell: Any) -> None:
    ran = run_cell(
        loaded_shell, f"%%inplace_watch\nimport torch\ntorch.ones(2).add_(1)\nraise RuntimeError({ATTACK!r})"
    )

    (bundle,) = ran.reports
    assert "img" not in [tag for tag, attributes in Page(bundle["text/html"]).elements if "onerror" in attributes]
    assert "\x1b" not in bundle["text/plain"] + bundle["text/html"]
