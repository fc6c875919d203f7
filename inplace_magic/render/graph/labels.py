"""Text for DOT: short enough to lay out, and escaped piece by piece, so that no name is read as markup or escape."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from math import ceil

from inplace_magic.render import lettering

CODE_LENGTH = 44
LINE_LENGTH = 120
"""Characters of any line in a label; Graphviz would lay out a box as wide as the longest one."""
ABOUT_LENGTH = 500
"""Characters of any line in a tooltip."""


SPACES = 0.3
"""On each side of a line, for each Chinese letter: by how much Graphviz as WebAssembly takes it to be too narrow.

Having no font with the letter it counts its three bytes, 0.28 em each. From about twelve letters on they would
stand over the edges of a box.
"""


def label_of(lines: list[str]) -> str:
    """Several lines as one label to be drawn; empty ones are left out, long ones cut."""
    return _escaped(_with_room(lettering.shortened(line, LINE_LENGTH)) for line in lines if line)


def tooltip_of(lines: list[str]) -> str:
    return _escaped(lettering.shortened(line, ABOUT_LENGTH) for line in lines if line)


def _with_room(line: str) -> str:
    """With spaces around it where its letters are wider than Graphviz takes them; :mod:`.svg` takes them off again."""
    spaces = " " * ceil(SPACES * (lettering.width(line) - len(line)))
    return f"{spaces}{line}{spaces}"


def _escaped(lines: Iterable[str]) -> str:
    import graphviz

    # nohtml: a label that begins with < and ends with > would otherwise be taken as markup.
    shown = (lettering.printable(line) for line in lines)
    escaped = (graphviz.escape(line.replace("&", "&amp;")) for line in shown)
    escaped_label: str = graphviz.nohtml("\\n".join(escaped))
    return escaped_label


def tail(name: str) -> str:
    """Return the end of a long name, which says more than its beginning."""
    return name if len(name) <= CODE_LENGTH else f"…{name[1 - CODE_LENGTH :]}"


SVG = "http://www.w3.org/2000/svg"
GROUP, LINK, NAMED, TEXT, PATH, POLYGON = (
    f"{{{SVG}}}{name}" for name in ("g", "a", "title", "text", "path", "polygon")
)
Point = tuple[float, float]
_EACH = re.compile(r"(-?\d+(?:\.\d+)?)")
_BETWEEN = str.maketrans("MCLZ,", "     ")
"""What Graphviz writes between the numbers of a shape."""


def numbers_of(shape: ET.Element) -> list[float]:
    """Return the coordinates of a path or a polygon, one after the other."""
    return list(map(float, (shape.get("d") or shape.get("points") or "").translate(_BETWEEN).split()))


def points_of(shape: ET.Element) -> list[Point]:
    numbers = numbers_of(shape)
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def points_in(element: ET.Element) -> Iterable[Point]:
    """Corners and control points of what a group draws; not its text, which its box is as wide as."""
    for shape in element.iter():
        yield from points_of(shape)


def move(element: ET.Element, dx: float, dy: float) -> None:
    """Moves all that a group draws."""
    for shape in element.iter():
        move_shape(shape, dx, dy)


def move_shape(shape: ET.Element, dx: float, dy: float) -> None:
    for name, by in (("x", dx), ("y", dy)):
        if shape.get(name):
            shape.set(name, str(float(shape.get(name, "0")) + by))
    for name in ("d", "points"):
        if shape.get(name):
            moved = iter([f"{number + (dy if n % 2 else dx):.2f}" for n, number in enumerate(numbers_of(shape))])
            pieces = enumerate(_EACH.split(shape.get(name, "")))
            shape.set(name, "".join(next(moved) if n % 2 else piece for n, piece in pieces))
