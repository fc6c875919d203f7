"""What a finding's code means: the docstring of its rule, which is its page in the site too."""

from __future__ import annotations

import inspect
import re
import sys
from functools import cache

from inplace_magic.hazards import RULES

_CODE = re.compile(r"[a-z]+(-[a-z]+)+")


def page_of(code: str) -> str | None:
    """The docstring of the rule that finds it; None where no rule has the code, or Python left docstrings out."""
    return _pages().get(code)


@cache
def _pages() -> dict[str, str]:
    modules = [sys.modules[rule.check.__module__] for rule in RULES]
    return {
        value: inspect.cleandoc(module.__doc__)
        for module in modules
        if module.__doc__
        for value in vars(module).values()
        if isinstance(value, str) and _CODE.fullmatch(value)
    }
