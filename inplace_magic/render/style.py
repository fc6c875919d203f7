"""How it looks: colours, fonts, symbols. No colour carries a meaning alone; a word or a symbol stands beside it.

The accents are the palette of Okabe and Ito, which people with any of the common colour-vision deficiencies can tell
apart. As text most of them are too pale, so text uses the darkened ``*_INK`` twins: each reaches a contrast of at least
4.5 to 1 on the card and on its own tint (``tests/render/test_style.py`` computes it).

Pictures and tables are written with the light colours, literally, because that is all that survives in a notebook that
is not trusted. Where scripts run, ``js/picture.js`` makes of each ``#0072B2`` a ``var(--im-0072B2,#0072B2)``; the style
sheet says what such a variable is under a dark theme. Ground and ink are the theme's own in JupyterLab and VS Code.
"""

from __future__ import annotations

import re
from functools import cache
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


def text_of(name: str) -> str:
    """Return a file in ``js``, as it stands there."""
    from importlib.resources import files  # takes a while, and text needs none of this

    return files("inplace_magic.render").joinpath(f"js/{name}").read_text(encoding="utf-8")


def minified(script: str) -> str:
    """Return a script or a sheet of ours without comments and indentation; ``/*`` begins nothing else in them."""
    plain = re.sub(r"/\*.*?\*/", "", script, flags=re.DOTALL)
    return "\n".join(filter(None, map(str.strip, plain.splitlines())))


SELECTORS = (
    "[data-jp-theme-light=false] .im-themed",  # JupyterLab, Notebook 7
    ".vscode-dark .im-themed",
    ".vscode-high-contrast:not(.vscode-high-contrast-light) .im-themed",
    "html[theme=dark] .im-themed",  # Colab
)
_GROUND = f"var(--jp-layout-color1,var(--vscode-editor-background,{DARK[CARD]}))"
_INK = f"var(--jp-content-font-color1,var(--vscode-editor-foreground,{DARK[INK]}))"
WHOLE_WIDTH = ".inplace-magic details[open]{display:block!important}"
"""Folded sections stand beside each other, an open one has the width; where no style is kept, as much as it needs."""
_COLOUR = re.compile(r"#([0-9A-F]{6})\b")


@cache
def style_sheet() -> str:
    """``js/explorer.css`` with colours that a theme can change, and their values under dark themes."""
    rules = _COLOUR.sub(r"var(--im-\1,#\1)", minified(text_of("explorer.css")).replace("\n", ""))
    return f"{rules}{_dark_sheet()}@media (prefers-color-scheme:dark){{.im-alone{{{_twins()}}}}}"


@cache
def theme_script() -> str:
    """Return the script of what is not live, which makes it follow the theme."""
    parts = "\n".join(text_of(part) for part in ("themed.js", "picture.js"))
    return minified(text_of("dark.js").replace("PARTS", parts)).replace("SHEET", _dark_sheet())


def _dark_sheet() -> str:
    return f"{','.join(SELECTORS)}{{{_twins()}}}{WHOLE_WIDTH}"


def _twins() -> str:
    twins = {**DARK, CARD: _GROUND, INK: _INK}
    return ";".join(f"--im-{light[1:]}:{twin}" for light, twin in twins.items() if twin != light)
