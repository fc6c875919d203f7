"""The names by which the user's namespace reaches Paddle's tensors, looked up when the watch ends."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from types import FrameType
from typing import Any

import paddle

from inplace_magic.capture.frames import FrameworkFrames
from inplace_magic.capture.naming.reach import Kinds, met_in
from inplace_magic.capture.naming.scope import names_in_sight
from inplace_magic.capture.paddle.identity import IdentityMap
from inplace_magic.record.names import TensorName

KINDS = Kinds(
    tensor=paddle.Tensor,
    module=paddle.nn.Layer,
    indexed=(paddle.nn.Sequential, paddle.nn.LayerList, paddle.nn.ParameterList),
    tables=("_parameters", "_buffers", "_sub_layers"),
)


def read_namespace(
    namespace: Mapping[str, Any] | FrameType, identity: IdentityMap
) -> tuple[tuple[TensorName, ...], tuple[str, ...]]:
    """Return every name of every tensor that the watch has met, and the paths of the layers that carry a forward
    hook.

    Args:
        namespace: the names, or the frame in whose sight they are.
    """
    namespace = names_in_sight(namespace) if isinstance(namespace, FrameType) else namespace
    identity.bury()
    names, layers = met_in(namespace, identity.known, KINDS)
    return names, tuple(path for path, layer in layers if getattr(layer, "_forward_post_hooks", None))


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
    return path == _PROBE or path.startswith(_OF_CALLS) or os.path.dirname(path) + os.sep == _FOLDER


PADDLE_FRAMES = FrameworkFrames(
    module_file=paddle.nn.Layer.__call__.__code__.co_filename,
    runs_hooks="_dygraph_call_func",
    is_passed_over=_is_part_of_the_call,
    is_stand_in=lambda _code: False,
)
