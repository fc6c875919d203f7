"""What is said of a backward that has nothing to go back through."""

from __future__ import annotations

from inplace_magic.language import N_, _
from inplace_magic.postmortem.failure import Failure, Kind
from inplace_magic.postmortem.refused import words
from inplace_magic.postmortem.refused.about import about
from inplace_magic.postmortem.refused.facts import untracked
from inplace_magic.postmortem.refused.history import History
from inplace_magic.postmortem.refused.lines import roots_in
from inplace_magic.postmortem.refused.no_graph import Cut, Search
from inplace_magic.record.answer import Answer
from inplace_magic.source.expressions import path_text

SAID = {
    "detach": N_("{line} ended it: `.detach()` gives the values without their history."),
    "data": N_("{line} ended it: `.data` gives the values without their history."),
    "number": N_("{line} ended it: {code} gives a plain number, which has no history."),
    "array": N_("{line} ended it: {code} goes through NumPy, which records nothing."),
    "copied": N_("{line} ended it: {code} makes a new tensor of the values, without their history."),
    "index": N_("{line} ended it: {code} gives positions, and a position has no gradient."),
    "integer": N_("{line} ended it: {code} gives integers, which have no gradient."),
    "compared": N_("{line} ended it: {code} gives true or false, which has no gradient."),
    "new": N_("{line} ended it: {code} makes a new tensor of the same shape, without a history."),
    "gradient": N_(
        "{line} ended it: {code} gives gradients that have no history themselves, since they were computed without "
        "`create_graph=True`."
    ),
    "block": N_("{line} ended it: it runs under {code}, where autograd records nothing."),
    "around": N_("{line} switches recording off, and the failing line itself runs in that block."),
    "decorator": N_("{line} ended it: {code} stands above the function, so autograd records nothing in it."),
    "switch": N_("{line} switched recording off for all that follows, and it is off still."),
    "frozen": N_("No parameter of {code} requires grad. {line} turned that off."),
    "unrequired": N_("{line} computes it with {code}, no parameter of which requires grad."),
    "operation": N_("{line} ended it: its inputs require grad, but the result of {code} does not."),
    "never": N_("None of its inputs requires grad. {line} made one of them without `requires_grad=True`."),
}
"""What ended the graph, in one sentence about the graph that was just named, by :attr:`.Cut.how`."""

CURES = {
    "detach": N_("Remove `.detach()` from {line}."),
    "data": N_("Remove `.data` from {line}."),
    "number": N_("Continue with the tensor itself in {line}; take the number for printing alone."),
    "array": N_("Compute the same with functions of torch in {line}."),
    "copied": N_("Use the tensor itself in {line}; several are joined by `torch.stack` or `torch.cat`."),
    "index": N_(
        "Compute the loss from the scores themselves, as `F.cross_entropy` does; positions serve the accuracy alone."
    ),
    "integer": N_("Leave the numbers floating point in {line}."),
    "compared": N_("For training, use a smooth measure in its place, such as `torch.sigmoid`."),
    "new": N_("Compute from the tensor itself in {line}."),
    "gradient": N_("Pass `create_graph=True` where these gradients are computed."),
    "block": N_("Move {line} out of the block, or remove the block."),
    "around": N_("Remove {line}, or put `with torch.enable_grad():` around the part to be trained."),
    "decorator": N_(
        "Remove {code} from the function, or put `with torch.enable_grad():` around the part to be trained."
    ),
    "switch": N_("Switch recording on again, `torch.set_grad_enabled(True)`, or use a `with` block in its place."),
    "frozen": N_("Let the parameters to be trained require grad: `requires_grad_(True)`."),
    "unrequired": N_("Let the parameters to be trained require grad: `requires_grad_(True)`."),
    "operation": N_("Use an operation that has a gradient in {line}."),
    "never": N_("Create the tensor to be trained with `requires_grad=True`, or compute it from a module's parameters."),
}
"""What to change there."""


def explain_no_graph(failure: Failure) -> Answer:
    """Return the line at which the chain from the parameters to the result ended."""
    history = History(failure)
    roots = roots_in(history)
    index = int(failure.match["index"])
    root = roots[index] if index < len(roots) else (roots[0] if len(roots) == 1 else None)
    cuts = Search(history).from_line(root) if root is not None else []
    path = path_text(root)
    return words.answer(
        failure,
        _("{line} starts at {tensor}, from which no graph leads back to a tensor that requires grad.").format(
            line=words.spot(failure.place), tensor=words.called(root)
        ),
        of_the_first(cuts, SAID),
        words.doubt([cut.site for cut in cuts[1:]]) if cuts and not (len(cuts) == 1 and cuts[0].sure) else "",
        sites=tuple(cut.site for cut in cuts),
        certain=len(cuts) == 1 and cuts[0].sure,
        name=(cuts[0].name if cuts else None) or path,
        fix=of_the_first(cuts, CURES) or None,
    )


def of_the_first(cuts: list[Cut], table: dict[str, str]) -> str:
    """Return the sentence of a table about the likeliest place; empty where there is none."""
    return _(table[cuts[0].how]).format(line=words.spot(cuts[0].site), code=words.code(cuts[0].code)) if cuts else ""


ENDED: tuple[Kind, ...] = (
    Kind(
        "loss-without-graph",
        r"element (?P<index>\d+) of (?:tensors|variables) does not require grad and does not have a grad_fn",
        explain_no_graph,
        N_("Backward follows the recorded history of a result, and autograd recorded none here."),
    ),
    about(
        "input-without-gradient",
        r"One of the differentiated (?:Tensors|Variables) does not require grad",
        untracked,
        N_("{line} asks for the gradient with respect to {tensor}, which does not require grad."),
        N_("Autograd records only operations on tensors that require grad."),
        N_("Set `requires_grad=True` where `{name}` is made, before anything is computed from it."),
        made_it=True,
    ),
)
