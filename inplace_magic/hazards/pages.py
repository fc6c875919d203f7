"""What a finding's code means: its page, which the site shows as well.

A page is ``pages/<code>.md``, or of a rule with several codes ``pages/<module>.md``.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

from inplace_magic.hazards import RULES

PAGES = Path(__file__).parent / "pages"
_CODE = re.compile(r"[a-z]+(-[a-z]+)+")


def page_of(code: str) -> str | None:
    """Return the page of a code; None where no rule has it."""
    name = _names().get(code)
    return None if name is None else (PAGES / f"{name}.md").read_text(encoding="utf-8").strip()


@cache
def _names() -> dict[str, str]:
    """Return the name of the page of each code."""
    several = {
        value: rule.name
        for rule in RULES
        if not rule.code
        for value in vars(sys.modules[rule.module]).values()
        if isinstance(value, str) and _CODE.fullmatch(value)
    }
    return several | {rule.code: rule.code for rule in RULES if rule.code}
