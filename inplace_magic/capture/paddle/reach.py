"""The names by which the user's namespace reaches Paddle's tensors, looked up when the watch ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import paddle

from inplace_magic.capture.naming.reach import Kinds, walk
from inplace_magic.capture.paddle.identity import IdentityMap
from inplace_magic.record.names import TensorName

KINDS = Kinds(
    tensor=paddle.Tensor,
    module=paddle.nn.Layer,
    indexed=(paddle.nn.Sequential, paddle.nn.LayerList, paddle.nn.ParameterList),
    tables=("_parameters", "_buffers", "_sub_layers"),
)


def hooked_layers(namespace: Mapping[str, Any]) -> tuple[str, ...]:
    """Paths of the layers that carry a forward hook."""
    found: dict[str, None] = {}
    for name, value in list(namespace.items()):
        if name.startswith("_"):
            continue
        for _, path, item in walk(name, value, KINDS):
            if isinstance(item, KINDS.module) and getattr(item, "_forward_post_hooks", None):
                found[path] = None
    return tuple(found)


def names_of_tensors(namespace: Mapping[str, Any], identity: IdentityMap) -> tuple[TensorName, ...]:
    """Every name of every tensor that the watch has met, shortest paths first, in the order of the namespace."""
    identity.bury()
    found: list[tuple[int, TensorName]] = []
    for name, value in list(namespace.items()):
        if name.startswith("_"):
            continue  # IPython's own history (`_`, `_3`) and the user's private names
        for depth, path, item in walk(name, value, KINDS):
            record = identity.known(item) if isinstance(item, KINDS.tensor) else None
            if record is not None:
                found.append((depth, TensorName(record.serial, path)))
    found.sort(key=lambda entry: entry[0])
    return tuple(entry for _, entry in found)
