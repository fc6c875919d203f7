"""Layers that a module keeps in a plain list, tuple or dict, where ``parameters()`` does not look."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

from torch import nn

from inplace_magic.capture.names import TORCH_KINDS
from inplace_magic.capture.torch import describe

_MODULES = 64
"""Below a name, that are looked at."""
_ITEMS = 48
"""Attributes of a module, and entries of a container, that are looked at."""
_PLAIN = (list, tuple, dict)
_OWN = frozenset(vars(nn.Module()))
"""Tables that every module has."""


class Beside(NamedTuple):
    """A container of layers that its module has not registered."""

    path: str
    """From the module down: ``.layers``, ``.blocks[0].layers``."""
    kind: str
    cls: str
    """Of the module that has the container."""
    tensors: list[Any]
    """Parameters of these layers that want gradients."""


def kept_beside(module: Any, held: frozenset[int], of: Callable[[Any], list[Any]]) -> list[Beside]:
    """The containers below a module, without those of one layer, which hide it on purpose; none where an
    optimizer does not hold all that the module registers and that wants gradients.

    Args:
        module: which one a name leads to.
        held: the ``id`` of what the optimizer holds.
        of: the registered parameters of a module.
    """
    found = [
        Beside(f"{path}.{name}", type(value).__name__, type(each).__name__, layers)
        for path, each in _below(module)
        for name, value in list(islice(vars(each).items(), _ITEMS))
        if type(value) in _PLAIN and type(name) is str and name not in _OWN and len(layers := _layers(value)) > 1
    ]
    if not found:
        return []
    registered = of(module)
    if any([type(each) not in describe.PLAIN_TYPES for each in registered]):
        return []  # of a subclass it is not known
    moved = [each for each in registered if each.requires_grad]
    if not moved or any([id(each) not in held for each in moved]):
        return []
    told = []
    for entry in found:
        ahead = {id(each): each for layer in entry.tensors for each in of(layer) if id(each) not in held}
        tensors = [each for each in ahead.values() if type(each) in describe.PLAIN_TYPES and each.requires_grad]
        if tensors and len(tensors) == len(ahead):
            told.append(entry._replace(tensors=tensors))
    return told


def _below(module: Any) -> list[tuple[str, Any]]:
    """(path, module) of a module and those that it has registered, or the first of them."""
    found, met = [("", module)], {id(module)}
    for path, each in found:
        for name, child in list((vars(each).get("_modules") or {}).items()):
            if child is not None and id(child) not in met and len(found) < _MODULES and type(name) is str:
                met.add(id(child))
                found.append((f"{path}[{name}]" if name.isdecimal() else f"{path}.{name}", child))
    return found


def _layers(value: Any) -> list[Any]:
    """The modules in a plain container, and in the containers in it."""
    items = _items(value)
    within = [inner for item in items if type(item) in _PLAIN for inner in _items(item)]
    return [item for item in (*items, *within) if issubclass(type(item), TORCH_KINDS.module)]


def _items(value: Any) -> list[Any]:
    return list(islice(value.values() if type(value) is dict else value, _ITEMS))
