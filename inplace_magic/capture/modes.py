"""Putting modes on torch's stacks and taking them off again, whatever happened in between.

A cell can leak a mode of its own on top of ours, and an interrupt can strike inside torch's own bookkeeping. So our
modes are found by identity, wherever they are, and what is not ours stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _python_dispatch

_Stack = tuple[Callable[[], list[Any]], Callable[[], Any], Callable[[Any], Any]]


def _stacks() -> tuple[_Stack, _Stack]:
    functions: Any = torch.overrides
    dispatch: Any = _python_dispatch
    return (
        (functions._get_current_function_mode_stack, functions._pop_mode, functions._push_mode),
        (dispatch._get_current_dispatch_mode_stack, dispatch._pop_mode, dispatch._push_mode),
    )


def any_active(kind: type) -> bool:
    """Whether a mode of that class is on a stack of this thread."""
    return any(isinstance(mode, kind) for stack, _, _ in _stacks() for mode in stack())


def take_off(ours: list[Any]) -> None:
    """Takes these modes off the stacks of this thread, and leaves all others in their order."""
    for stack, pop, push in _stacks():
        kept = []
        while any(mode is mine for mode in stack() for mine in ours):
            mode = pop()
            if not any(mode is mine for mine in ours):
                kept.append(mode)
        for mode in reversed(kept):
            push(mode)
