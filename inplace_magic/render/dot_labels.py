"""Text for DOT: short enough to lay out, and escaped piece by piece, so that no name is read as markup or escape."""

from __future__ import annotations

from inplace_magic.render import words

CODE_LENGTH = 44
LINE_LENGTH = 120
"""Characters of any line in a label; Graphviz would lay out a box as wide as the longest one."""
ABOUT_LENGTH = 500
"""Characters of any line in a tooltip."""


def label_of(lines: list[str], length: int = LINE_LENGTH) -> str:
    """Several lines as one DOT label; empty ones are left out, long ones cut."""
    import graphviz

    # nohtml: a label that begins with < and ends with > would otherwise be taken as markup.
    shown = (words.printable(words.shortened(line, length)) for line in lines if line)
    escaped = (graphviz.escape(line.replace("&", "&amp;")) for line in shown)
    escaped_label: str = graphviz.nohtml("\\n".join(escaped))
    return escaped_label


def tail(name: str) -> str:
    """The end of a long name, which says more than its beginning."""
    return name if len(name) <= CODE_LENGTH else f"…{name[1 - CODE_LENGTH :]}"
