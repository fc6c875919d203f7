"""Errors about leaves and flags: what a leaf may not do, and what is none and should be."""

from __future__ import annotations

from typing import Any

from inplace_magic.language import N_, _
from inplace_magic.postmortem.failure import Failure
from inplace_magic.postmortem.refused import words
from inplace_magic.postmortem.refused.about import Subject, about
from inplace_magic.postmortem.refused.facts import computed, dtype_of, integer, leaf, owner_of, tracked, untracked
from inplace_magic.postmortem.refused.history import Bound
from inplace_magic.postmortem.refused.roots import reads_a_gradient


def _dtype(failure: Failure, tensor: Any) -> dict[str, str]:
    return {"dtype": (dtype_of(tensor) if tensor is not None else None) or _("an integer dtype")}


def _update(failure: Failure, subject: Subject, made: Bound | None) -> str | None:
    """A parameter, or a line that reads a gradient, is an update of values; what was computed is written as a copy."""
    line = words.line_of(failure.place)
    if subject.is_below:
        return _("Hand it a copy, `{name}.clone()`, or turn `inplace=True` off in what {line} calls.").format(
            name=subject.path or _("it"), line=line
        )
    if reads_a_gradient(failure) or type(owner_of(subject.tensor)).__name__ == "Parameter":
        return _(words.UPDATE).format(line=line)
    return None


LEAVES = (
    about(
        "leaf-written",
        r"a view of a leaf Variable that requires grad (?:is being|has been) used in an in-place",
        leaf,
        N_("{line} writes in place into {tensor}, which is a leaf that requires grad, or a view of one."),
        words.LEAF_WHY,
        words.LEAF_FIX,
        cure=_update,
    ),
    about(
        "leaf-written",
        r"a leaf Variable that requires grad (?:is being|has been) used in an in-place",
        leaf,
        words.LEAF_WRITTEN,
        words.LEAF_WHY,
        words.LEAF_FIX,
        cure=_update,
    ),
    about(
        "flag-of-a-result",
        r"you can only change requires_grad flags of leaf variables",
        computed,
        N_("{line} sets `requires_grad` of {tensor}, which an operation made."),
        N_("The inputs of a result decide whether it requires grad, so only a leaf's flag can be set."),
        N_(
            "To continue without its history, write `{name} = {name}.detach()`; to freeze a layer, set the flag of "
            "its parameters."
        ),
    ),
    about(
        "gradient-of-integers",
        r"[Oo]nly Tensors of floating point (?:and complex )?dtype can require gradients",
        integer,
        N_("{line} asks for gradients of {tensor}, whose dtype is {dtype}."),
        N_("A gradient is a small change of the values, and integers have none."),
        N_("Make it a floating point tensor first: `.float()`, or `dtype=torch.float32` where it is made."),
        facts=_dtype,
    ),
    about(
        "hook-without-gradient",
        r"cannot register a hook on a tensor that doesn't require gradient"
        r"|can't retain_grad on Tensor that has requires_grad=False",
        untracked,
        N_("{line} wants the gradient of {tensor}, and {tensor} does not require grad."),
        N_("Backward computes no gradient for a tensor that does not require grad, so there would never be one."),
        N_("Set `requires_grad=True` where {tensor} is made, or compute it from a tensor that requires grad."),
        written=False,
    ),
    about(
        "optimizer-of-a-result",
        r"can't optimize a non-leaf Tensor",
        computed,
        N_("{line} gives an optimizer {tensor}, which is the result of an operation and no leaf."),
        N_("Backward collects gradients at leaves alone: the optimizer would never see one for a result."),
        N_(
            "Make the tensor to be trained the leaf: `{name} = {name}.detach().requires_grad_()`, or convert it "
            "before `requires_grad` is set."
        ),
        made_it=True,
    ),
    about(
        "parameter-replaced-by-a-result",
        r"cannot assign '[\w.]+' (?:as|object to) parameter '(?P<parameter>\w+)' \(",
        lambda tensor: type(tensor).__name__ == "Parameter",
        N_("{line} puts a tensor in the place of the parameter {parameter}."),
        N_(
            "A module's parameter has to stay a `Parameter`, a leaf that its optimizer knows; a result of "
            "an operation is none."
        ),
        N_(
            "To change its values, write them in place under `with torch.no_grad():`. To compute the weight in each "
            "forward, keep it under another name."
        ),
        group="parameter",
        facts=lambda failure, tensor: {"parameter": f"`{failure.match['parameter']}`"},
    ),
    about(
        "gradient-assigned-wrong",
        r"assigned grad has data of a different|attempting to assign a gradient (?:of size|with)"
        r"|assigned grad expected to be a Tensor",
        tracked,
        N_("{line} gives {tensor} a gradient that does not fit: {reason}."),
        N_("The gradient of a tensor has its shape, and as a rule its dtype and device."),
        N_("Give it a gradient like the tensor: `torch.zeros_like({name})` makes one."),
        facts=lambda failure, tensor: {"reason": failure.text.strip().partition(". ")[0].rstrip(".")},
    ),
)
