"""Find the cuts of a tall picture into columns: between boxes, where few arrows and frames are in the way; none if it
is legible without."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from inplace_magic.render.graph.labels import GROUP, points_in

PAGE = 760.0, 600.0
"""Points of a page that a picture may take without its letters becoming small."""
SCREEN = 720.0, 236.0
"""Points of a report's picture frame; a picture whose columns fit it needs no further check."""
TALL = 1.5
"""Times the height of a page or a frame, below which a picture is not cut."""
MOST_COLUMNS = 4
GUTTER = 26.0
"""Room between columns."""
MOST_CROSSING = 6
"""Arrows over one cut."""


@dataclass(slots=True)
class Part:
    """A group of the picture with the room that it takes."""

    element: ET.Element
    kind: str
    left: float
    top: float
    right: float
    bottom: float


def parts_of(graph: ET.Element) -> list[Part]:
    """Return the boxes, frames and arrows of a picture that Graphviz drew."""
    found = []
    for element in graph:
        points = list(points_in(element)) if element.tag == GROUP else []
        if points:
            xs, ys = zip(*points, strict=True)
            found.append(Part(element, element.get("class", "").split()[0], min(xs), min(ys), max(xs), max(ys)))
    return found


def cuts_of(parts: list[Part]) -> list[float]:
    """Return the cuts; none if the picture is legible without, or there is no good place."""
    solid = [part for part in parts if part.kind != "edge"]
    if not solid:
        return []
    top, bottom = min(part.top for part in solid), max(part.bottom for part in solid)
    width, height = max(part.right for part in parts) - min(part.left for part in parts), bottom - top
    places = list(_places(parts))
    whole = _best(places, top, bottom, width, SCREEN) if height > TALL * SCREEN[1] else (0.0, [])
    if whole[0] == 1:
        return whole[1]
    return _best(places, top, bottom, width, PAGE)[1] if height >= TALL * PAGE[1] else []


def _best(
    places: list[tuple[float, float]], top: float, bottom: float, width: float, page: tuple[float, float]
) -> tuple[float, list[float]]:
    """Return the scale at which the picture fits the page, and the cuts by which it does; none where they gain
    nothing."""
    height = bottom - top
    best, chosen = _scale(width, height, page), list[float]()
    for count in range(2, MOST_COLUMNS + 1):
        targets = [top + height * number / count for number in range(1, count)]
        cuts = sorted({min(places, key=partial(_cost, target, height)) for target in targets} if places else ())
        edges = [top, *(y for y, _ in cuts), bottom]
        tallest = max(after - before for before, after in pairwise(edges))
        scale = _scale(count * width + (count - 1) * GUTTER, tallest, page)
        if len(cuts) == count - 1 and scale > 1.1 * best:
            best, chosen = scale, [y for y, _ in cuts]
    return best, chosen


def _scale(width: float, height: float, page: tuple[float, float]) -> float:
    return min(1.0, page[0] / width, page[1] / height)


def _cost(target: float, height: float, place: tuple[float, float]) -> float:
    return abs(place[0] - target) / height + 0.04 * place[1]


def _places(parts: list[Part]) -> Iterable[tuple[float, float]]:
    """Return the heights at which no box is cut, with the arrows and frames cut there."""
    boxes = sorted((part.top, part.bottom) for part in parts if part.kind == "node")
    low = boxes[0][1] if boxes else 0.0
    frames = [part for part in parts if part.kind == "cluster"]
    edges = [part for part in parts if part.kind == "edge"]
    for top, bottom in boxes:
        if top > low:
            starts = [frame.top for frame in frames if low < frame.top < top]
            ends = [frame.bottom for frame in frames if low < frame.bottom < top]
            y = (max([low, *ends]) + min([top, *starts])) / 2
            if max([low, *ends]) < min([top, *starts]):
                crossing = sum(edge.top < y < edge.bottom for edge in edges)
                if crossing <= MOST_CROSSING:
                    yield y, crossing + sum(frame.top < y < frame.bottom for frame in frames)
        low = max(low, bottom)
