"""The names that the functions of the watched code have for tensors. They are gone when a function returns, so they are
read while it runs: whenever a call comes from a place that was not met before."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FrameType

import torch

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.names import within_reach
from inplace_magic.capture.scope import locals_of, was_executed

_MOST_STEPS = 100_000
"""Tensors and modules looked at in one watch."""


@dataclass(eq=False)
class PassingNames:
    """What the user's functions called their tensors, as last seen.

    Args:
        identity: the tensors that the watch has met.
        is_users: whether a code object is the user's, and whether callers above it are no part of the story.
    """

    identity: IdentityMap
    is_users: Callable[[CodeType], tuple[bool, bool]]
    seen: dict[int, tuple[CodeType, dict[str, int]]] = field(default_factory=dict)
    """By ``id`` of the code: serial numbers of tensors by their names, shortest names first."""
    _steps: int = 0

    def look(self, frame: FrameType | None) -> None:
        """Reads the names of the functions that run now."""
        while frame is not None and self._steps < _MOST_STEPS:
            code = frame.f_code
            mine, is_last = self.is_users(code)
            if is_last:
                return  # the names in sight of the block are read at its end
            if mine and code.co_flags & inspect.CO_OPTIMIZED and code.co_name != "forward" and code.co_name[0] != "<":
                self.seen[id(code)] = code, self._names_in(frame)
            frame = frame.f_back

    def _names_in(self, frame: FrameType) -> dict[str, int]:
        found: dict[str, int] = {}
        names = {name: value for name, value in locals_of(frame).items() if not was_executed(value)}
        reached = sorted(within_reach(names), key=lambda entry: entry[0])
        self._steps += len(reached)
        for _depth, path, item in reached:
            record = None if isinstance(item, torch.nn.Module) else self.identity.known(item)
            if record is not None:
                found[path] = record.serial
        return found
