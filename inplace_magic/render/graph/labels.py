"""Text for DOT: short enough to lay out, and escaped piece by piece, so that no name is read as markup or escape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from inplace_magic.analysis.tree.overview import whole_modules
from inplace_magic.analysis.vertices import CallVertex
from inplace_magic.render import lettering

CODE_LENGTH = 44
LINE_LENGTH = 120
"""Characters of any line in a label; Graphviz would lay out a box as wide as the longest one."""
ABOUT_LENGTH = 500
"""Characters of any line in a tooltip."""


SPACES = 0.3
"""On each side of a line, for each Chinese letter: by how much Graphviz as WebAssembly takes it to be too narrow.

Having no font with the letter it counts its three bytes, 0.28 em each. From about twelve letters on they would
stand over the edges of a box.
"""


def label_of(lines: list[str]) -> str:
    """Several lines as one label to be drawn; empty ones are left out, long ones cut."""
    return _escaped(_with_room(lettering.shortened(line, LINE_LENGTH)) for line in lines if line)


def tooltip_of(lines: list[str]) -> str:
    """Several lines as one tooltip."""
    return _escaped(lettering.shortened(line, ABOUT_LENGTH) for line in lines if line)


def _with_room(line: str) -> str:
    """With spaces around it where its letters are wider than Graphviz takes them; :mod:`.svg` takes them off again."""
    spaces = " " * ceil(SPACES * (lettering.width(line) - len(line)))
    return f"{spaces}{line}{spaces}"


def _escaped(lines: Iterable[str]) -> str:
    import graphviz

    # nohtml: a label that begins with < and ends with > would otherwise be taken as markup.
    shown = (lettering.printable(line) for line in lines)
    escaped = (graphviz.escape(line.replace("&", "&amp;")) for line in shown)
    escaped_label: str = graphviz.nohtml("\\n".join(escaped))
    return escaped_label


def tail(name: str) -> str:
    """The end of a long name, which says more than its beginning."""
    return name if len(name) <= CODE_LENGTH else f"…{name[1 - CODE_LENGTH :]}"


def layers_of(calls: Sequence[CallVertex]) -> dict[str, str]:
    """``net.conv1: Conv2d`` for each call that is all of a module's forward and reads its parameters, by its key."""
    return {key: f"{tail(path)}: {cls}" for key, (path, cls) in whole_modules(calls).items() if path}
