"""What a tensor of PyTorch's is like, by facts that run no code of a subclass and change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from inplace_magic.capture.names import TORCH_KINDS
from inplace_magic.capture.naming.reach import walk
from inplace_magic.capture.torch import describe


def is_tensor(value: object) -> bool:
    """True if it is a tensor of PyTorch's."""
    return issubclass(type(value), torch.Tensor)


def is_module(value: object) -> bool:
    """True if it is a module of PyTorch's."""
    return issubclass(type(value), torch.nn.Module)


def parameters_of(module: object, path: str = "") -> dict[str, Any]:
    """Return the parameters of a module by their paths."""
    return {name: each for _, name, each in walk(path, module, TORCH_KINDS) if type(each).__name__ == "Parameter"}


tracked: Callable[[Any], bool] = describe.requires_grad
"""True if autograd follows a tensor."""


def untracked(tensor: Any) -> bool:
    """True if autograd does not follow it."""
    return not tracked(tensor)


def computed(tensor: Any) -> bool:
    """True if autograd follows it and an operation made it. A view's node is not asked for: reading makes it anew."""
    return tracked(tensor) and (describe.is_view(tensor) or not describe.is_leaf(tensor))


def leaf(tensor: Any) -> bool:
    """True if it is a leaf that requires grad, or a view of one."""
    base = owner_of(tensor)
    return base is not None and tracked(base) and describe.is_leaf(base)


def owner_of(tensor: Any) -> Any:
    """Return the tensor whose memory a view shows; of any other tensor itself."""
    return describe.base(tensor) if describe.is_view(tensor) else tensor


def plain(tensor: Any) -> bool:
    """True if it is no stand-in of `torch.func` for another tensor, as `vmap` and `grad` make of their arguments."""
    return not describe.attempt(lambda: describe.is_wrapped(tensor))


def made_in_inference_mode(tensor: Any) -> bool:
    """True if it is an inference tensor."""
    with describe.NO_SUBCLASS_CODE():
        return bool(describe.attempt(lambda: tensor.is_inference()))


def repeats_elements(tensor: Any) -> bool:
    """True if one element of memory stands for several positions."""
    layout = describe.layout(tensor)
    pairs = zip(layout.shape or (), layout.strides or (), strict=False)
    return any(size > 1 and step == 0 for size, step in pairs)


def integer(tensor: Any) -> bool:
    """True if its numbers are known to be neither floating point nor complex."""
    dtype = describe.layout(tensor).dtype
    return dtype is not None and not (dtype.is_floating_point or dtype.is_complex)


def is_one_real_number(tensor: Any) -> bool | None:
    """True if backward can begin at it without being told weights; None where its shape is unknown."""
    layout = describe.layout(tensor)
    if layout.shape is None or layout.dtype is None:
        return None
    return all(size == 1 for size in layout.shape) and not layout.dtype.is_complex
