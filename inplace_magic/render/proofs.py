"""What trying a fix showed, in a line below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_magic.language import N_, _, sentences
from inplace_magic.record.proofs import Proof
from inplace_magic.render import style
from inplace_magic.render.markup import esc, prose, tag

if TYPE_CHECKING:
    from inplace_magic.hazards import Hazard

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


def to_line(finding: Hazard) -> str:
    """``✓ Proven. With it …``; empty where nothing was tried."""
    if finding.proof is None:
        return ""
    symbol, word = _word(finding.proof)
    return f"{symbol} {sentences(word, finding.proof.reason)}"


def to_markup(finding: Hazard) -> str:
    proof = finding.proof
    if proof is None:
        return ""
    symbol, word = _word(proof)
    ink = style.GREEN_INK if proof.verdict == "proven" else style.INK
    head = tag("b", f"color:{ink}", esc(f"{symbol} {word} "))
    return tag("div", "margin:0 0 6px", head, prose(proof.reason))
