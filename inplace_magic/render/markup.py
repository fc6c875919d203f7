"""HTML in plain tags with inline styles, every text escaped, so that an untrusted notebook keeps it.

An untrusted JupyterLab drops ``<style>``, scripts, inline ``<svg>`` and every CSS value outside its list (among them
``var(...)``, ``inherit`` and ``overflow-wrap:anywhere``), so styles here are literal. JupyterLab's own rules colour
rows and ``<code>`` for the theme, fix column widths, and align and wrap cells. So the styles here set all of this
again, and a light card lies under everything. A style on each cell would be most of a table's bytes, so a cell says
only what its table cannot: its padding is the theme's, or that of ``cellpadding`` where no theme sets one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from inplace_magic.language import _
from inplace_magic.render import style
from inplace_magic.render.lettering import MAX_TEXT, printable, shortened

CARD = (
    f"background:{style.CARD};color:{style.INK};font-family:{style.HTML_FONTS};font-size:14px;line-height:1.45;"
    f"border:1px solid {style.LINE};border-radius:6px;padding:10px 14px;max-width:100%;box-sizing:border-box;"
    "overflow-x:auto;text-align:left"
)
PAGE = f"body{{margin:16px;background:{style.ZEBRA}}}" + "@media (prefers-color-scheme:dark){body{background:#111}}"
CODE = f"background:{style.ZEBRA};color:{style.INK}"
BESIDE = "display:inline-block;vertical-align:top;margin-right:10px"
SUMMARY = "cursor:pointer;font-weight:bold"
TABLE = (
    f"border-collapse:collapse;font-size:13px;margin:2px 0 6px;table-layout:auto;color:{style.INK};"
    f"background:{style.CARD}"
)
ONE_LINE_ROWS = ";width:max-content"
"""Rows of numbers do not wrap, and their table scrolls; those of sentences wrap, and all columns are in sight."""
CELL = "text-align:left"
WIDE_CELL = f"{CELL};max-width:420px"
"""For sentences: the only cells that wrap."""
CODE_CELL = f"{CELL};font-family:monospace"
NARROW = 50
"""Letters, with tags, that never need to wrap."""
FOCUSABLE = {"tabindex": "0", "data-lm-suppress-shortcuts": "true"}
"""Of an ``<a>`` in what scrolls, the only element on which an untrusted JupyterLab leaves it: keys reach what stands
there, and JupyterLab takes none of them for its own commands."""
NUMBER_CELL = "text-align:right"


SVG_SOURCE = "data:image/svg+xml,"
_BARE = re.compile(r"[\w:;#@.-]+")
"""What needs no quotation marks (https://html.spec.whatwg.org/multipage/syntax.html#unquoted): most cells' styles."""
_TAG = re.compile("<[^>]*>")
_ENCODED = {letter: f"%{ord(letter):02X}" for letter in '%#&"\n\r\t'}
"""What is encoded in an address; the percent sign before those that are encoded with one."""


def esc(text: str) -> str:
    """Return the text, safe between tags and inside a quoted attribute; the end of a very long one is left out."""
    return html.escape(printable(shortened(text, MAX_TEXT)), quote=True)


def tag(name: str, css: str, *children: str, **attributes: str) -> str:
    """Return an element; the children are markup already, the attributes are escaped here."""
    given = {"style": css, **attributes} if css else attributes
    return f"<{name}{''.join(_attribute(*each) for each in given.items())}>{''.join(children)}</{name}>"


def _attribute(key: str, value: str) -> str:
    """Without quotation marks where it needs none; a class always has them, since it is looked for as it is written."""
    bare = key != "class_" and _BARE.fullmatch(value)
    return f" {key.rstrip('_')}={value}" if bare else f' {key.rstrip("_")}="{esc(value)}"'


def code(text: str) -> str:
    return tag("code", CODE, esc(text))


def prose(text: str) -> str:
    """Return a sentence in which backticks mark code, as messages of findings have them."""
    parts = shortened(text, MAX_TEXT).split("`")
    if len(parts) % 2 == 0:  # An odd number of backticks: nothing can be told about pairs, show the text as it is.
        return esc(text)
    return "".join(code(part) if number % 2 else esc(part) for number, part in enumerate(parts))


def image(svg: str, alt: str, css: str, **attributes: str) -> str:
    """Return an SVG as a picture in an ``<img>``, the one form of it that every front end keeps.

    The SVG stands in the address as text. In base64 it would be a third longer, and a notebook file, which is JSON,
    writes a ``"`` as two characters: so quotation marks within tags become ``'``. Of the rest only what an address or
    an attribute would read is encoded (https://www.rfc-editor.org/rfc/rfc3986#section-2.1).
    """
    plain = _TAG.sub(lambda tag: tag[0].replace("'", "&apos;").replace('"', "'"), svg)
    for letter, encoded in _ENCODED.items():
        plain = plain.replace(letter, encoded)
    more = "".join(_attribute(*each) for each in attributes.items())
    return f'<img alt="{esc(alt)}" style="{esc(css)}"{more} src="{SVG_SOURCE}{plain}">'


def card(*children: str) -> str:
    """Return an output of ours that is not live, and what makes it follow a dark theme."""
    return f"{tag('div', CARD, *children, class_='inplace-magic')}<script>{style.theme_script()}</script>"


def page(title: str, name: str, body: str, *, within: str = "") -> str:
    """Return a whole page in the language `name`; `within` is what its body has as attributes."""
    return (
        f'<!DOCTYPE html>\n<html lang="{name}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{esc(title)}</title>\n<style>{PAGE}</style>\n</head>\n<body{within}>\n{body}\n</body>\n</html>\n"
    )


def verdict_bar(colours: tuple[str, str, str], sentence: str) -> str:
    """Return the largest text of an output."""
    accent, ink, tint = colours
    css = (
        f"background:{tint};color:{ink};border-left:6px solid {accent};padding:8px 12px;margin:0 0 8px;"
        "font-size:16px;font-weight:bold"
    )
    return tag("div", css, prose(sentence))


def fix_bar(sentence: str) -> str:
    """Return what to change, in one sentence."""
    css = f"background:{style.GREEN_TINT};color:{style.GREEN_INK};padding:4px 8px;margin:2px 0 4px"
    return tag("div", css, tag("b", "", esc(_("Fix: "))), prose(sentence))


def note(sentence: str) -> str:
    return tag("p", f"color:{style.MUTED_INK};margin:2px 0", prose(sentence))


def reached(markup: str) -> str:
    """Markup that keys reach, and with it the element that scrolls around it."""
    return tag("a", "", markup, **FOCUSABLE)


def details(title: str, *children: str, opened: bool = False) -> str:
    """Return a section that folds without a script; folded ones stand beside each other."""
    start = "<details open>" if opened else f'<details style="{BESIDE}">'
    return f"{start}{tag('summary', SUMMARY, esc(title))}{''.join(children)}</details>"


def _cell_css(css: str, cell: str) -> str:
    if css == WIDE_CELL and len(cell) <= NARROW:
        return CELL
    return css if cell else ""


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    tints: Sequence[str] = (),
    cells: Sequence[str] = (),
    name: str = "",
    wraps: bool = False,
) -> str:
    """Return a table of markup cells; an empty one carries no style, since most of a table's bytes would be styles.

    A column that is empty in every row is left out.

    Args:
        header: titles of the columns, plain text.
        rows: markup of the cells, row by row.
        tints: background colour of each row; empty for one that is like its neighbours.
        name: its class, by which a script can find it.
    """
    plain = (style.CARD, style.ZEBRA)
    whole = list(rows)
    kept = [column for column in range(len(header)) if any(row[column] for row in whole)] or range(len(header))
    styles = {column: cells[column] if column < len(cells) else CELL for column in kept}
    titles = {column: esc(header[column]) if column != kept[0] else reached(esc(header[column])) for column in kept}
    heads = (tag("th", css.partition(";")[0], titles[column]) for column, css in styles.items())
    head = tag("tr", f"background:{style.CARD};border-bottom:2px solid {style.LINE}", *heads)
    body = ""
    for number, row in enumerate(whole):
        ground = (tints[number] if tints else "") or plain[number % 2]
        shown = (tag("td", _cell_css(css, row[column]), row[column]) for column, css in styles.items())
        body += tag("tr", f"background:{ground}", *shown)
    named = {"class_": name} if name else {}
    css = TABLE if wraps else TABLE + ONE_LINE_ROWS
    markup = tag("table", css, f"<thead>{head}</thead><tbody>{body}</tbody>", cellpadding="4", **named)
    return tag("div", "overflow-x:auto", markup)
