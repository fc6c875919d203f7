"""The torch function behind a wrapper that stands under its name.

Torch hands a call to a mode under the function's public name: in Python ``handle_torch_function(Tensor.backward, …)``,
in C++ what ``torch.Tensor`` has under the name ``mul_``. Where the user, or a library, has put a wrapper there, the
mode is given the wrapper, which has run already and has called the function that asks. To call it again would run
it twice, or without end (the same under any mode, such as ``with torch.device(…)``). So the function that asked is
called.
"""

from __future__ import annotations

import gc
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch

from inplace_magic.capture.torch.callers import OVERRIDES, past_overrides
from inplace_magic.capture.torch.functions import is_torchs

_found: dict[CodeType, FunctionType] = {}


def asking_function(func: Any, frame: FrameType | None) -> Any:
    """The function whose own code asked for an override; `func` itself where that is it, or where it is not found.

    Args:
        func: what the mode was given.
        frame: the frame that called the mode.
    """
    if frame is None or frame.f_code.co_filename != OVERRIDES:
        return _built_in(func)
    frame = past_overrides(frame)
    if frame is None or getattr(func, "__code__", None) is frame.f_code:
        return func
    code = frame.f_code
    known = _found.get(code)
    if known is not None and known.__globals__ is frame.f_globals:
        return known
    if not is_torchs(code):
        return func
    for each in gc.get_referrers(code):
        if isinstance(each, FunctionType) and each.__globals__ is frame.f_globals:
            _found[code] = each
            return each
    return func


def _built_in(func: Any) -> Any:
    """The method of torch's C++ code that a wrapper in ``torch.Tensor`` hides: its base class has it still."""
    for name, value in vars(torch.Tensor).items():
        if value is func:
            return getattr(torch._C.TensorBase, name, func)
    return func
