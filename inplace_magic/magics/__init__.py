"""IPython's side: the magics, and what happens to a watched cell. ``%load_ext inplace_magic`` calls :func:`load`.

It may know the shell, its events and its transformers, and passes options on to the rooms below. It records, judges and
draws nothing, imports no torch when it is loaded, and leaves the shell as it was when it is unloaded.
"""

from __future__ import annotations

from inplace_magic.magics.extension import begin, explain, load, refuse, unload

__all__ = ["begin", "explain", "load", "refuse", "unload"]
