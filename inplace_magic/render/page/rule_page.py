"""What a code such as ``alias-written`` means, to unfold where it stands: it needs no site, no kernel and no script."""

from __future__ import annotations

import textwrap
from itertools import takewhile

from inplace_magic.hazards.pages import page_of
from inplace_magic.language import LANGUAGES, N_, _, language
from inplace_magic.render import style
from inplace_magic.render.markup import esc, prose, tag

PROGRAMS = {"Bad::": N_("Bad"), "Good::": N_("Good")}
"""What stands above a program in a rule's page, and here."""
_CODE = f"background:{style.ZEBRA};color:{style.INK};padding:4px 8px;margin:4px 0;overflow-x:auto"


def rule_page(code: str) -> str:
    """What the rule finds in one sentence, a bad and a good program, from its page; empty of a code that has none.

    The reason stands in the finding's own message. When the rule is silent and what it is told by is in the site.
    The sentence is in English, so a report in another language has the programs alone.
    """
    text = page_of(code)
    if text is None:
        return ""
    headline, *blocks = text.split("\n\n")
    said = " ".join(headline.replace("``", "`").split())
    parts = [tag("div", "", prose(said))] if language() == LANGUAGES[0] else []
    for mark, name in PROGRAMS.items():
        program = takewhile(lambda block: block.startswith("    "), blocks[blocks.index(mark) + 1 :])
        lines = textwrap.dedent("\n\n".join(program)).split("\n")
        parts += [tag("b", "", esc(_(name))), tag("pre", _CODE, "\n".join(map(esc, lines)))]
    return "".join(parts)
