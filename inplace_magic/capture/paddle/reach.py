"""The names by which the user's namespace reaches Paddle's tensors, looked up when the watch ends."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from types import CodeType
from typing import Any

import paddle

from inplace_magic.capture.frames import FrameworkFrames
from inplace_magic.capture.naming.reach import Kinds, in_namespace
from inplace_magic.capture.paddle.identity import IdentityMap
from inplace_magic.record.names import TensorName

KINDS = Kinds(
    tensor=paddle.Tensor,
    module=paddle.nn.Layer,
    indexed=(paddle.nn.Sequential, paddle.nn.LayerList, paddle.nn.ParameterList),
    tables=("_parameters", "_buffers", "_sub_layers"),
)


def read_namespace(
    namespace: Mapping[str, Any], identity: IdentityMap
) -> tuple[tuple[TensorName, ...], tuple[str, ...]]:
    """Return every name of every tensor that the watch has met, shortest paths first, in the order of the namespace;
    and the paths of the layers that carry a forward hook."""
    identity.bury()
    found: list[tuple[int, TensorName]] = []
    hooked: dict[str, None] = {}
    for depth, path, item in in_namespace(namespace, KINDS):
        if isinstance(item, KINDS.module):
            if getattr(item, "_forward_post_hooks", None):
                hooked[path] = None
        elif (record := identity.known(item)) is not None:
            found.append((depth, TensorName(record.serial, path)))
    found.sort(key=lambda entry: entry[0])
    return tuple(entry for _, entry in found), tuple(hooked)


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
