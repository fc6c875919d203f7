"""A report's text for a terminal: wrapped to its width, a few colours on top. For anything else the text as it is.

What is asked of the surroundings is what other tools ask: ``NO_COLOR`` (https://no-color.org), ``FORCE_COLOR``,
``TERM=dumb``, and ``COLUMNS`` by way of :func:`shutil.get_terminal_size`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from inplace_magic.render import lettering, to_mimebundle
from inplace_magic.render.style import EFFECT_SYMBOL, SEVERITY_SYMBOL
from inplace_magic.report import Report
from inplace_magic.source.shells import running_shell

NARROWEST = 40
_PLAIN, _BOLD, _RED, _GREEN = "\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m"
_COLOURED = (
    (re.compile(r"^\s+-"), _RED),
    (re.compile(r"^\s+\+"), _GREEN),
    (re.compile(r"^\s*> +\d+ \|"), _BOLD),
    (re.compile(rf"^\S.*(?:{'|'.join(map(re.escape, SEVERITY_SYMBOL.values()))})|^[✓✗]"), _BOLD),
)
"""The first that a line begins with gives its colour; signs say the same without."""
_CODE = re.compile(r"^\s*>?\s+\d* \| |^\s{4,}[-+@ ]|  .*   ")
"""Lines of source, of diffs and of tables, which are not wrapped."""
_STEP = re.compile(rf"^ {{6}}[{re.escape(''.join(EFFECT_SYMBOL.values()))}] ")
"""What a line of code did, which is."""


def shown(report: Report) -> None:
    """Shows a report: in a shell of IPython as one output, elsewhere as text on standard output."""
    shell = running_shell()
    if shell is not None:
        publish(shell, to_mimebundle(report))
    else:
        print(fitted(report.to_text().rstrip("\n"), sys.stdout))


def publish(shell: Any, bundle: Mapping[str, str], *, apart: bool = False) -> None:
    """Display it; in a terminal, whose text is all that is shown, with lines of its width and its colours, and with an
    empty line above if it stands `apart`."""
    if sys.stdout is not None and sys.stdout.isatty():
        text = fitted(bundle["text/plain"], sys.stdout)
        bundle = {**bundle, "text/plain": f"\n{text}" if apart else text}
    shell.display_pub.publish(data=bundle)


def fitted(text: str, stream: TextIO) -> str:
    """Return the text as it is printed to a stream: wrapped and coloured where that is a terminal."""
    try:
        terminal = stream.isatty()
    except (AttributeError, ValueError):  # an object of the program's that is no file, or a closed one
        terminal = False
    lines = text.split("\n")
    if terminal:
        width = max(shutil.get_terminal_size().columns, NARROWEST)
        lines = [part for line in lines for part in _wrapped(line, width)]
    if _is_coloured(terminal):
        lines = [_coloured(line) for line in lines]
    return "\n".join(lines)


def _is_coloured(terminal: bool, /) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    plain = os.environ.get("TERM") == "dumb" or (sys.platform == "win32" and "WT_SESSION" not in os.environ)
    return terminal and not plain


def _coloured(line: str) -> str:
    colour = next((colour for begins, colour in _COLOURED if begins.match(line)), None)
    return f"{colour}{line}{_PLAIN}" if colour is not None else line


def _wrapped(line: str, width: int) -> list[str]:
    """Broken at spaces, or between Chinese letters, with the indent of its first word on every line."""
    if lettering.width(line) <= width or (_CODE.search(line) and not _STEP.match(line)):
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    found, current = [], indent
    for piece in re.findall(r"[\u2e80-\u9fff\uff00-\uffef]|[^\s\u2e80-\u9fff\uff00-\uffef]+\s*|\s+", line.lstrip()):
        if lettering.width(current + piece.rstrip()) > width and current.strip():
            found.append(current.rstrip())
            current = indent
        current += piece
    return [*found, current.rstrip()]
