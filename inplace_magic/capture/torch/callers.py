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

from inplace_magic.capture.frames import FrameworkFrames

PassOn = Callable[[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]], Any]


# `func(*args, **kwargs)`, hidden from IPython's tracebacks. On one line, so that one line number is all that it has.
def call_plainly(func: Any, args: Any, kwargs: Any) -> Any: __tracebackhide__ = True; return func(*args, **kwargs)  # fmt: skip  # noqa: E501, E702


_TEMPLATE = call_plainly.__code__
OVERRIDES = torch.overrides.__file__
"""The file of torch's override machinery."""


def past_overrides(frame: FrameType | None, function: CodeType | None = None) -> FrameType | None:
    """Return the first frame, from `frame` upwards, that is neither torch's override machinery nor runs `function`."""
    while frame is not None and (frame.f_code is function or frame.f_code.co_filename == OVERRIDES):
        frame = frame.f_back
    return frame


def is_stand_in(code: CodeType) -> bool:
    """True if `code` was made here."""
    return code.co_code == _TEMPLATE.co_code and code.co_varnames == _TEMPLATE.co_varnames


TORCH_FRAMES = FrameworkFrames(
    module_file=torch.nn.Module.__call__.__code__.co_filename,
    runs_hooks="inner",
    is_passed_over=frozenset((OVERRIDES, torch._tensor.__file__)).__contains__,
    is_stand_in=is_stand_in,
)


class Callers:
    """Stand-ins by calling place."""

    def __init__(self) -> None:
        self._made: dict[int, dict[int, PassOn]] = {}
        """By ``id`` of the code, then by instruction."""
        self._codes: list[CodeType] = []
        """Kept alive, so that their ``id`` stays their own."""

    def like(self, frame: FrameType | None, function: CodeType | None) -> PassOn:
        """Return a caller that looks like `frame`.

        Args:
            frame: the frame that called the torch function, or torch's override machinery.
            function: code of the torch function where it is written in Python; its frame is part of the call.
        """
        made = self._made
        while frame is not None:
            code = frame.f_code
            if code is not function:
                places = made.get(id(code))
                if places is None and code.co_filename != OVERRIDES:
                    places = made[id(code)] = {}
                    self._codes.append(code)
                if places is not None:
                    pass_on = places.get(frame.f_lasti)
                    if pass_on is None:
                        pass_on = places[frame.f_lasti] = _stand_in(frame)
                    return pass_on
            frame = frame.f_back
        return call_plainly


def _stand_in(frame: FrameType) -> PassOn:
    code = frame.f_code
    stand_in = _TEMPLATE.replace(
        co_filename=code.co_filename,
        co_firstlineno=frame.f_lineno,
        co_name=code.co_name,
    )
    return FunctionType(stand_in, frame.f_globals)
