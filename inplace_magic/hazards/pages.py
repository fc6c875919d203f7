"""What a finding's code means: the page of its rule, which is its page in the site too.

The page is ``pages/<code>.md`` where one module has several rules, else the docstring of the rule's module.
"""

from __future__ import annotations

import inspect
import re
import sys
from functools import cache
from pathlib import Path

from inplace_magic.hazards import RULES

PAGES = Path(__file__).parent / "pages"
_CODE = re.compile(r"[a-z]+(-[a-z]+)+")


def page_of(code: str) -> str | None:
    """Return the page of the rule that finds it; None where no rule has the code, or Python left docstrings out."""
    return _pages().get(code)


@cache
def _pages() -> dict[str, str]:
    own = {rule.code for rule in RULES if rule.code}
    modules = {rule.module: sys.modules[rule.module] for rule in RULES if not rule.code}
    told = {
        value: inspect.cleandoc(module.__doc__)
        for module in modules.values()
        if module.__doc__
        for value in vars(module).values()
        if isinstance(value, str) and _CODE.fullmatch(value)
    }
    return told | {code: (PAGES / f"{code}.md").read_text(encoding="utf-8").strip() for code in own}
