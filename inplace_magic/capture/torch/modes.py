"""Putting modes on torch's stacks and taking them off again, whatever happened in between.

A cell can leak a mode of its own on top of ours, and an interrupt can strike inside torch's own bookkeeping. So our
modes are found by identity, wherever they are, and what is not ours stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.utils import _python_dispatch

_FLAGS = (
    "_is_in_torch_dispatch_mode",
    "_is_in_non_infra_torch_dispatch_mode",
    "_is_in_any_mode_without_ignore_compile_internals",
)
"""What ``TorchDispatchMode.__enter__`` notes in its module, and dynamo asks: while the first is set it gives up every
function that it is to compile, for good. If one vanishes: nothing reads it any more."""


class _Stack(NamedTuple):
    modes: Callable[[], list[Any]]
    pop: Callable[[], Any]
    push: Callable[[Any], Any]


def _stacks() -> tuple[_Stack, _Stack]:
    functions: Any = torch.overrides
    dispatch: Any = _python_dispatch
    return (
        _Stack(functions._get_current_function_mode_stack, functions._pop_mode, functions._push_mode),
        _Stack(dispatch._get_current_dispatch_mode_stack, dispatch._pop_mode, dispatch._push_mode),
    )


def any_active(kind: type) -> bool:
    """True if a mode of that class is on a stack of this thread."""
    return any([isinstance(mode, kind) for stack in _stacks() for mode in stack.modes()])


def any_on(ours: list[Any]) -> bool:
    """True if one of these modes is on a stack of this thread."""
    return any([_some(stack.modes(), ours) for stack in _stacks()])


class Absence:
    """What the stacks of this thread were when some modes were taken off them for a while."""

    def __init__(self, ours: list[Any]) -> None:
        self._ours = ours
        self._before = [stack.modes() for stack in _stacks()]
        self._flags = dispatch_flags()
        self._gone = False

    def begin(self) -> None:
        """Takes the modes off, as far as they are on."""
        take_off(self._ours)
        self._gone = True

    def end(self) -> None:
        """Puts them back where they were; may be called again when it was interrupted."""
        dispatch = _stacks()[1]
        for stack, before in zip(_stacks(), self._before, strict=True):
            wanted = stack.modes() if self._gone else list(before)
            for place, mode in enumerate(before):
                if _among(mode, self._ours) and not _among(mode, wanted):
                    wanted.insert(min(place, len(wanted)), mode)
            _set_stack(stack, wanted)
        if _some(dispatch.modes(), self._ours):
            set_dispatch_flags([now or then for now, then in zip(dispatch_flags(), self._flags, strict=True)])


def _among(mode: Any, modes: list[Any]) -> bool:
    for each in modes:  # noqa: SIM110  as a generator it would drop an interrupt, see tests/no_harm/test_interrupts.py
        if mode is each:
            return True
    return False


def _some(modes: list[Any], ours: list[Any]) -> bool:
    return True in [_among(mode, ours) for mode in modes]


def dispatch_flags() -> list[Any]:
    """What PyTorch has noted about the dispatch modes that are on."""
    return [getattr(_python_dispatch, name, None) for name in _FLAGS]


def set_dispatch_flags(values: list[Any]) -> None:
    """Notes it anew."""
    for name, value in zip(_FLAGS, values, strict=True):
        if hasattr(_python_dispatch, name):
            setattr(_python_dispatch, name, value)
    tell = getattr(_python_dispatch, "set_is_in_mode_without_ignore_compile_internals", None)
    if tell is not None and values[2] is not None:
        tell(values[2])


def take_off(ours: list[Any]) -> None:
    """Takes these modes off the stacks of this thread, and leaves all others in their order."""
    functions, dispatch = _stacks()
    was_on = _some(dispatch.modes(), ours)
    for stack in (functions, dispatch):
        _set_stack(stack, [mode for mode in stack.modes() if not _among(mode, ours)])
    if was_on:
        _forget_flags(ours, dispatch.modes())


def _set_stack(stack: _Stack, wanted: list[Any]) -> None:
    """Makes a stack hold these modes, and leaves those that are in place at its bottom where they are."""
    now, same = stack.modes(), 0
    while same < min(len(now), len(wanted)) and now[same] is wanted[same]:
        same += 1
    for _ in now[same:]:
        stack.pop()
    for mode in wanted[same:]:
        stack.push(mode)


def _forget_flags(ours: list[Any], left: list[Any]) -> None:
    """The flags as they were before ours came, but for what other modes have noted since."""
    flags: list[Any] = [None] * len(_FLAGS)
    for mode in ours:
        earlier = (
            getattr(mode, "old_dispatch_mode_flags", None),
            getattr(mode, "old_non_infra_dispatch_mode_flags", None),
            getattr(mode, "old_without_ignore_compile_internals_dispatch_mode_flags", None),
        )
        flags = [queue[0] if queue else flag for queue, flag in zip(earlier, flags, strict=True)]
    if left:
        flags[0] = True
        flags[1] = flags[1] or any([not getattr(mode, "is_infra_mode", bool)() for mode in left])
        flags[2] = flags[2] or any([not getattr(mode, "ignore_compile_internals", bool)() for mode in left])
    set_dispatch_flags([now if flag is None else flag for now, flag in zip(dispatch_flags(), flags, strict=True)])
