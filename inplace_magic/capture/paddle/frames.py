"""What the frames of Paddle's own code mean to a chain of callers.

Paddle's functions are written in Python around one or a few C++ operations: ``F.relu_`` stands in
``nn/functional/activation.py`` and is reached through two decorators. Such a frame is part of the call; a frame of a
layer, an optimizer or an initializer is library code that made the call.
"""

from __future__ import annotations

import os
from functools import cache
from types import CodeType

import paddle

from inplace_magic.capture.frames import FrameworkFrames

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(paddle.__file__)), "")
_DECORATOR = ("decorator.py", os.path.join("decorator", "__init__.py"))
_PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe.py")
_OF_CALLS = tuple(
    os.path.join(_FOLDER, *name, "")
    for name in (("tensor",), ("nn", "functional"), ("utils",), ("base",), ("autograd",), ("framework",), ("sparse",))
)


@cache
def _is_part_of_the_call(file: str) -> bool:
    if file.startswith("<decorator-gen-") or file.endswith(_DECORATOR):
        return True  # what the `decorator` package makes of Paddle's decorated functions
    path = os.path.abspath(file)
    if path == _PROBE:
        return True
    return path.startswith(_OF_CALLS) or os.path.dirname(path) + os.sep == _FOLDER


def _is_stand_in(code: CodeType) -> bool:
    return False


PADDLE_FRAMES = FrameworkFrames(
    module_file=paddle.nn.Layer.__call__.__code__.co_filename,
    runs_hooks="_dygraph_call_func",
    is_passed_over=_is_part_of_the_call,
    is_stand_in=_is_stand_in,
)
