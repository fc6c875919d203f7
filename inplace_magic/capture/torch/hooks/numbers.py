"""Hooks of ours take none of the numbers that PyTorch gives to hooks: users meet these as ``handle.id``, as the keys of
a module's hooks, and in what ``torch.save`` writes of a module.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from torch.utils.hooks import RemovableHandle

_OURS = count(-2, -2)
"""Below all of theirs; every other one, since a hook that another thread registers meanwhile gets the next number."""


def unnumbered(register: Callable[[Callable[..., Any]], RemovableHandle], hook: Callable[..., Any]) -> RemovableHandle:
    """Return the handle of a hook that was registered under a number of ours."""
    theirs = RemovableHandle.next_id
    RemovableHandle.next_id = next(_OURS)
    try:
        return register(hook)
    finally:
        RemovableHandle.next_id = theirs
