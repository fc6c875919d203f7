"""Graphviz's SVG made small: a picture travels inside every saved notebook, and notebooks are kept in version control.

Graphviz repeats font, colours and two decimals on every line of text and writes a rounded box as twelve points. Here
every distinct look becomes one class in one ``<style>``, rounded boxes become ``<rect>``, curves and other boxes get
whole numbers relative to each other, and comments, links and ids go; ids also because a notebook holds many of these
pictures in one page.

What scripts and tests can rely on, and nothing else:

- ``<g class="n …" data-k="KEY">``: a tensor version, a call or a fold; ``KEY`` is its key in the graph.
- ``<g class="e …" data-f="KEY" data-t="KEY">``: an arrow, from and to.
- ``<g class="k …" data-k="KEY">``: a frame around several nodes.
- ``<rect class="card">``: the light ground under it all.
- ``<title>`` in a group: its name for screen readers and what the drawn text leaves out.
- the words that DOT gave as ``class``, such as ``guilty``, stand behind the others.
- coordinates are those of the ``viewBox``; no group is moved or scaled.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Iterable, Sequence
from html import escape

from inplace_magic.language import N_, _
from inplace_magic.render import style
from inplace_magic.render.graph.columns import in_columns
from inplace_magic.render.graph.labels import GROUP, LINK, NAMED, PATH, POLYGON, SVG, TEXT, Point, points_of
from inplace_magic.render.lettering import width

XLINK_TITLE = "{http://www.w3.org/1999/xlink}title"
NAME = "im-graph"
"""Class of the picture; the rule for all its text names it, since an inline SVG shares its ``<style>`` with a page."""
FONT_SIZE = "11"
TITLE = N_("Autograd graph: tensors, calls, and what is kept for backward")
KINDS = {"node": "n", "edge": "e", "cluster": "k"}
DOTTED, DOTS = "1,5", "2,3"
"""Graphviz' dots, of which a short arrow shows one, and ours."""
LOOK = ("fill", "stroke", "stroke-width", "stroke-dasharray")
SHAPES = {PATH, POLYGON, TEXT}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MOVE = re.compile(r"translate\((\S+) (\S+)\)")


def compact(svg: str) -> str:
    """Return the same picture in about a third of the bytes; the same input gives the same text."""
    drawn = ET.fromstring(svg)
    in_columns(drawn)
    graph = drawn.find(GROUP)
    box = [float(number) for number in _NUMBER.findall(drawn.get("viewBox", ""))]
    # Graphviz writes points; some readers of SVG know only pixels, of which four are three points.
    size = {"width": _short(box[2] * 4 / 3), "height": _short(box[3] * 4 / 3)}
    view = " ".join(_short(number, 1) for number in box)
    letters = {"font-family": style.SVG_FONTS, "font-size": FONT_SIZE, "text-anchor": "middle"}
    root = _attributes({"xmlns": SVG, "class": NAME, "role": "img", **size, "viewBox": view, **letters})
    ground = _attributes({"class": "card", "width": "100%", "height": "100%", "fill": style.CARD})
    rules, parts = "", list[str]()
    if graph is not None:
        move = _MOVE.search(graph.get("transform", ""))
        writer = _Writer((float(move[1]), float(move[2])) if move is not None else (0.0, 0.0))
        parts = [writer.group(element) for element in graph if element.tag == GROUP]
        parts += writer.shapes([element for element in graph if element.tag == TEXT], {})
        rules = "".join(writer.rules())
    title = f"<title>{escape(_(TITLE))}</title><style>{escape(rules, quote=False)}</style>"
    return f"<svg{root}>{title}<rect{ground}/>{''.join(parts)}</svg>"


class _Writer:
    """Writes groups and collects the looks that they have."""

    def __init__(self, move: Point) -> None:
        self.move = move
        self.looks: dict[tuple[tuple[str, str], ...], str] = {}

    def rules(self) -> Iterable[str]:
        yield f".{NAME} text{{fill:{style.INK};stroke:none}}"
        for look, name in self.looks.items():
            said = dict(look)
            # Named by its look, a class needs no scope; that of a text has to win over the rule for all text.
            yield f"{'text' if name[0] == 't' else ''}.{name}{{{';'.join(f'{key}:{value}' for key, value in look)}}}"
            if name[0] == "e":
                whole = ";stroke-dasharray:none" if "stroke-dasharray" in said else ""
                yield f".{name} path+path{{fill:{said.get('stroke', style.INK)}{whole}}}"

    def group(self, element: ET.Element) -> str:
        kind, _, words = element.get("class", "").partition(" ")
        letter = KINDS.get(kind, "n")
        shapes: list[ET.Element] = []
        said = key = ""
        first = None
        for part in element.iter():
            if part.tag in SHAPES:
                shapes.append(part)
                first = part if first is None and part.tag != TEXT else first
            elif part.tag == LINK:
                said = said or part.get(XLINK_TITLE, "")
            elif part.tag == NAMED:
                key = key or part.text or ""
        look = {} if first is None else {name: first.get(name, "") for name in LOOK if first.get(name)}
        if look.get("stroke-dasharray") == DOTTED:
            look["stroke-dasharray"] = DOTS
        classes = " ".join(filter(None, (letter, self.name(letter, look), words)))
        if letter == "e":
            source, _, target = key.partition("->")
            keys = {"data-f": source, "data-t": target}
        else:
            keys = {"data-k": key.removeprefix("cluster_")}
        title = f"<title>{escape(said, quote=False)}</title>" if said else ""
        return f"<g{_attributes({'class': classes, **keys})}>{title}{''.join(self.shapes(shapes, look))}</g>"

    def name(self, letter: str, look: dict[str, str]) -> str:
        """Return the same name for the same look in every picture: where two are inline in one page, they share their
        rules."""
        made = f"{letter}{zlib.crc32(repr(sorted(look.items())).encode()):x}"[:5]
        return self.looks.setdefault(tuple(look.items()), made)

    def shapes(self, shapes: Iterable[ET.Element], look: dict[str, str]) -> Iterable[str]:
        for shape in shapes:
            if shape.tag == TEXT:
                yield self.text(shape)
            else:
                hollow = ' fill="none"' if shape.get("fill") == "none" != look.get("fill") else ""
                yield f"<{self.shape(shape)}{hollow}/>"

    def text(self, shape: ET.Element) -> str:
        x, y = float(shape.get("x", "0")) + self.move[0], float(shape.get("y", "0")) + self.move[1]
        made = {"x": _short(x), "y": _short(y)}
        colour = shape.get("fill", style.INK)
        if colour.lower() != style.INK.lower():
            made["class"] = self.name("t", {"fill": colour})
        size = float(shape.get("font-size", FONT_SIZE))
        if size != float(FONT_SIZE):
            made["font-size"] = _short(size, 1)
        words = escape(_without_room(shape.text or ""), quote=False)
        return f"<text{_attributes(made)}>{words}</text>"

    def shape(self, shape: ET.Element) -> str:
        right, down = self.move
        points = [(x + right, y + down) for x, y in points_of(shape)]
        if shape.tag == PATH:
            rounded = points[0] == points[-1] and len(points) > 20
            return _box(points, 6) if rounded else f'path d="{_path(points, "c", 0)}"'
        corners = {point[0] for point in points}, {point[1] for point in points}
        if len(points) == 5 and max(map(len, corners)) == 2:
            return _box(points, 0)
        # The head of an arrow: its shape shows each tenth, half a unit to the side is not to be seen.
        x, y = (axis - round(axis) for axis in points[0])
        return f'path d="{_path([(left - x, top - y) for left, top in points[:-1]], "l", 1)}z"'


def _attributes(given: dict[str, str]) -> str:
    return "".join([f' {name}="{escape(value)}"' for name, value in given.items()])


def _box(points: Sequence[Point], radius: int) -> str:
    xs, ys = zip(*points, strict=True)
    left, top = round(min(xs)), round(min(ys))
    width, height = round(max(xs)) - left, round(max(ys)) - top
    if not radius:
        return f'path d="M{left} {top}h{width}v{height}h{-width}z"'
    return f'rect x="{left}" y="{top}" width="{width}" height="{height}" rx="{radius}"'


def _path(points: Sequence[Point], letter: str, digits: int) -> str:
    """Relative to the point before (of a curve: before its two control points), with rounding that does not add up."""
    here = (round(points[0][0], digits), round(points[0][1], digits))
    if letter == "c" and len({round(x, digits) for x, _ in points}) == 1:  # most arrows are straight
        return f"M{_short(here[0], digits)} {_short(here[1], digits)}V{_short(points[-1][1], digits)}"
    text = f"M{_short(here[0], digits)} {_short(here[1], digits)}{letter}"
    size = 3 if letter == "c" else 1
    for start in range(1, len(points), size):
        for point in points[start : start + size]:
            end = (round(point[0], digits), round(point[1], digits))
            for number in (end[0] - here[0], end[1] - here[1]):
                shown = _short(number, digits)
                text += shown if shown.startswith("-") or text[-1] == letter else f" {shown}"
        here = end
    return text


def _without_room(text: str) -> str:
    """Without the spaces that :mod:`.labels` puts around Chinese letters, so that they are measured wide enough."""
    return text if width(text) == len(text) else text.strip()


def _short(number: float, digits: int = 0) -> str:
    if not digits:
        return str(round(number))
    text = f"{number:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
