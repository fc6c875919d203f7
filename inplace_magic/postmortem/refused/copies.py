"""Errors about taking a tensor's numbers out of autograd, or putting others into its memory: NumPy,
copies, ``out=``."""

from __future__ import annotations

from inplace_magic.language import N_
from inplace_magic.postmortem.refused.about import about
from inplace_magic.postmortem.refused.facts import computed, tracked

COPIES = (
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
