"""The shapes of an SVG of Graphviz's: where their points are, and the same shapes elsewhere."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from itertools import pairwise

SVG = "{http://www.w3.org/2000/svg}"
Point = tuple[float, float]
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_EACH = re.compile(rf"({_NUMBER.pattern})")


def points_in(element: ET.Element) -> Iterable[Point]:
    """Corners and control points of what a group draws; not its text, which its box is as wide as."""
    for shape in element.iter():
        numbers = [float(number) for number in _NUMBER.findall(shape.get("d") or shape.get("points") or "")]
        yield from zip(numbers[::2], numbers[1::2], strict=True)
        if shape.tag == f"{SVG}ellipse":
            x, y, rx, ry = (float(shape.get(name, "0")) for name in ("cx", "cy", "rx", "ry"))
            yield from ((x - rx, y - ry), (x + rx, y + ry))


def points_of(shape: ET.Element) -> list[Point]:
    """The points of a path."""
    numbers = [float(number) for number in _NUMBER.findall(shape.get("d", ""))]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def divided(curve: list[Point], at: float) -> tuple[list[Point], list[Point]]:
    """A cubic curve in two, by de Casteljau."""
    one, other, points = [curve[0]], [curve[-1]], curve
    while len(points) > 1:
        points = [(a[0] + (b[0] - a[0]) * at, a[1] + (b[1] - a[1]) * at) for a, b in pairwise(points)]
        one.append(points[0])
        other.insert(0, points[-1])
    return one, other


def move(element: ET.Element, dx: float, dy: float) -> None:
    """Moves all that a group draws."""
    for shape in element.iter():
        move_shape(shape, dx, dy)


def move_shape(shape: ET.Element, dx: float, dy: float) -> None:
    """Moves one shape."""
    for names in (("x", "y"), ("cx", "cy")):
        for name, by in zip(names, (dx, dy), strict=True):
            if shape.get(name):
                shape.set(name, str(float(shape.get(name, "0")) + by))
    for name in ("d", "points"):
        numbers = [float(number) for number in _NUMBER.findall(shape.get(name, ""))]
        if numbers:
            moved = iter([f"{number + (dy if n % 2 else dx):.2f}" for n, number in enumerate(numbers)])
            pieces = enumerate(_EACH.split(shape.get(name, "")))
            shape.set(name, "".join(next(moved) if n % 2 else piece for n, piece in pieces))
