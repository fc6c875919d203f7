"""Text made to fit a line, a column or a table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from unicodedata import east_asian_width

MAX_TEXT = 2000
"""Characters of any one piece of text on a page; a line of data in the user's code can be megabytes long."""
JOINERS = "\u200c\u200d"
"""Invisible, but part of the spelling of Persian words and of many emoji."""


def printable(text: str) -> str:
    """Return the text on one line, with invisible characters replaced.

    Neither XML nor UTF-8 can carry control characters and lone surrogates; a terminal obeys escape sequences; and marks
    that turn the direction of writing show code in another order than Python reads it.
    """
    if text.isprintable():
        return text
    return "".join(map(_printable, text))


def _printable(letter: str) -> str:
    if letter.isprintable() or letter in JOINERS:
        return letter
    return " " if letter.isspace() else "\ufffd"


def joined(lines: Iterable[str]) -> str:
    """Return lines as one text; a line break or an escape sequence inside one, as in a name, does not get out."""
    return "\n".join(printable(shortened(line, MAX_TEXT)) for line in lines)


def shortened(text: str, length: int) -> str:
    """Return at most ``length`` characters; an ellipsis marks a cut end."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def width(text: str) -> int:
    """Columns that the text takes where all letters are equally wide: two for each Chinese one."""
    return len(text) if text.isascii() else sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Return the text with spaces up to a number of columns, at its right, or at its left to stand `right`."""
    spaces = " " * (columns - width(text))
    return spaces + text if right else text + spaces


def rows_shown(count: int, most: int) -> int:
    """Return the number of table rows to show: all up to `most`; of more, a sixth less than `most`, since it is cut
    anyway."""
    return most if count <= most else most * 5 // 6


def first_sentence(message: str) -> str:
    """Return the message up to the first full stop outside backticks; a Latin one ends a sentence where a space
    follows."""
    found = _SENTENCE.match(message)
    return found[0] if found is not None else message


_SENTENCE = re.compile(r"(?:`[^`]*(?:`|\Z)|[^`])*?(?:。|\.(?=[ \n]|\Z))")
