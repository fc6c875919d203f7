"""IPython's side: the magics, and what happens to a watched cell. ``%load_ext inplace_magic`` calls :func:`load`."""

from __future__ import annotations

from inplace_magic.magics.extension import begin, explain, load, refuse, unload

__all__ = ["begin", "explain", "load", "refuse", "unload"]
