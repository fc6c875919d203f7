"""The marks of the timeline: each kind has a shape of its own; colour comes on top of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from inplace_magic.render import style

NAME: Final = "im-time"
"""Class of the picture; its rules name it, since an inline SVG shares its ``<style>`` with the page around it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a kind of mark looks."""

    cls: str
    """Class of its group."""
    path: str
    """Path commands after the move to its middle."""
    look: str
    legend: str

    def at(self, x: float, y: float) -> str:
        """The path, with its middle at a place."""
        return f'<path d="M{short(x)} {short(y)}{self.path}"/>'


def short(number: float) -> str:
    """At most one decimal."""
    return f"{number:.1f}".removesuffix(".0")


def _line(colour: str, width: float = 2) -> str:
    return f"fill:none;stroke:{colour};stroke-width:{width:g}"


SHAPES: Final[dict[str, Shape]] = {
    "created": Shape("mc", "m-4.5 0a4.5 4.5 0 109 0 4.5 4.5 0 10-9 0", f"fill:{style.GREEN}", "created"),
    "viewed": Shape("mv", "m0-5.5l5.5 5.5-5.5 5.5-5.5-5.5z", f"fill:{style.CARD};stroke:{style.BLUE};stroke-width:1.5",
                    "view: another tensor on it"),
    "mutated": Shape("mw", "m0-6.5l6 10.5h-12z", f"fill:{style.ORANGE};stroke:{style.ORANGE_INK}", "written in place"),
    "unseen": Shape("mu", "m0-6.5l6 10.5h-12z", f"fill:{style.CARD};stroke:{style.ORANGE_INK};stroke-dasharray:2 1",
                    "written where the watch could not look"),
    "reshaped": Shape("ms", "m-4.5-4.5h9v9h-9z", f"fill:{style.CARD};stroke:{style.MUTED_INK};stroke-width:1.5",
                      "shape, strides or memory changed"),
    "rebound": Shape("mb", "m-4-5l6 5-6 5", _line(style.PURPLE_INK), "name goes to another tensor"),
    "saved": Shape("mk", "h9m-12-3h5v6h-5z", f"fill:{style.BLUE};stroke:{style.BLUE}", "saved for backward"),
    "read": Shape("mr", "m-5 0l6-4v8z", f"fill:{style.BLUE_INK}", "read by backward"),
    "guilty": Shape("mx", "m-5.5-5.5l11 11m0-11l-11 11", _line(style.VERMILION, 3), "what the finding is about"),
    "raised": Shape("mx", "m-5.5-5.5l11 11m0-11l-11 11", _line(style.VERMILION, 3), "raised"),
    "died": Shape("mt", "m0-5v10", _line(style.MUTED_INK, 1.5), "memory freed"),
    "more": Shape("mg", "m-6-1.5h3m1.5 0h3m1.5 0h3", _line(style.MUTED_INK, 3), "several, in calls not shown"),
}  # fmt: skip
"""In the order of the legend."""

LIFE: Final = f"fill:none;stroke:{style.MUTED_INK};stroke-width:1.5"
_TEXTS: Final = {
    "h": "font-size:13px;font-weight:bold",
    "w": "font-size:12px;font-weight:bold",
    "q": f"fill:{style.MUTED_INK}",
    "a": "text-anchor:middle",
    "v": "text-anchor:middle;font-size:10px",
    "c": f"fill:{style.VERMILION_INK};font-weight:bold",
    "z": "fill-opacity:.04",
    "b": f"fill:{style.VERMILION_TINT}",
    "now": f"fill:{style.BLUE};fill-opacity:.15;stroke:{style.BLUE}",
    "i": LIFE,
    "x": _line(style.VERMILION, 3),
    "o": f"fill:{style.VERMILION}",
    "y": f"stroke:{style.LINE};stroke-dasharray:2 3",
}
RULES: Final = (
    f".{NAME} text{{fill:{style.INK}}}"
    + "".join(f".{NAME} .{name}{{{look}}}" for name, look in _TEXTS.items())
    + "".join(f".{NAME} .{cls}>path{{{look}}}" for cls, look in {s.cls: s.look for s in SHAPES.values()}.items())
    + f".{NAME} .mk>path+path{{stroke:none;fill:{style.BLUE_INK}}}"
)
