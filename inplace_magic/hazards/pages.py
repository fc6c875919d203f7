"""What a finding's code means: its page, which the site shows as well.

``pages/<room>.md`` has the pages of a folder of rules, each below its heading: ``# code``, or ``# module`` for a rule
with several codes.
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
    return None if name is None else texts()[name]


@cache
def texts() -> dict[str, str]:
    """Return each page by its heading."""
    found = {}
    for file in sorted(PAGES.glob("*.md")):
        for page in re.split(r"^# ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name, _line, text = page.partition("\n")
            found[name] = text.strip()
    return found


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
    return several | {code: rule.code for rule in RULES if rule.code for code in rule.cures}
