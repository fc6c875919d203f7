"""What a finding's code means: its page, which the site shows as well.

``pages/<room>.md`` has the pages of a folder of rules, each below its heading: the name of the rule.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from inplace_magic.hazards import RULES

PAGES = Path(__file__).parent / "pages"


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
    """Return the heading of the page of each code."""
    return {code: rule.name for rule in RULES for code in rule.cures}
