"""What a code such as ``alias-written`` means, to unfold where it stands: no site, no kernel and no script is needed."""

from __future__ import annotations

import textwrap
from itertools import takewhile

from inplace_magic.hazards.pages import page_of
from inplace_magic.language import LANGUAGES, _, language
from inplace_magic.render import style
from inplace_magic.render.markup import esc, prose, tag

_CODE = f"background:{style.ZEBRA};color:{style.INK};padding:4px 8px;margin:4px 0;overflow-x:auto"


def rule_page(code: str) -> str:
    """What the rule finds in one sentence, a bad and a good program, from its page; empty of a code that has none.

    The reason stands in the finding's own message. When the rule is silent and what it is told by is in ``docs/rules``.
    """
    text = page_of(code)
    if text is None:
        return ""
    headline, *blocks = text.split("\n\n")
    english = "" if language() == LANGUAGES[0] else _("(in English) ")
    parts = [tag("div", "", esc(english), prose(" ".join(headline.replace("``", "`").split())))]
    for name in ("Bad", "Good"):
        parts.append(tag("b", "", esc(name)))
        start = blocks.index(f"{name}::") + 1
        program = takewhile(lambda block: block.startswith("    "), blocks[start:])
        lines = textwrap.dedent("\n\n".join(program)).split("\n")
        parts.append(tag("pre", _CODE, "\n".join(map(esc, lines))))
    return "".join(parts)
