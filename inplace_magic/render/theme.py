"""The style sheet of the live view, and how every colour in it and in the pictures gets a dark twin.

Pictures and tables are written with the light colours of :mod:`.style`, literally, because that is all that survives
in a notebook that is not trusted. Where scripts run, ``js/picture.js`` makes of each ``#0072B2`` a
``var(--im-0072B2,#0072B2)``; here stands what such a variable is under a dark theme. Ground and ink are the theme's own
in JupyterLab and VS Code.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from inplace_magic.render import style


def text_of(name: str) -> str:
    """Return a file in ``js``, as it stands there."""
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
GROUND = f"var(--jp-layout-color1,var(--vscode-editor-background,{style.DARK[style.CARD]}))"
INK = f"var(--jp-content-font-color1,var(--vscode-editor-foreground,{style.DARK[style.INK]}))"
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
    twins = {**style.DARK, style.CARD: GROUND, style.INK: INK}
    return ";".join(f"--im-{light[1:]}:{twin}" for light, twin in twins.items() if twin != light)
