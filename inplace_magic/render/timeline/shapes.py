"""The marks of the timeline: each kind has a shape of its own; colour comes on top of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from inplace_magic.language import N_
from inplace_magic.render import style

NAME: Final = "im-tracks"
"""Class of the picture; its rules name it, since an inline SVG shares its ``<style>`` with the page around it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a kind of mark looks."""

    cls: str
    """Class of its group."""
    dx: float
    dy: float
    path: str
    """Path commands after the move to a place that lies `dx` and `dy` from its middle."""
    look: str
    legend: str

    def at(self, x: float, y: float) -> str:
        """Return the path, with its middle at a place."""
        return f'<path d="M{short(x + self.dx)} {short(y + self.dy)}{self.path}"/>'


def short(number: float) -> str:
    """At most one decimal."""
    return f"{number:.1f}".removesuffix(".0")


def _stroke(colour: str, width: float = 2, fill: str = "none") -> str:
    return f"fill:{fill};stroke:{colour};stroke-width:{width:g}"


# A line of no length with round ends is a dot, in a third of the bytes of a circle.
_DOT: Final = f"{_stroke(style.GREEN, 9)};stroke-linecap:round"

SHAPES: Final[dict[str, Shape]] = {
    "created": Shape("mc", 0, 0, "h.01", _DOT, N_("created")),
    "viewed": Shape(
        "mv", 0, -5, "l5 5-5 5-5-5z", _stroke(style.BLUE, 1.5, style.CARD), N_("view: another tensor on it")
    ),
    "mutated": Shape("mw", 0, -6, "l6 10h-12z", _stroke(style.ORANGE_INK, 1, style.ORANGE), N_("written in place")),
    "uncounted": Shape(
        "mn", 0, 6, "l6-10h-12z", _stroke(style.PURPLE_INK, 1.5, style.PURPLE), N_("written past the version counter")
    ),
    "unseen": Shape(
        "mu", 0, -6, "l6 10h-12z", _stroke(style.ORANGE_INK, 1.5, style.CARD), N_("written by a call not seen")
    ),
    "reshaped": Shape(
        "ms", -4, -4, "h8v8h-8z", _stroke(style.MUTED_INK, 1.5, style.CARD), N_("shape or strides changed")
    ),
    "moved": Shape("mm", -5, -4, "l4 4-4 4m5-8l4 4-4 4", _stroke(style.PURPLE_INK), N_("tensor gets other memory")),
    "rebound": Shape("mb", -3, -5, "l6 5-6 5", _stroke(style.PURPLE_INK), N_("name goes to another tensor")),
    "saved": Shape("mk", -3, -3, "h5v6h-5zm5 3h9", _stroke(style.BLUE, 1.5, style.BLUE), N_("kept for backward")),
    "read": Shape("mr", -5, 0, "l7-4v8z", f"fill:{style.BLUE}", N_("read by backward")),
    "guilty": Shape("mx", -5, -5, "l10 10m0-10l-10 10", _stroke(style.VERMILION, 3), N_("what the finding is about")),
    "raised": Shape("me", 2, -8, "l-7 9h4l-2 7 7-9h-4z", f"fill:{style.VERMILION}", N_("raised an error")),
    "died": Shape("mt", -6, 0, "h6m0-5v10", _stroke(style.MUTED_INK, 1.5), N_("memory freed")),
    "more": Shape("mg", -6, 0, "h2.5m2.2 0h2.5m2.2 0h2.5", _stroke(style.MUTED_INK, 3), N_("more, in calls not shown")),
}
"""In the order of the legend."""

_LOOKS: Final = {
    "h": "font-size:13px;font-weight:bold",
    "w": "font-size:12px;font-weight:bold",
    "q": f"fill:{style.MUTED_INK}",
    "a": "text-anchor:middle",
    "v": f"text-anchor:middle;font-size:10px;paint-order:stroke;stroke:{style.CARD};stroke-width:3",
    "p": f"text-anchor:middle;font-size:9px;fill:{style.BLUE_INK};paint-order:stroke;stroke:{style.CARD};"
    "stroke-width:3",
    "c": f"fill:{style.VERMILION_INK};font-weight:bold",
    "z": "fill-opacity:.04",
    "b": f"fill:{style.VERMILION_TINT}",
    "now": f"fill:{style.BLUE};fill-opacity:.15;stroke:{style.BLUE}",
    "i": _stroke(style.MUTED_INK, 1.5),
    "t": _stroke(style.MUTED_INK, 1),
    "x": _stroke(style.VERMILION, 3),
    "o": f"fill:{style.VERMILION}",
    "y": f"{_stroke(style.LINE, 1)};stroke-dasharray:2 3",
}


def rules(used: frozenset[str], drawn: str) -> str:
    """Return the rules of the picture: those of its texts and lines, and of the kinds of marks used."""
    marks = {SHAPES[kind].cls: SHAPES[kind].look for kind in SHAPES if kind in used}
    looks = {f".{name}": look for name, look in _LOOKS.items() if f'class="{name}"' in drawn}
    looks |= {f".{name}>path": look for name, look in marks.items()}
    return f".{NAME} text{{fill:{style.INK}}}" + "".join(f".{NAME} {who}{{{look}}}" for who, look in looks.items())
