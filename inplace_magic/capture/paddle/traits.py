"""Traits of Paddle's operations, by their exact names: the one place that says them.

A name is that of the C++ operation or method as it is called (``add_``, ``__add__``). Only what stands here counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import paddle

from inplace_magic.record.traits import Role, Trait

_ZEROING = ("zero_", "clear_gradient")
_DRAWING = ("uniform_", "normal_", "exponential_", "bernoulli_", "cauchy_", "geometric_", "log_normal_")
_OVERWRITING = (*_ZEROING, *_DRAWING, "fill_", "copy_", "set_value", "full_", "assign_out_")

_LISTED: tuple[tuple[Trait, Iterable[str]], ...] = (
    ("sets item", ("__setitem__",)),
    ("copies in", ("copy_", "set_value")),
    ("assigns", ("__setitem__", "copy_", "set_value")),
    ("zeroes", _ZEROING),
    ("fills", ("fill_",)),
    ("draws", _DRAWING),
    ("overwrites", _OVERWRITING),
    ("repeatable", (*_OVERWRITING, "__setitem__", "masked_fill_", "clip_")),
    ("adds", ("add", "subtract", "add_", "subtract_", "__add__", "__radd__", "__sub__", "__rsub__")),
    ("shifts", ("add_", "subtract_")),
    ("scales", ("multiply_", "divide_", "scale_")),
    ("subtracts or divides", ("subtract_", "divide_")),
    ("saves nothing", ("__setitem__", "add_", "subtract_", "scale_", "fill_")),
    ("mixes", ("matmul", "mm", "bmm", "mv", "addmm", "gather", "index_select", "take_along_axis", "roll", "flip")),
    ("gives item", ("__getitem__",)),
    ("gives array", ()),
    ("may hand back", ("contiguous", "detach", "cast")),
    ("detached", ("detach",)),
    ("buffer", ("full", "empty", "full_like", "empty_like")),
    ("picks", ("__getitem__", "reshape", "flatten", "index_select", "gather")),
    ("clone", ("clone",)),
    ("copy", ("clone", "assign", "cast")),
    ("gathers", ("concat", "stack")),
    ("normalises scores", ("softmax", "log_softmax", "cross_entropy_with_softmax")),
    ("reads values", ("numpy",)),
    (
        "compares",
        (
            *("subtract", "__sub__", "__rsub__", "subtract_", "divide", "__truediv__", "__rtruediv__"),
            *("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal", "equal_all"),
            *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "isclose", "allclose"),
            *("copy_", "set_value", "kldiv_loss", "huber_loss", "dist"),
        ),
    ),
    ("turns", ("transpose_", "t_")),
    ("takes memory", ("data =",)),
    ("detaches itself", ("detach_",)),
    ("gives gradients", ("grad",)),
)
_NAMES: dict[Trait, frozenset[str]] = {trait: frozenset(names) for trait, names in _LISTED}


@cache
def traits_of(operation: str, *, method: bool) -> tuple[Trait, ...]:
    """What is known of an operation."""
    known: list[Trait] = [trait for trait, names in _NAMES.items() if operation in names]
    if method:
        known.append("method")
    if hasattr(paddle.Tensor, f"{operation}_"):
        known.append("has a form in place")
    return tuple(known)


@cache
def node_traits(name: str) -> tuple[Trait, ...]:
    """What is known of a node by its name (``paddle/fluid/eager/``)."""
    return ("accumulates",) if name == LEAF_SINK else ()


LEAF_SINK = "GradNodeAccumulation"
"""The node of a leaf."""


def function_behind(node: str) -> str | None:
    """Return the class of the custom ``PyLayer`` that a node of this name runs; None for a node of Paddle's own."""
    return node.removeprefix(_CUSTOM) if node.startswith(_CUSTOM) else None


_CUSTOM = "GradNodePyLayer_"


@cache
def operation_of(node: str) -> str:
    """``log_softmax`` of ``LogSoftmaxGradNode``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node.removesuffix("GradNode")).lower()


def role_of(slot: str) -> Role | None:
    """What a saved tensor was to the call, by its slot in the table of saves."""
    if slot.startswith("out"):
        return "result"
    if slot == "in0":
        return "first input"
    return "second input" if slot == "in1" else None
