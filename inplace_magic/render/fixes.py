"""The fix as a diff, in which the sign says what a line is and the colour repeats it; and what trying it showed."""

from __future__ import annotations

from inplace_magic.hazards import Hazard
from inplace_magic.language import N_, _, ngettext, sentences
from inplace_magic.record.outcomes import Proof
from inplace_magic.render import style, words
from inplace_magic.render.markup import esc, prose, tag

MAX_LINES = 40
"""Lines of one diff; the rest is in ``Hazard.diff``."""

_COLOURS = {
    "-": (style.VERMILION_INK, style.VERMILION_TINT),
    "+": (style.GREEN_INK, style.GREEN_TINT),
    "@": (style.MUTED_INK, style.CARD),
    " ": (style.INK, style.CARD),
}


def lines_of(diff: str) -> list[str]:
    """Return the diff, at most :data:`MAX_LINES` of it; empty where there is none."""
    lines = diff.split("\n") if diff else []
    more = len(lines) - MAX_LINES
    if more <= 0:
        return lines
    text = ngettext(
        "@@ {count} more line in the finding's `diff` @@", "@@ {count} more lines in the finding's `diff` @@", more
    )
    return [*lines[:MAX_LINES], text.format(count=more)]


def is_tried(finding: Hazard) -> bool:
    """True if there is a fix as a diff that was tried and not refuted, so that a button may copy it."""
    tried = finding.proof is not None and finding.proof.verdict in ("proven", "other numbers")
    return tried and bool(finding.diff) and finding.diff.count("\n") < MAX_LINES


def corrected(finding: Hazard) -> str:
    """Return the lines as the fix has them."""
    return "\n".join(line[1:] for line in finding.diff.split("\n") if line[:1] == "+")


def price(finding: Hazard) -> str:
    """``This costs one copy of 32 B.``; empty where the fix copies nothing, or how much is not known."""
    if not finding.diff or finding.price_bytes is None:
        return ""
    return _("This costs one copy of {size}.").format(size=words.bytes_of(finding.price_bytes))


def diff_markup(diff: str, *, tried: bool = False) -> str:
    """Return the diff as HTML; empty where there is none.

    Args:
        tried: a button may copy it, see :func:`is_tried`.
    """
    lines = lines_of(diff)
    if not lines:
        return ""
    rows = []
    for line in lines:
        ink, tint = _COLOURS.get(line[:1], _COLOURS[" "])
        ground = f"background:{tint};" if tint != style.CARD else ""
        rows.append(tag("span", f"{ground}color:{ink}", esc(line)))
    css = (
        f"font-family:{style.CODE_FONTS};font-size:13px;background:{style.CARD};color:{style.INK};"
        f"border:1px solid {style.LINE};padding:2px 8px;margin:4px 0;overflow-x:auto;white-space:pre;line-height:1.35"
    )
    return tag("pre", css, "\n".join(rows), **({"class_": "inplace-magic-fix"} if tried else {}))


_WORDS = {
    "proven": ("✓", N_("Proven.")),
    "other numbers": ("≈", N_("Tried: it runs, with other numbers.")),
    "refuted": ("✗", N_("Tried, and refuted.")),
    "not tried": ("–", N_("Not tried.")),
}
"""Symbol and word of each verdict."""
_NO_NUMBERS = N_("Tried: it runs.")
"""Of a fix of a program that never ran to its end, and so left no numbers."""


def _word(proof: Proof) -> tuple[str, str]:
    symbol, word = _WORDS[proof.verdict]
    return symbol, _(word if proof.differences or proof.verdict != "other numbers" else _NO_NUMBERS)


def proof_line(finding: Hazard) -> str:
    """``✓ Proven. With it …``; empty where nothing was tried."""
    if finding.proof is None:
        return ""
    symbol, word = _word(finding.proof)
    return f"{symbol} {sentences(word, finding.proof.reason)}"


def proof_markup(finding: Hazard) -> str:
    proof = finding.proof
    if proof is None:
        return ""
    symbol, word = _word(proof)
    ink = style.GREEN_INK if proof.verdict == "proven" else style.INK
    head = tag("b", f"color:{ink}", esc(f"{symbol} {word} "))
    return tag("div", "margin:0 0 6px", head, prose(proof.reason))
