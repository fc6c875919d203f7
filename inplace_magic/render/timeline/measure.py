"""How wide a text is drawn, where nothing can be asked: rather a little more than it is."""

from __future__ import annotations

from functools import cache
from unicodedata import east_asian_width

NARROW, WIDE = "iljtfrI.,:;'|![]() -·", "mwMW@%…→⋯✗"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Pixels of a text in one of the fonts of :mod:`.style`, at a font size in pixels."""
    return sum(map(_em, text)) * size * (1.08 if bold else 1)


def fitting(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """The text, or its beginning and an ellipsis where it is wider than `room` pixels; empty where nothing fits."""
    if width(text, size, bold=bold) <= room:
        return text
    text = text[: max(0, int(room / width(NARROW[0], size, bold=bold)))]  # more letters fit in no case
    while text and width(f"{text}…", size, bold=bold) > room:
        text = text[:-1]
    return f"{text.rstrip()}…" if text else ""


@cache
def _em(letter: str) -> float:
    if letter in NARROW:
        return 0.36
    if letter in WIDE or east_asian_width(letter) in "WF" or ord(letter) > 0xFFFF:
        return 1.0
    return 0.72 if letter.isupper() else 0.58
