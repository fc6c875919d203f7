"""A leaf that requires grad was written in place while autograd was recording."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.leaf import for_a_leaf, is_computed, is_update
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _, sentences
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

CODE = "leaf-written"


def check(story: Story) -> Iterator[Hazard]:
    """Yields a finding for each such write that PyTorch refused."""
    for call, refusal in story.refusals():
        view = refusal.kind == "view of a leaf written"
        if not (view or refusal.kind == "leaf written") or call is None:
            continue
        tensor = call.inputs[0] if call.inputs else None
        view = view and not (tensor is not None and tensor.is_trainable)  # by an index the leaf itself is written
        variable = story.bindings.written_name(call, tensor.tensor) if tensor is not None else None
        made = _maker(story, call, tensor.tensor) if tensor is not None else None
        origin = made.callsite if made is not None else None
        yield Hazard(
            code=CODE,
            severity="error",
            message=_message(variable, call, origin, view),
            fix=_fix(variable, call, updated=is_update(call), computed=is_computed(made)),
            variable=variable,
            mutation=call.callsite,
            origin=origin,
            tensor=tensor.tensor if tensor is not None else None,
            call=call.index,
            raised=True,
        )


def _maker(story: Story, call: CallEvent, tensor: int) -> CallEvent | None:
    """Return the call that gave a tensor as a new one; ``.to(device)`` that gave back what it got is none."""
    made = story.innermost_new(tensor, call.index)
    return None if made is None or any(given.tensor == tensor for given in made.inputs) else made


def _message(variable: str | None, call: CallEvent, origin: Callsite | None, view: bool) -> str:
    here = origin is not None and call.callsite is not None and origin.place == call.callsite.place
    said = (
        _("{line} writes {tensor} in place, and {tensor} is a view of a leaf that requires grad.")
        if view
        else _("{line} writes {tensor} in place, and {tensor} is a leaf that requires grad.")
    )
    return sentences(
        said.format(line=wording.spot(call.callsite), tensor=f"`{variable}`" if variable else _("The tensor")),
        _("It came from {line}.").format(line=wording.spot(origin)) if origin is not None and not here else "",
        _(
            "Gradients are collected at a leaf; recording the write would turn the leaf into the result of an "
            "operation, with no place for its own gradient, so PyTorch refused."
        ),
    )


def _fix(variable: str | None, call: CallEvent, *, updated: bool, computed: bool) -> str:
    line = wording.line_of(call.callsite)
    name = variable or _("it")
    if updated:
        return _("Put {line} under `with torch.no_grad():`, as an update of the values.").format(line=line)
    if computed:
        return _(
            "Write into a copy: put `{name} = {name}.clone()` before {line}; the gradient then flows through the copy."
        ).format(name=name, line=line)
    return _(
        "If it is an update of the values, put {line} under `with torch.no_grad():`. If it is part of the computation, "
        "write into a copy: `{name}.clone()`."
    ).format(name=name, line=line)


RULE = Rule(check, {CODE: Cures((for_a_leaf,))})
