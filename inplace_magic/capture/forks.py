"""A forked child is not watched.

``DataLoader`` workers, a pool of processes and ``os.fork`` start as copies of this process, in the middle of the
watched block: with the probes on, a record that nobody reads, and the cost of both. So the copy takes the probes off
first. Python's hook for that cannot be removed again; in a process without a watch it does nothing.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from typing import Any

WATCHES: weakref.WeakSet[Any] = weakref.WeakSet()
"""Those whose probes are on, or about to go on: in a forked child ``abandon()`` is called, and each is off there."""


def _in_the_child() -> None:
    for watch in list(WATCHES):
        watch.abandon()
    WATCHES.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_in_the_child)


def silence(mode: Any) -> None:
    """Makes a mode do nothing from now on. One that runs user code right now stays on the stack until that returns."""
    mode.__class__ = type(type(mode).__name__, (type(mode),), dict.fromkeys(_HANDLERS, _pass_on))


_HANDLERS = ("__torch_function__", "__torch_dispatch__")


def _pass_on(
    _mode: Any,
    func: Callable[..., Any],
    types: Any,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> Any:
    return func(*args, **(kwargs or {}))
