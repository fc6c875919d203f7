"""A tall picture in columns side by side, as in a newspaper: a chain of boxes is tall, and a page is wide.

Graphviz lays a graph out from top to bottom. A picture much taller than a screen is cut between boxes, and its parts
stand side by side, read from left to right. An arrow over a cut runs around the edge of its column: down under it, up
beside it, and into the next one from above. A frame over a cut continues too, and repeats its name.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from math import dist

from inplace_magic.render.graph.cuts import GUTTER, SCREEN, TALL, Part, cuts_of, parts_of
from inplace_magic.render.graph.labels import GROUP, PATH, POLYGON, TEXT, Point, move, move_shape, points_in, points_of

LANE, TURN = 6.0, 20.0
"""Room between the arrows that run between columns, and for an arrow to turn."""
BORDER, HEAD, INSET, MARGIN = 6.0, 18.0, 8.0, 10.0
"""Points between a cut and a frame, for the name of a frame that goes on, between frames, and around the picture."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def in_columns(drawn: ET.Element) -> None:
    """Rewrite a picture of Graphviz that is too tall.

    Args:
        drawn: the root of the SVG; changed in place.
    """
    graph = drawn.find(GROUP)
    box = _NUMBER.findall(drawn.get("viewBox", ""))
    if graph is None or (len(box) == 4 and float(box[3]) <= TALL * SCREEN[1]):
        return
    parts = parts_of(graph)
    cuts = cuts_of(parts)
    if cuts:
        _rewrite(drawn, graph, parts, cuts)


@dataclass(slots=True)
class _Column:
    top: float
    bottom: float
    left: float = 0.0
    right: float = 0.0
    dx: float = 0.0
    dy: float = 0.0
    edges: list[Part] = field(default_factory=list)
    """Arrows that leave it below."""
    cut: list[Part] = field(default_factory=list)
    """Frames with a piece here, the outermost first."""
    frames: list[Part] = field(default_factory=list)
    """Those of them that go on from the column before."""


def _rewrite(drawn: ET.Element, graph: ET.Element, parts: list[Part], cuts: list[float]) -> None:
    solid = [part for part in parts if part.kind != "edge"]
    top, bottom = min(part.top for part in solid) - BORDER, max(part.bottom for part in solid)
    columns = [_Column(*ends) for ends in pairwise([top, *cuts, bottom + BORDER])]
    for column in columns:
        _measure(column, parts)
    start = at = columns[0].left
    for column in columns:
        column.dx, column.dy = at - column.left, top - column.top + HEAD * len(column.frames)
        at += column.right - column.left + GUTTER + LANE * len(column.edges)
    place = _Placer(columns, top)
    for part in parts:
        place(part)
    low = max(column.bottom + column.dy for column in columns) + (TURN if columns else 0)
    right = columns[-1].right + columns[-1].dx
    texts = [element for element in graph if element.tag == TEXT]
    for text in texts:
        text.set("x", str((start + right) / 2))
        text.set("y", str(float(text.get("y", "0")) - TURN))
    box = [float(number) for number in _NUMBER.findall(drawn.get("viewBox", ""))]
    _, y = (float(number) for number in _NUMBER.findall(graph.get("transform", ""))[-2:])
    graph.set("transform", f"translate({MARGIN - start} {y + TURN})")
    drawn.set("viewBox", f"0 0 {right - start + 2 * MARGIN} {box[3] + low - bottom + TURN}")


def _measure(column: _Column, parts: list[Part]) -> None:
    """Notes how wide a column is, and what goes on from it and into it."""
    inside = [part for part in parts if part.top < column.bottom and part.bottom > column.top]
    xs: list[float] = []
    for part in inside:
        if part.top >= column.top and part.bottom <= column.bottom:
            xs += (part.left, part.right)
        elif part.kind == "edge":
            xs += [x for x, y in points_in(part.element) if column.top <= y <= column.bottom]
    frames = (part for part in inside if part.kind == "cluster")
    over = (part for part in frames if part.top < column.top or part.bottom > column.bottom)
    column.cut = cut = sorted(over, key=lambda part: part.left)
    column.frames = [part for part in cut if part.top < column.top]
    column.left, column.right = (min(xs) - INSET * len(cut), max(xs) + INSET * len(cut)) if xs else (0.0, 0.0)
    leaving = (part for part in inside if part.kind == "edge" and part.bottom > column.bottom)
    column.edges = sorted(leaving, key=lambda part: -part.right)


class _Placer:
    def __init__(self, columns: list[_Column], top: float) -> None:
        self.columns = columns
        self.top = top

    def __call__(self, part: Part) -> None:
        first, last = self.number(part.top), self.number(part.bottom)
        if first == last or part.kind == "node":
            move(part.element, self.columns[first].dx, self.columns[first].dy)
        elif part.kind == "cluster":
            self.split_frame(part, first, last)
        else:
            self.lead_on(part)

    def number(self, y: float) -> int:
        return next((n for n, column in enumerate(self.columns) if y < column.bottom), len(self.columns) - 1)

    def split_frame(self, part: Part, first: int, last: int) -> None:
        shapes = PATH, POLYGON
        holder = next(each for each in part.element.iter() if any(inner.tag in shapes for inner in each))
        shape, text = next(inner for inner in holder if inner.tag in shapes), holder.find(TEXT)
        looks = {name: value for name, value in shape.attrib.items() if name not in ("d", "points")}
        holder.remove(shape)
        if text is not None:
            holder.remove(text)
        for number in range(first, last + 1):
            column = self.columns[number]
            top, bottom = part.top + column.dy, min(part.bottom, column.bottom) + column.dy
            around = column.cut.index(part)
            if part in column.frames:
                top = self.top + HEAD * column.frames.index(part)
            left = max(part.left, column.left + INSET * around) + column.dx
            right = min(part.right, column.right - INSET * around) + column.dx
            corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
            moved = " ".join(f"{x},{y}" for x, y in corners)
            ET.SubElement(holder, POLYGON, {**looks, "points": moved})
            if text is not None:
                at = {"x": str(left + float(text.get("x", "0")) - part.left), "y": str(top + HEAD - 5)}
                ET.SubElement(holder, TEXT, {**text.attrib, **at}).text = text.text

    def lead_on(self, part: Part) -> None:
        lines = [shape for shape in part.element.iter(PATH) if shape.get("d")]
        heads = list(part.element.iter(POLYGON))
        end = points_of(lines[0])[-1] if lines else (0.0, part.top)
        tip = max((point for head in heads for point in points_in(head)), key=partial(dist, end), default=end)
        last = self.number(tip[1])
        for line in lines:
            line.set("d", self.way(part, points_of(line), last))
        for head in heads:
            move_shape(head, self.columns[last].dx, self.columns[last].dy)
        for text in part.element.iter(TEXT):
            column = self.columns[self.number(float(text.get("y", "0")))]
            move_shape(text, column.dx, column.dy)

    def way(self, part: Part, points: list[Point], last: int) -> str:
        """Return one line through all columns: the curve as far as it is in each, flat where it meets a cut, with turns
        between them; its head is in the last one."""
        way: list[Point] = []
        here = self.number(points[0][1])
        for start in range(0, len(points) - 1, 3):
            curve = points[start : start + 4]
            first, end = self.number(curve[0][1]), self.number(curve[3][1])
            for number in range(first, end + 1) if first <= end else range(first, end - 1, -1):
                column = self.columns[number]
                inside = [(x, min(max(y, column.top), column.bottom)) for x, y in curve]
                way += self.turns(part, way, inside[0], here, number)
                moved = [(x + column.dx, y + column.dy) for x, y in inside]
                way += moved if not way else moved[1:]
                here = number
        way += self.turns(part, way, points[-1], here, last)
        first_point, *rest = (f"{x:.2f},{y:.2f}" for x, y in way)
        return f"M{first_point}C{' '.join(rest)}"

    def turns(self, part: Part, way: list[Point], start: Point, here: int, there: int) -> list[Point]:
        """Return the way from one column to another, through each between them."""
        step = 1 if there > here else -1
        found: list[Point] = []
        for number in range(here, there, step) if way else ():
            found += self.turn(part, (found or way)[-1], start, number, number + step)
        return found

    def turn(self, part: Part, end: Point, start: Point, here: int, there: int) -> list[Point]:
        """From under a column to above the next one, or back."""
        left = self.columns[min(here, there)]
        lane = next((n for n, edge in enumerate(left.edges) if edge is part), 0)
        x = left.right + left.dx + GUTTER / 2 + LANE * lane
        low, high = left.bottom + left.dy, self.top
        under, above = low + TURN * (1 - 0.1 * lane), high - TURN * (1 - 0.1 * lane)
        new = start[0] + self.columns[there].dx, start[1] + self.columns[there].dy
        (below, _low), (into, down) = (end, new) if here < there else (new, end)
        path = [
            *((below, low), (below, under), (x, under), (x, low)),
            *((x, low), (x, high), (x, high)),
            *((x, above), (into, above), (into, high)),
            *((into, high), (into, down), (into, down)),
        ]
        return path[1:] if here < there else path[-2::-1]
