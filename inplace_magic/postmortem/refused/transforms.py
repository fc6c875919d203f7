"""Errors about writes in a function that `torch.func` transforms: `vmap`, `grad`, `vjp`, `jvp` and what is built on
them."""

from __future__ import annotations

import ast
from dataclasses import replace

from inplace_magic.language import N_, _
from inplace_magic.postmortem.failure import Failure, Kind
from inplace_magic.postmortem.refused.about import Subject, about
from inplace_magic.postmortem.refused.facts import plain
from inplace_magic.postmortem.refused.history import Bound
from inplace_magic.postmortem.refused.one_tensor import ONE_TENSOR
from inplace_magic.record.answer import Answer

_VMAP_FILE = "vmap.py"
_SHAPE = next(row for row in ONE_TENSOR if row.code == "written-with-another-shape")


def _made_inside(failure: Failure, subject: Subject, made: Bound | None) -> str | None:
    """A tensor that the mapped function makes can be made for each example."""
    call = made.value if made is not None and made.frame == subject.frame else None
    if not isinstance(call, ast.Call) or subject.path is None:
        return None
    return _(
        "Make `{name}` from a mapped argument, so that each example has its own (`x.new_zeros(4)`, "
        "`torch.zeros_like(x)` for a mapped `x`), or give a new tensor: `torch.stack`, `torch.where`, `{name} + …`."
    ).format(name=subject.path)


_SHARED = about(
    "written-under-vmap",
    r"vmap: .+?\(self, \*extra_args\) is not possible because there exists a Tensor `other`"
    r"|[Cc]annot ask for different inplace randomness on an unbatched tensor",
    plain,
    N_("{line} writes values that differ from example to example into {tensor}, which `vmap` has once."),
    N_(
        "`vmap` maps over its arguments and what is computed from them. A tensor from outside, or one that "
        "`torch.zeros` makes, is one tensor for all examples, with no place for the values of each, so PyTorch refused."
    ),
    N_("Give a new tensor instead of writing in place, and let the function return it."),
    cure=_made_inside,
)
_OUT = about(
    "written-under-vmap",
    r"Batching rule not implemented for aten::\w+\.\w*out\b",
    plain,
    N_("{line} writes its result into `out=` under `vmap`."),
    N_("`vmap` has no rule for functions that fill a given tensor."),
    N_("Drop `out=` and use what the function gives."),
)
_DATA = about(
    "written-under-vmap",
    r"mutating directly with `\.data` under vmap transform is not allowed",
    plain,
    N_("{line} puts other data behind {tensor} under `vmap`."),
    N_("A tensor under `vmap` stands for all examples at once, and its data cannot be exchanged for another tensor's."),
    N_("Use the other tensor itself."),
)
_NORM = about(
    "written-under-vmap",
    r"Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place",
    lambda tensor: False,
    N_("{line} runs a batch norm under `vmap`, which would write its running statistics in place."),
    N_("The statistics are one tensor for all examples, and each example would write other values."),
    N_(
        "Let it keep no statistics (`track_running_stats=False`, `torch.func.replace_all_batch_norm_modules_(model)`), "
        "use `model.eval()`, or another norm such as `nn.GroupNorm`."
    ),
)
_RANDOM = about(
    "random-under-vmap",
    r"vmap: called random operation while in randomness error mode",
    lambda tensor: False,
    N_("{line} draws random numbers under `vmap`."),
    N_("`vmap` does not know whether the examples are to have the same numbers or each its own."),
    N_('Say which: `vmap(f, randomness="different")` or `randomness="same"`; or draw them outside and map over them.'),
)
_CAPTURED = about(
    "captured-tensor-written",
    r"attempted to call in-place operation \([\w:.]+\) that would mutate a captured Tensor",
    plain,
    N_("{line} writes {tensor} in place, which the transformed function did not get as an argument."),
    N_(
        "`torch.func.grad`, `vjp`, `jvp` and the like differentiate a function of its arguments. A write to a tensor "
        "from outside is no part of that, so PyTorch refused."
    ),
    N_(
        "Hand {tensor} over as an argument, compute a new tensor and return it (`has_aux=True` returns more than the "
        "loss); or write into a copy, `{name}.clone()`, if only the function needs the values."
    ),
)


def _of_another_shape(failure: Failure) -> Answer | None:
    """Explain a result that does not fit: under `vmap` the shapes in the text have the examples as a dimension."""
    mapped = any(frame.f_code.co_filename.endswith(_VMAP_FILE) for frame in failure.stack)
    kind = _SHARED if mapped else _SHAPE
    return kind.explain(replace(failure, kind=kind))


TRANSFORMS: tuple[Kind, ...] = (
    _SHARED,
    replace(_SHAPE, explain=_of_another_shape),
    _OUT,
    _DATA,
    _NORM,
    _RANDOM,
    _CAPTURED,
)
