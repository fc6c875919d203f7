"""A picture that is much taller than a screen stands in columns, and loses nothing by it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from inplace_magic.render.graph.cuts import SCREEN
from inplace_magic.render.graph.layout import to_svg

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]


def chain(count: int, *, more: str = "") -> str:
    """Boxes one after the other; with what else stands in the graph."""
    boxes = "".join(f'B{n} [shape=box label="box number {n}\\nsome more of it"]\n' for n in range(count))
    return f"digraph {{ {boxes} {' -> '.join(f'B{n}' for n in range(count))}\n{more} }}"


def size(svg: str) -> tuple[float, float]:
    root = ET.fromstring(svg)
    return float(root.get("width", "0")), float(root.get("height", "0"))


def boxes(svg: str, kind: str = "n") -> dict[str, list[Box]]:
    """By key: left, top, right and bottom of the rectangles that a group draws."""
    found: dict[str, list[Box]] = {}
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        if (group.get("class") or "").split()[0] == kind:
            for path in group.iter(f"{SVG}path"):
                x, y, width, height = map(float, re.findall(r"-?\d+\.?\d*", path.get("d", ""))[:4])
                found.setdefault(group.get("data-k", ""), []).append((x, y, x + width, y + height))
    return found


def test_a_picture_that_fits_a_frame_stays_as_it_is() -> None:
    width, height = size(to_svg(chain(4)))

    assert width < 300 < height


def test_a_short_chain_stands_in_the_columns_in_which_all_of_it_is_in_sight_at_once() -> None:
    width, height = size(to_svg(chain(8)))

    assert height * 0.75 < 1.2 * SCREEN[1]  # with the turns of the arrows
    assert width * 0.75 < SCREEN[0]


def test_a_picture_that_does_not_fit_a_frame_in_columns_stays_one_column_as_long_as_it_fits_a_page() -> None:
    wide = "".join(f"B7 -> W{n}; " for n in range(9))
    _, height = size(to_svg(chain(8, more=wide)))

    assert height * 0.75 > 1.5 * SCREEN[1]


@pytest.mark.parametrize("count", [30, 60])
def test_a_long_chain_stands_in_columns_that_are_read_from_left_to_right(count: int) -> None:
    svg = to_svg(chain(count))
    width, height = size(svg)
    places = [boxes(svg)[f"B{n}"][0] for n in range(count)]

    assert width < 1_100
    assert height < 0.6 * count * 75
    for (left, top, _, _), (next_left, next_top, _, _) in pairwise(places):
        assert next_top > top or next_left > left
    assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for a in places for b in places if a < b)
    assert all(min(x, y) >= 0 and right <= width * 0.75 and low <= height * 0.75 for x, y, right, low in places)


def test_every_box_arrow_and_word_is_still_there() -> None:
    more = "B2 -> B25; B28 -> B3 [style=dashed constraint=false]"
    svg = to_svg(chain(30, more=more))

    assert len(boxes(svg)) == 30
    arrows = set(re.findall(r'data-f="(B\d+)" data-t="(B\d+)"', svg))
    assert arrows == {(f"B{n}", f"B{n + 1}") for n in range(29)} | {("B2", "B25"), ("B28", "B3")}
    assert all(f"box number {n}<" in svg for n in range(30))
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        if "e" in (group.get("class") or "").split():
            assert len(list(group.iter(f"{SVG}path"))) == 2  # one line and one head, for all its turns


def test_a_frame_over_a_cut_goes_on_in_the_next_column_and_says_its_name_again() -> None:
    inside = " ".join(f"B{n};" for n in range(2, 28))
    svg = to_svg(chain(30, more=f'subgraph cluster_F1 {{ label="net: Net" {inside} }}'))

    pieces = boxes(svg, "k")["F1"]
    assert len(pieces) > 1
    assert svg.count("net: Net<") == len(pieces)
    for number in range(2, 28):
        left, top, right, low = boxes(svg)[f"B{number}"][0]
        assert any(x <= left and y <= top and right <= end and low <= bottom for x, y, end, bottom in pieces)


def test_the_same_graph_gives_the_same_columns() -> None:
    assert to_svg(chain(40)) == to_svg(chain(40))
