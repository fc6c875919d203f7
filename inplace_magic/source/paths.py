"""Paths as text, such as ``self.frames["warmth"]``, parted at a step."""

from __future__ import annotations

import re

_FIRST_STEP = re.compile(r"([^.\[]+)(.*)", re.DOTALL)
_LAST_STEP = re.compile(r"(.+)(\.\w+|\[[^\[\]]*\])")


def before_first_step(path: str) -> tuple[str, str]:
    """``("self", '.frames["warmth"]')``; a path without a step is followed by nothing."""
    match = _FIRST_STEP.fullmatch(path)
    return (match[1], match[2]) if match is not None else (path, "")


def before_last_step(path: str) -> tuple[str, str]:
    """``("self.frames", '["warmth"]')``; a path without a step is followed by nothing."""
    match = _LAST_STEP.fullmatch(path)
    return (match[1], match[2]) if match is not None else (path, "")
