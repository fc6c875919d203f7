"""Calls a torch function in the name of the user's line, so that warnings fall where they would fall unwatched.

A warning raised in C++, or in Python with ``stacklevel=2``, takes its file, line and ``__warningregistry__`` from the
Python frame that called the function. Called from our probe, all warnings would come from one line of ours: shown
with the wrong place, hidden by filters on ``__main__``, and swallowed the second time, when another line of the
user's deserves its own. So the call is made by a one-line function that carries the user's file name, line number and
globals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch

PassOn = Callable[[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]], Any]


# `func(*args, **kwargs)`, hidden from IPython's tracebacks. On one line, so that one line number is all that it has.
def call_plainly(func: Any, args: Any, kwargs: Any) -> Any: __tracebackhide__ = True; return func(*args, **kwargs)  # fmt: skip  # noqa: E501, E702


_TEMPLATE = call_plainly.__code__
_OVERRIDES = torch.overrides.__file__


def is_stand_in(code: CodeType) -> bool:
    """Whether `code` was made here."""
    return code.co_code == _TEMPLATE.co_code and code.co_varnames == _TEMPLATE.co_varnames


class Callers:
    """Stand-ins by calling place."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], tuple[CodeType, PassOn]] = {}

    def like(self, frame: FrameType | None, function: CodeType | None) -> PassOn:
        """A caller that looks like `frame`.

        Args:
            frame: the frame that called the torch function, or torch's override machinery.
            function: code of the torch function where it is written in Python; its frame is part of the call.
        """
        while frame is not None and (frame.f_code is function or frame.f_code.co_filename == _OVERRIDES):
            frame = frame.f_back
        if frame is None:
            return call_plainly
        code = frame.f_code
        key = (id(code), frame.f_lasti)
        made = self._made.get(key)
        if made is not None and made[0] is code:
            return made[1]
        stand_in = _TEMPLATE.replace(
            co_filename=code.co_filename,
            co_firstlineno=frame.f_lineno,
            co_name=code.co_name,
        )
        pass_on: PassOn = FunctionType(stand_in, frame.f_globals)
        self._made[key] = (code, pass_on)
        return pass_on
