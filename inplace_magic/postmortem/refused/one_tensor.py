"""Errors about one tensor of the failing line: what a leaf may not do, and what is none and should be; what may not be
taken out of autograd, or put into a tensor's memory: NumPy, copies, ``out=``."""

from __future__ import annotations

from typing import Any

from inplace_magic.capture.torch import describe
from inplace_magic.language import N_, _
from inplace_magic.postmortem.failure import Failure
from inplace_magic.postmortem.refused import words
from inplace_magic.postmortem.refused.about import Subject, about
from inplace_magic.postmortem.refused.facts import computed, integer, leaf, owner_of, tracked, untracked
from inplace_magic.postmortem.refused.history import Bound
from inplace_magic.postmortem.refused.lines import reads_a_gradient
from inplace_magic.record.refusal import WHY


def _dtype(failure: Failure, tensor: Any) -> dict[str, str]:
    dtype = describe.layout(tensor).dtype if tensor is not None else None
    return {"dtype": _("an integer dtype") if dtype is None else str(dtype)}


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


ONE_TENSOR = (
    about(
        "leaf-written",
        r"a view of a leaf Variable that requires grad (?:is being|has been) used in an in-place",
        leaf,
        N_("{line} writes in place into {tensor}, which is a leaf that requires grad, or a view of one."),
        WHY["leaf written"],
        words.LEAF_FIX,
        cure=_update,
    ),
    about(
        "leaf-written",
        r"a leaf Variable that requires grad (?:is being|has been) used in an in-place",
        leaf,
        words.LEAF_WRITTEN,
        WHY["leaf written"],
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
    about(
        "numpy-of-a-tensor-with-gradient",
        r"Can't call (?:numpy|apply_|map_|map2_)\(\) on (?:Tensor|Variable) that requires grad",
        tracked,
        N_("{line} takes {tensor} as an array, and {tensor} requires grad."),
        N_("NumPy records no history, so the gradient would be lost silently; PyTorch wants an explicit `detach()`."),
        N_("If no gradient is to flow through the array, write `{name}.detach()` there. Else compute it with torch."),
        written=False,
    ),
    about(
        "copied-with-its-graph",
        r"Only (?:Tensors|Variables) created explicitly by the user \(graph leaves\) support the deepcopy",
        computed,
        N_("{line} copies {tensor}, which an operation made and which holds its graph."),
        N_("A copy of a result would need a copy of the graph behind it, so PyTorch copies leaves alone."),
        N_("Keep the values without the graph, where they are kept: append `.detach()` in {origin}."),
        made_it=True,
    ),
    about(
        "sent-with-its-graph",
        r"Cowardly refusing to serialize non-leaf tensor",
        computed,
        N_("{line} sends {tensor} to another process, and {tensor} holds its graph."),
        N_("A graph cannot go to another process."),
        N_("Send the values alone: `{name}.detach()`."),
        made_it=True,
    ),
    about(
        "out-with-gradient",
        r"functions with out=\.\.\. arguments don't support automatic differentiation",
        tracked,
        N_("{line} writes its result into `out=`, and {tensor} requires grad."),
        N_("Autograd records functions that give a new tensor; of one that fills a given tensor it records nothing."),
        N_(
            "Drop `out=` and use what the function gives. If no gradient is wanted, put {line} under `with "
            "torch.no_grad():`."
        ),
        written=False,
    ),
    about(
        "written-as-another-dtype",
        r"result type (?P<result>\w+) can't be cast to the desired output type (?P<output>\w+(?: int)?)",
        lambda tensor: True,
        N_("{line} writes a result of dtype {result} into {tensor}, which holds {output}."),
        N_(
            "A write in place keeps the tensor's dtype, and PyTorch loses no fractions, signs or imaginary parts "
            "silently."
        ),
        N_("Give a new tensor instead of writing in place, or make {tensor} of dtype {result} where it is made."),
    ),
    about(
        "written-as-another-dtype",
        r"Index put requires the source and destination dtypes match, got (?P<output>\w+) for the destination and "
        r"(?P<result>\w+) for the source",
        lambda tensor: True,
        N_("{line} puts values of dtype {result} into elements of {tensor}, which holds {output}."),
        N_("An index writes values as they are. Under autocast, a result can have another dtype than its inputs."),
        N_("Convert the values on the line that writes them: `.to({name}.dtype)`."),
    ),
    about(
        "written-with-another-shape",
        r"output with shape (?P<output>\[[\d, ]*\]) doesn't match the broadcast shape (?P<result>\[[\d, ]*\])",
        lambda tensor: True,
        N_("{line} writes a result of shape {result} into {tensor}, whose shape is {output}."),
        N_("A write in place keeps the tensor's memory, which has no room for a larger result."),
        N_("Give a new tensor instead of writing in place, or reduce what is written to the shape {output}."),
    ),
    about(
        "written-with-another-shape",
        r"value tensor of shape (?P<result>\[[\d, ]*\]) cannot be broadcast to indexing result of shape "
        r"(?P<output>\[[\d, ]*\])",
        lambda tensor: True,
        N_("{line} puts values of shape {result} into elements of {tensor}; the index selects shape {output}."),
        N_("A write in place has room for what its index selects, and repeats smaller values to fill it."),
        N_("Give it values of shape {output}, or change the index."),
    ),
    about(
        "resize-refused",
        r"cannot resize variables that require grad",
        tracked,
        N_("{line} changes the size of {tensor}, which requires grad."),
        N_("A gradient has the shape of its tensor, and autograd could not tell what the new elements came from."),
        N_("Build a new tensor: `torch.cat`, `F.pad`, or a slice."),
    ),
    about(
        "resize-refused",
        r"Trying to resize storage that is not resizable",
        lambda tensor: True,
        N_("{line} wants more memory for {tensor}, which lies in memory that is not PyTorch's to resize."),
        N_("Memory of a NumPy array, of another process or of a file is only lent to the tensor."),
        N_("Take a copy first: `{name} = {name}.clone()`."),
    ),
    about(
        "data-replaced",
        r"data set to a tensor that requires gradients must be floating point"
        r"|call `variable\.set_data\(tensor\)`, but `variable` and `tensor` have incompatible tensor type",
        tracked,
        N_("{line} puts other data behind {tensor}, of a dtype that has no gradients or of another kind."),
        N_("The tensor requires grad, so its data must be floating point and of its own kind."),
        N_("Convert the new values first, `.to({name}.dtype)`, or set `requires_grad_(False)` before."),
    ),
)
