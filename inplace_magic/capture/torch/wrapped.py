"""The torch function behind a wrapper that stands under its name.

Torch hands a call to a mode under the function's public name: in Python ``handle_torch_function(Tensor.backward, …)``,
in C++ what ``torch.Tensor`` has under the name ``mul_``. Where the user, or a library, has put a wrapper there, the
mode is given the wrapper, which has run already and has called the function that asks. To call it again would run
it twice, or without end (the same under any mode, such as ``with torch.device(…)``). So the function that asked is
called.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import torch

from inplace_magic.capture.torch.callers import OVERRIDES, past_overrides
from inplace_magic.capture.torch.functions import is_torchs

_found: dict[CodeType, FunctionType] = {}
_MOST_HELD = 1000
"""Objects among which the function is looked for."""
_WHOLE_WORLDS = (ModuleType, type, CodeType, FrameType)


def asking_function(func: Any, frame: FrameType | None) -> Any:
    """Return the function whose own code asked for an override; `func` itself where that is it, or where it is not
    found."""
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
    for search in (lambda: _held_by(func), lambda: gc.get_referrers(code)):
        for each in search():
            if type(each) is FunctionType and each.__code__ is code and each.__globals__ is frame.f_globals:
                _found[code] = each
                return each
    return func


def _held_by(wrapper: Any) -> Iterator[Any]:
    """What a wrapper holds, the nearest first: the variables of the functions around it, attributes, defaults. Looked
    at before the garbage collector is asked who holds the code, which takes as long as there are objects, and passes
    over all that were there at a ``gc.freeze()``."""
    queue, seen = deque([wrapper]), {id(wrapper)}
    while queue and len(seen) < _MOST_HELD:
        each = queue.popleft()
        yield each
        kind = type(each)  # `isinstance` may ask the user's `__class__`
        if kind is FunctionType:  # not its globals
            held = [each.__closure__, each.__dict__, each.__defaults__, each.__kwdefaults__]
        else:
            held = [] if issubclass(kind, _WHOLE_WORLDS) else gc.get_referents(each)
        for more in held:
            if id(more) not in seen:
                seen.add(id(more))
                queue.append(more)


def _built_in(func: Any) -> Any:
    """Return the method of torch's C++ code that a wrapper in ``torch.Tensor`` hides: its base class has it still."""
    for name, value in vars(torch.Tensor).items():
        if value is func:
            return getattr(torch._C.TensorBase, name, func)
    return func
