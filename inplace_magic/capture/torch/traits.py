"""Traits of PyTorch's operations, by their exact names: the one place that says them.

A name stands here as it stands in the record (``Tensor.data``), or without what it belongs to (``add_`` of
``Tensor.add_``, ``__iand__`` where Python's operator has no other name in the record). Only what stands here counts:
the end of a name tells nothing (``fill_`` forgets every old value, ``masked_fill_`` some of them).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import torch

from inplace_magic.record.traits import Role, Trait
from inplace_magic.source.vocabulary import NOT_ALWAYS_COPIES

_ZEROING = ("zero_", "_foreach_zero_")
_DRAWING = (
    *("normal_", "uniform_", "log_normal_", "exponential_", "cauchy_", "geometric_", "random_", "bernoulli_"),
    *("kaiming_uniform_", "kaiming_normal_", "xavier_uniform_", "xavier_normal_", "trunc_normal_", "orthogonal_"),
)
_OVERWRITING = (
    *_ZEROING,
    *_DRAWING,
    *("fill_", "copy_", "_foreach_copy_"),
    *("constant_", "ones_", "zeros_", "eye_", "dirac_"),
)
_SUBTRACTING = ("sub_", "subtract_", "__isub__")
_DIVIDING = ("div_", "divide_", "true_divide_", "__itruediv__")

_LISTED: tuple[tuple[Trait, Iterable[str]], ...] = (
    ("sets item", ("__setitem__",)),
    ("copies in", ("copy_",)),
    ("assigns", ("__setitem__", "copy_")),
    ("zeroes", _ZEROING),
    ("fills", ("fill_", "zero_")),
    ("draws", _DRAWING),
    ("overwrites", _OVERWRITING),
    (
        "repeatable",
        (
            *_OVERWRITING,
            *("__setitem__", "masked_fill_", "index_fill_", "index_copy_", "fill_diagonal_"),
            *("clamp_", "clamp_min_", "clamp_max_", "clip_"),
        ),
    ),
    ("adds", ("add", "sub", "subtract", "rsub", "add_", "__iadd__", *_SUBTRACTING)),
    ("shifts", ("add_", "__iadd__", *_SUBTRACTING)),
    ("scales", ("mul_", "multiply_", "__imul__", "_foreach_mul_", "_foreach_div_", *_DIVIDING)),
    ("subtracts or divides", (*_SUBTRACTING, *_DIVIDING)),
    (
        "elementwise",
        (
            *("__setitem__", "copy_", "add_", "sub_", "mul_", "div_", "true_divide_", "pow_", "remainder_"),
            *("floor_divide_", "fmod_", "lerp_", "addcmul_", "addcdiv_", "maximum", "minimum", "atan2_", "hypot_"),
            *("masked_fill_", "where", "logical_and_", "logical_or_", "logical_xor_"),
            *("bitwise_and_", "bitwise_or_", "bitwise_xor_"),
            *("__iand__", "__ior__", "__ixor__", "add", "sub", "mul", "div"),
        ),
    ),
    ("saves nothing", ("__setitem__", "copy_", "fill_", "zero_", "add_", "sub_", "neg_")),
    (
        "mixes",
        (
            *("mm", "mv", "matmul", "bmm", "addmm", "addmv", "baddbmm", "addbmm", "gather", "index_select", "take"),
            *("take_along_dim", "roll", "flip"),
        ),
    ),
    ("adds a product", ("addmm", "addmv", "baddbmm", "addbmm")),
    ("takes in order", ("masked_scatter_",)),
    ("resizes", ("resize_", "resize_as_")),
    ("turns", ("t_", "transpose_", "swapaxes_", "swapdims_")),
    ("gives item", ("Tensor.__getitem__",)),
    ("gives data", ("Tensor.data",)),
    ("gives array", ("Tensor.numpy",)),
    ("gives out memory", ("numpy", "__array__", "__dlpack__", "to_dlpack")),
    (
        "may hand back",
        (*(f"Tensor.{name}" for name in NOT_ALWAYS_COPIES), "torch.as_tensor", "torch.asarray", "Tensor.new"),
    ),
    ("looks up", ("embedding", "embedding_bag")),
    ("detached", ("detach", "from_dlpack")),
    (
        "buffer",
        (
            *("zeros", "empty", "full", "ones", "zeros_like", "empty_like", "full_like", "ones_like"),
            *("new_zeros", "new_empty", "new_full", "new_ones", "empty_strided", "empty_permuted"),
        ),
    ),
    ("gives address", ("data_ptr", "untyped_storage", "storage", "share_memory_", "pin_memory")),
    (
        "picks",
        (
            *(NOT_ALWAYS_COPIES - {"detach"}),
            *("__getitem__", "index_select", "masked_select", "take", "take_along_dim", "gather"),
            *("reshape", "flatten", "ravel"),
        ),
    ),
    ("clone", ("clone",)),
    (
        "copy",
        (
            *NOT_ALWAYS_COPIES,
            *("clone", "empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like"),
        ),
    ),
    ("gathers", ("stack", "cat", "concat", "concatenate", "vstack", "hstack", "dstack", "column_stack")),
    ("normalises scores", ("softmax", "log_softmax", "cross_entropy", "softmin", "gumbel_softmax")),
    ("reads values", ("item", "tolist", "numpy", "equal", "allclose", "__float__", "__int__", "__bool__")),
    (
        "compares",
        (
            *("sub", "__rsub__", "sub_", "div", "__rdiv__", "eq", "ne", "lt", "gt", "le", "ge"),
            *("__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__", "isclose", "allclose", "equal"),
            *("mse_loss", "l1_loss", "smooth_l1_loss", "kl_div", "cosine_similarity", "pairwise_distance", "dist"),
            *("cdist", "copy_"),
        ),
    ),
    ("takes memory", ("Tensor.data =",)),
    ("sets gradient", ("Tensor.grad =",)),
    ("detaches itself", ("detach_",)),
    ("registers hook", ("Tensor.register_hook",)),
    ("gives gradients", ("torch.autograd.grad",)),
)
_NAMES: dict[Trait, frozenset[str]] = {trait: frozenset(names) for trait, names in _LISTED}
_NODES: dict[Trait, frozenset[str]] = {
    "writes a part": frozenset(("CopySlices",)),
    "passes gradient on": frozenset(
        ("AddBackward0", "AddBackward1", "SubBackward0", "StackBackward0", "CatBackward0", "CopySlices")
    ),
    "runs a module's hook": frozenset(("BackwardHookFunctionBackward",)),
    "accumulates": frozenset(("AccumulateGrad",)),
}
"""By the names that PyTorch gives to nodes (tools/autograd/derivatives.yaml)."""


@cache
def traits_of(name: str) -> tuple[Trait, ...]:
    """What is known of an operation."""
    bare = name.rpartition(".")[2]
    known = [trait for trait, names in _NAMES.items() if name in names or bare in names]
    if name.startswith("Tensor."):
        known.append("method")
        if hasattr(torch.Tensor, f"{bare}_"):
            known.append("has a form in place")
    if name.partition(".")[0] not in ("torch", "Tensor", "F", "aten"):
        known.append("gives address")  # somebody's own kernel, `mine.fill`
    if bare.startswith("_foreach_"):
        known.append("of lists")
    return tuple(known)


@cache
def node_traits(name: str) -> tuple[Trait, ...]:
    """What is known of an autograd node by its name."""
    return tuple(trait for trait, names in _NODES.items() if name in names)


def function_behind(node: str) -> str | None:
    """Return the class of the custom ``Function`` that a node of this name runs; None for a node of PyTorch's own."""
    return node.removesuffix("Backward") if node.endswith("Backward") else None


@cache
def saved_role(name: str) -> Role | None:
    """What a saved tensor was to the call, by its node's name for it (tools/autograd/derivatives.yaml)."""
    if name in ("result", "output", "out"):
        return "result"
    if name.startswith(("self", "input")):
        return "first input"
    if name == "other":
        return "second input"
    return "statistics" if "running" in name else None
