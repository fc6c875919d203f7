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

from inplace_magic.language import N_, _
from inplace_magic.render import style
from inplace_magic.render.graph.columns import in_columns
from inplace_magic.render.lettering import width

SVG = "http://www.w3.org/2000/svg"
XLINK_TITLE = "{http://www.w3.org/1999/xlink}title"
NAME = "im-graph"
"""Class of the picture; the rule for all its text names it, since an inline SVG shares its ``<style>`` with a page."""
FONT_SIZE = "11"
TITLE = N_("Autograd graph: tensors, calls, and what is kept for backward")
KINDS = {"node": "n", "edge": "e", "cluster": "k"}
DOTTED, DOTS = "1,5", "2,3"
"""Graphviz' dots, of which a short arrow shows one, and ours."""
LOOK = ("fill", "stroke", "stroke-width", "stroke-dasharray")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MOVE = re.compile(r"translate\((\S+) (\S+)\)")

Point = tuple[float, float]


def compact(svg: str) -> str:
    """The same picture in about a third of the bytes; the same input gives the same text.

    Args:
        svg: as any version of Graphviz writes it.
    """
    drawn = ET.fromstring(svg)
    in_columns(drawn)
    graph = drawn.find(f"{{{SVG}}}g")
    root = ET.Element("svg", {"xmlns": SVG, "class": NAME, "role": "img"})
    box = [float(number) for number in _NUMBER.findall(drawn.get("viewBox", ""))]
    # Graphviz writes points; some readers of SVG know only pixels, of which four are three points.
    root.attrib.update({"width": _short(box[2] * 4 / 3), "height": _short(box[3] * 4 / 3)})
    root.set("viewBox", " ".join(_short(number, 1) for number in box))
    root.attrib.update({"font-family": style.SVG_FONTS, "font-size": FONT_SIZE, "text-anchor": "middle"})
    ET.SubElement(root, "title").text = _(TITLE)
    rules = ET.SubElement(root, "style")
    ET.SubElement(root, "rect", {"class": "card", "width": "100%", "height": "100%", "fill": style.CARD})
    if graph is not None:
        move = _MOVE.search(graph.get("transform", ""))
        writer = _Writer((float(move[1]), float(move[2])) if move is not None else (0.0, 0.0))
        root.extend(writer.group(element) for element in graph if _tag(element) == "g")
        root.extend(writer.shapes([element for element in graph if _tag(element) == "text"], {}))
        rules.text = "".join(writer.rules())
    return ET.tostring(root, encoding="unicode", short_empty_elements=True).replace(" />", "/>")


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

    def group(self, element: ET.Element) -> ET.Element:
        kind, _, words = element.get("class", "").partition(" ")
        letter = KINDS.get(kind, "n")
        link = next(element.iter(f"{{{SVG}}}a"), None)
        shapes = [part for part in element.iter() if _tag(part) in ("path", "polygon", "polyline", "ellipse", "text")]
        first = next((part for part in shapes if _tag(part) != "text"), None)
        look = {name: first.get(name, "") for name in LOOK if first is not None and first.get(name)}
        if look.get("stroke-dasharray") == DOTTED:
            look["stroke-dasharray"] = DOTS
        name = self.looks.setdefault(tuple(look.items()), _named(letter, look))
        made = ET.Element("g", {"class": " ".join(filter(None, (letter, name, words)))})
        key = element.findtext(f"{{{SVG}}}title") or ""
        if letter == "e":
            source, _, target = key.partition("->")
            made.attrib.update({"data-f": source, "data-t": target})
        else:
            made.set("data-k", key.removeprefix("cluster_"))
        said = link.get(XLINK_TITLE) if link is not None else None
        if said:
            ET.SubElement(made, "title").text = said
        made.extend(self.shapes(shapes, look))
        return made

    def shapes(self, shapes: Sequence[ET.Element], look: dict[str, str]) -> Iterable[ET.Element]:
        for shape in shapes:
            made = self.shape(shape)
            if made.tag == "text":
                colour = {"fill": shape.get("fill", style.INK)}
                if colour["fill"].lower() != style.INK.lower():
                    made.set("class", self.looks.setdefault(tuple(colour.items()), _named("t", colour)))
                size = float(shape.get("font-size", FONT_SIZE))
                if size != float(FONT_SIZE):
                    made.set("font-size", _short(size, 1))
                if shape.get("text-anchor") == "start":
                    made.set("text-anchor", "start")
                made.text = _without_room(shape.text or "")
            elif shape.get("fill") == "none" != look.get("fill"):
                made.set("fill", "none")
            yield made

    def shape(self, shape: ET.Element) -> ET.Element:
        tag = _tag(shape)
        if tag == "text":
            x, y = self.at(shape.get("x"), shape.get("y"))
            return ET.Element("text", {"x": _short(x), "y": _short(y)})
        if tag == "ellipse":
            x, y = self.at(shape.get("cx"), shape.get("cy"))
            radii = {name: _short(float(shape.get(name, "0"))) for name in ("rx", "ry")}
            return ET.Element("ellipse", {"cx": _short(x), "cy": _short(y), **radii})
        numbers = [float(number) for number in _NUMBER.findall(shape.get("d") or shape.get("points") or "")]
        points = [self.at(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
        if tag == "path":
            rounded = points[0] == points[-1] and len(points) > 20
            return _box(points, 6) if rounded else ET.Element("path", {"d": _path(points, "c", 0)})
        corners = {point[0] for point in points}, {point[1] for point in points}
        if tag == "polygon" and len(points) == 5 and max(map(len, corners)) == 2:
            return _box(points, 0)
        if tag == "polyline":
            return ET.Element("path", {"d": _path(points, "l", 1)})
        # The head of an arrow: its shape shows each tenth, half a unit to the side is not to be seen.
        x, y = (axis - round(axis) for axis in points[0])
        return ET.Element("path", {"d": _path([(left - x, top - y) for left, top in points[:-1]], "l", 1) + "z"})

    def at(self, x: float | str | None, y: float | str | None) -> Point:
        return float(x or 0) + self.move[0], float(y or 0) + self.move[1]


def _named(letter: str, look: dict[str, str]) -> str:
    """The same name for the same look in every picture: where two are inline in one page, they share their rules."""
    return f"{letter}{zlib.crc32(repr(sorted(look.items())).encode()):x}"[:5]


def _box(points: Sequence[Point], radius: int) -> ET.Element:
    left, top = (min(point[axis] for point in points) for axis in (0, 1))
    right, bottom = (max(point[axis] for point in points) for axis in (0, 1))
    width, height = round(right) - round(left), round(bottom) - round(top)
    if not radius:
        return ET.Element("path", {"d": f"M{_short(left)} {_short(top)}h{width}v{height}h{-width}z"})
    box = {"x": left, "y": top, "width": width, "height": height, "rx": radius}
    return ET.Element("rect", {key: _short(value) for key, value in box.items()})


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
    """Without the spaces that :mod:`.dot_labels` puts around Chinese letters, so that they are measured wide enough."""
    return text if width(text) == len(text) else text.strip()


def _short(number: float, digits: int = 0) -> str:
    text = f"{number:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _tag(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]
