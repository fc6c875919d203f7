"""A view was written that autograd cannot follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.inplace_false import advice, flag_turned_off
from inplace_magic.hazards.fixes.iterated import base_name, is_seen_through_its_base, taken_by_index
from inplace_magic.hazards.fixes.leaf import under_inference_mode
from inplace_magic.hazards.fixes.new_tensor import bound_anew, value_given
from inplace_magic.hazards.fixes.reorder import taken_after_the_write
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import N_, _, sentences
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.record.refusal import Refusal, RefusalKind

MULTI_OUTPUT = "multi-output-view-written"
BASE = "base-of-multi-output-view-written"
DETACHED = "view-detached-in-place"
INFERENCE = "inference-tensor-written"
NO_GRAD = "no-grad-view-written"
CUSTOM = "custom-function-view-written"


@dataclass(frozen=True)
class _Refused:
    """A kind of write that autograd cannot follow, in words."""

    code: str
    why: str
    fix: str
    said: str = N_("{line} writes {tensor} in place, and {tensor} is a view")


_ANEW = N_(
    "Give a new tensor instead of writing the view: turn {line} into its out-of-place form, or use `{name}.clone()`."
)
_KINDS: dict[RefusalKind, _Refused] = {
    "base of several views written": _Refused(
        BASE,
        N_(
            "{maker} gives several views of one tensor at once; after a write to their base PyTorch no longer "
            "knows the history of each view, and refused when one was used."
        ),
        N_("Write before the views are taken, or into a copy: `{name} = {name}.clone()` before {line}."),
        N_("{line} wrote {tensor}, and {use} then used a view of it"),
    ),
    "view detached in place": _Refused(
        DETACHED,
        N_("Detaching a view in place would leave its base with a wrong history, so PyTorch refused."),
        N_("Bind a detached tensor instead: `{name} = {name}.detach()`."),
        N_("{line} detaches {tensor} in place, and {tensor} is a view"),
    ),
    "inference tensor written": _Refused(
        INFERENCE,
        N_(
            "A tensor made under `inference_mode` has no version counter and no place in autograd, so it cannot "
            "be written outside `inference_mode`."
        ),
        N_("Write it under `inference_mode` as well, or write into a copy: `{name} = {name}.clone()` before {line}."),
        N_("{line} writes {tensor} in place"),
    ),
    "one of several views written": _Refused(
        MULTI_OUTPUT,
        N_(
            "{maker} gives several views of one tensor at once; PyTorch cannot rewrite the history of one of them "
            "without the others, so it refused."
        ),
        N_(
            "If `{base}` is to see the write, take the view by an index or a slice, `{base}[…]`: a view that is "
            "taken alone may be written. If not, turn {line} into its out-of-place form and use the result."
        ),
    ),
    "view made without recording written": _Refused(
        NO_GRAD,
        N_(
            "The view was made while recording was off ({maker}), so PyTorch does not know its history and cannot "
            "record a write through it."
        ),
        N_(
            "Take the view with recording on, outside `no_grad`; or, if no gradient is wanted, put {line} under "
            "`torch.no_grad()` and detach the written tensor."
        ),
    ),
    "view of a custom function written": _Refused(
        CUSTOM,
        N_(
            "The view was made inside a custom Function or a hook ({maker}), whose gradient PyTorch could no longer "
            "keep right after a write, so it refused."
        ),
        _ANEW,
    ),
}


def check(story: Story) -> Iterator[Hazard]:
    """Yields a finding for each such write, or use of a view after it, that PyTorch refused."""
    for call, refusal in story.refusals():
        kind = _KINDS.get(refusal.kind)
        if kind is None or call is None or not call.inputs:
            continue
        refused = call.inputs[0].tensor
        writer = call
        if kind.code == BASE:
            found = _base_write(story, call)
            if found is None:
                continue
            writer, refused = found
        variable = story.bindings.written_name(writer, refused)
        several = _gave_several(story, call) if kind.code in (BASE, MULTI_OUTPUT) else None
        made = several or story.innermost_new(call.inputs[0].tensor, call.index)
        origin, base = made.callsite if made is not None else None, base_name(story, made)
        fix = _ANEW if kind.code == MULTI_OUTPUT and base is None else kind.fix
        yield Hazard(
            code=kind.code,
            severity="error",
            message=_message(kind, variable, writer, call, origin, _maker(refusal, several or made)),
            fix=_(fix).format(name=variable or _("the view"), line=wording.line_of(writer.callsite), base=base),
            variable=variable,
            mutation=writer.callsite,
            origin=origin,
            tensor=refused,
            call=writer.index,
            raised=True,
        )


def _gave_several(story: Story, refused: CallEvent) -> CallEvent | None:
    """Return the call that gave several views at once: a slice of a chunk is refused because of the ``chunk``, though
    PyTorch's message names the slice."""
    todo = [meta.tensor for meta in refused.inputs]
    while todo:
        made = story.innermost_new(todo.pop(0), refused.index)
        if made is not None and made.kind == "view":
            if len(made.outputs) > 1:
                return made
            todo += [meta.tensor for meta in made.inputs[:1]]
    return None


def _maker(refusal: Refusal, made: CallEvent | None) -> str:
    if refusal.mode is not None:
        return _("{mode} mode").format(mode=refusal.mode)
    if made is not None and (refusal.node is None or len(made.outputs) > 1):
        return f"`{made.name.rpartition('.')[2]}`"
    return refusal.node or _("unknown")


def _base_write(story: Story, call: CallEvent) -> tuple[CallEvent, int] | None:
    """Return the last write, before the refused call, of the memory behind one of its inputs."""
    storages = {meta.storage for meta in call.inputs if meta.storage is not None}
    writes = [
        (writer, mutation.tensor)
        for storage in storages
        for writer, mutation in story.writes_to_storage.get(storage, ())
        if writer.index < call.index and mutation.version_before != mutation.version_after
    ]
    return max(writes, key=lambda write: write[0].index) if writes else None


def _message(
    kind: _Refused, variable: str | None, writer: CallEvent, call: CallEvent, origin: Callsite | None, maker: str
) -> str:
    said = _(kind.said).format(
        line=wording.spot(writer.callsite),
        tensor=f"`{variable}`" if variable else _("a tensor"),
        use=wording.spot(call.callsite),
    )
    if origin is None:
        whole = _("{said}.")
    else:
        whole = _("{said}, made by {line}.") if kind.code == INFERENCE else _("{said}, taken by {line}.")
    return sentences(whole.format(said=said, line=wording.spot(origin)), _(kind.why).format(maker=maker))


def _not_written(write: Written) -> Fix | None:
    """A new tensor in the place of a view, where nobody is to see the write in the tensor behind it."""
    return None if is_seen_through_its_base(write) else value_given(write) or bound_anew(write)


RULE = Rule(
    check,
    {
        MULTI_OUTPUT: Cures((flag_turned_off, taken_by_index, _not_written), (advice,)),
        BASE: Cures((taken_after_the_write,)),
        DETACHED: Cures((bound_anew,)),
        INFERENCE: Cures((flag_turned_off, under_inference_mode, value_given, bound_anew), (advice,)),
        NO_GRAD: Cures((flag_turned_off, _not_written), (advice,)),
        CUSTOM: Cures((flag_turned_off, value_given, bound_anew), (advice,)),
    },
)
