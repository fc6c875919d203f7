"""How it looks: colours, fonts, symbols. No colour carries a meaning alone; a word or a symbol stands beside it.

The accents are the palette of Okabe and Ito, which people with any of the common colour-vision deficiencies can tell
apart. As text most of them are too pale, so text uses the darkened ``*_INK`` twins: each reaches a contrast of at least
4.5 to 1 on the card and on its own tint (``tests/render/test_style.py`` computes it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from inplace_magic.language import N_

if TYPE_CHECKING:
    from inplace_magic.hazards import Severity

ORANGE: Final = "#E69F00"
SKY: Final = "#56B4E9"
GREEN: Final = "#009E73"
BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"

CARD: Final = "#FFFFFF"
INK: Final = "#1A1A1A"
MUTED_INK: Final = "#555555"
LINE: Final = "#C8C8C8"
ZEBRA: Final = "#F6F6F6"

VERMILION_INK: Final = "#9A3B00"
BLUE_INK: Final = "#00507E"
GREEN_INK: Final = "#00604A"
ORANGE_INK: Final = "#7A5200"
PURPLE_INK: Final = "#86316A"

VERMILION_TINT: Final = "#FDE6D8"
BLUE_TINT: Final = "#E1F0FA"
GREEN_TINT: Final = "#E0F4EE"
ORANGE_TINT: Final = "#FDF1D7"
PURPLE_TINT: Final = "#F8E9F2"

DARK: Final[dict[str, str]] = {
    CARD: "#1E1E1E",
    INK: "#EEEEEE",
    MUTED_INK: "#B8B8B8",
    LINE: "#555555",
    ZEBRA: "#2B2B2B",
    "#777777": "#8A8A8A",
    ORANGE: "#E69F00",
    SKY: "#56B4E9",
    GREEN: "#22B78C",
    BLUE: "#56A8E0",
    VERMILION: "#F07F2E",
    PURPLE: "#D88DB7",
    VERMILION_INK: "#FFB184",
    BLUE_INK: "#9FD0F5",
    GREEN_INK: "#7FE0C2",
    ORANGE_INK: "#F5C870",
    PURPLE_INK: "#F0B3D6",
    VERMILION_TINT: "#4A2413",
    BLUE_TINT: "#12344D",
    GREEN_TINT: "#123A30",
    ORANGE_TINT: "#43320C",
    PURPLE_TINT: "#43233A",
}
"""What each colour is in a live view under a dark theme."""

SEVERITY_SYMBOL: Final[dict[Severity, str]] = {"error": "✗", "silent": "≠", "warning": "▲", "info": "•"}
SEVERITY_WORD: Final[dict[Severity, str]] = {
    "error": N_("Error"),
    "silent": N_("Wrong result without an error"),
    "warning": N_("Warning"),
    "info": N_("Note"),
}
SEVERITY_COLOURS: Final[dict[Severity, tuple[str, str, str]]] = {
    "error": (VERMILION, VERMILION_INK, VERMILION_TINT),
    "silent": (PURPLE, PURPLE_INK, PURPLE_TINT),
    "warning": (ORANGE, ORANGE_INK, ORANGE_TINT),
    "info": (BLUE, BLUE_INK, BLUE_TINT),
}
"""Accent, text colour and tint."""
FINE_SYMBOL: Final = "✓"
FINE_COLOURS: Final = (GREEN, GREEN_INK, GREEN_TINT)

EFFECT_SYMBOL: Final[dict[str, str]] = {
    "created": "+",
    "viewed": "≡",
    "mutated": "✎",
    "reshaped": "↻",
    "returned": "=",
    "rebound": "→",
    "raised": "✗",
}
KIND_SYMBOL: Final[dict[str, str]] = {"ordinary": "+", "view": "≡", "in-place": "✎", "metadata": "↻", "query": "?"}

DOT_FONT: Final = "Helvetica"
"""One name only: Graphviz measures text by it, and a list of names makes it guess widths that overflow the boxes."""
SVG_FONTS: Final = "Helvetica, Arial, Liberation Sans, Nimbus Sans, sans-serif"
"""What the name above becomes in the SVG; the first four have the same letter widths."""
HTML_FONTS: Final = "Helvetica, Arial, Liberation Sans, sans-serif"
CODE_FONTS: Final = "Menlo, Consolas, monospace"
