"""Writes that PyTorch refused: of a leaf, of a view that autograd cannot follow, of elements that lie on each other.

A kind of refusal is a row of :data:`KINDS`, by the kind that the record gives the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from inplace_magic.analysis.overlap import repeating, repeats_elements
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.clone import of_what_is_read, where_it_was_made
from inplace_magic.hazards.fixes.inplace_false import advice, flag_turned_off
from inplace_magic.hazards.fixes.new_tensor import bound_anew, value_given
from inplace_magic.hazards.fixes.refused import base_name, for_a_leaf, is_computed, is_seen_through_its_base, is_update
from inplace_magic.hazards.fixes.reorder import taken_after_the_write
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import N_, _, sentences
from inplace_magic.record.events import CallEvent
from inplace_magic.record.refusal import WHY, Refusal, RefusalKind

LEAF = "leaf-written"
EXPANDED = "expanded-write-refused"
READ = "overlapping-write-refused"
MULTI_OUTPUT = "multi-output-view-written"
BASE = "base-of-multi-output-view-written"
DETACHED = "view-detached-in-place"
INFERENCE = "inference-tensor-written"
NO_GRAD = "no-grad-view-written"
CUSTOM = "custom-function-view-written"


def _not_written(write: Written) -> Fix | None:
    """A new tensor in the place of a view, where nobody is to see the write in the tensor behind it."""
    return None if is_seen_through_its_base(write) else value_given(write) or bound_anew(write)


@dataclass(frozen=True)
class _Kind(Cures):
    """A kind of write that PyTorch refuses, in words, and how it is cured."""

    code: str
    fix: str
    said: str = N_("{line} writes {tensor} in place, and {tensor} is a view.")
    why: str = ""
    """Where the record has no words for it."""


_UPDATE = N_("Put {line_code} under `with torch.no_grad():`, as an update of the values.")
_COPY = N_(
    "Write into a copy: put `{name} = {name}.clone()` before {line_code}; the gradient then flows through the copy."
)
_UPDATE_OR_COPY = N_(
    "If it is an update of the values, put {line_code} under `with torch.no_grad():`. If it is part of the "
    "computation, write into a copy: `{name}.clone()`."
)
_ANEW = N_(
    "Give a new tensor instead of writing the view: turn {line_code} into its out-of-place form, or use "
    "`{name}.clone()`."
)

KINDS: Mapping[RefusalKind, _Kind] = {
    "leaf written": _Kind(
        LEAF,
        _UPDATE_OR_COPY,
        N_("{line} writes {tensor} in place, and {tensor} is a leaf that requires grad."),
        ways=(for_a_leaf,),
    ),
    "view of a leaf written": _Kind(
        LEAF,
        _UPDATE_OR_COPY,
        N_("{line} writes {tensor} in place, and {tensor} is a view of a leaf that requires grad."),
        WHY["leaf written"],
        ways=(for_a_leaf,),
    ),
    "one of several views written": _Kind(
        MULTI_OUTPUT,
        N_(
            "If `{base}` is to see the write, take the view by an index or a slice, `{base}[…]`: a view that is taken "
            "alone may be written. If not, turn {line_code} into its out-of-place form and use the result."
        ),
        why=N_(
            "{maker} gives several views of one tensor at once; PyTorch cannot rewrite the history of one of them "
            "without the others, so it refused."
        ),
        ways=(flag_turned_off, _not_written),
        advice=(advice,),
    ),
    "base of several views written": _Kind(
        BASE,
        N_("Write before the views are taken, or into a copy: `{name} = {name}.clone()` before {line_code}."),
        N_("{line} wrote {tensor}, and {use} then used a view of it."),
        N_(
            "{maker} gives several views of one tensor at once; after a write to their base PyTorch no longer knows "
            "the history of each view, and refused when one was used."
        ),
        ways=(taken_after_the_write,),
    ),
    "view detached in place": _Kind(
        DETACHED,
        N_("Bind a detached tensor instead: `{name} = {name}.detach()`."),
        N_("{line} detaches {tensor} in place, and {tensor} is a view."),
        ways=(bound_anew,),
    ),
    "inference tensor written": _Kind(
        INFERENCE,
        N_(
            "Write it under `inference_mode` as well, or write into a copy: `{name} = {name}.clone()` before "
            "{line_code}."
        ),
        N_("{line} writes {tensor} in place."),
        ways=(flag_turned_off, value_given, bound_anew),
        advice=(advice,),
    ),
    "view made without recording written": _Kind(
        NO_GRAD,
        N_(
            "Take the view with recording on, outside `no_grad`; or, if no gradient is wanted, put {line_code} under "
            "`torch.no_grad()` and detach the written tensor."
        ),
        ways=(flag_turned_off, _not_written),
        advice=(advice,),
    ),
    "view of a custom function written": _Kind(
        CUSTOM, _ANEW, ways=(flag_turned_off, value_given, bound_anew), advice=(advice,)
    ),
    "expanded tensor written": _Kind(
        EXPANDED,
        N_("Give it memory of its own first: `.clone()` what {origin_code} gives."),
        N_("{line} writes {tensor}, in which one element of memory stands for several positions."),
        N_("A write to one of them changes the others, so PyTorch refused."),
        ways=(where_it_was_made,),
    ),
    "memory read and written": _Kind(
        READ,
        N_("Read from a copy: append `.clone()` to what {line_code} reads."),
        N_("{line} writes {tensor} while it reads other elements of the same memory."),
        N_("An element could hold its new value before it is read, so PyTorch refused."),
        ways=(of_what_is_read,),
    ),
}


def _check(codes: frozenset[str], story: Story) -> Iterator[Hazard]:
    """Yield a finding for each such write, or use of a view after it, that PyTorch refused."""
    for call, refusal in story.refusals():
        kind = KINDS.get(refusal.kind)
        if kind is None or kind.code not in codes or call is None or not call.inputs:
            continue
        written = _written(story, kind.code, call)
        if written is not None:
            yield _hazard(story, kind, call, refusal, *written)


def _written(story: Story, code: str, call: CallEvent) -> tuple[CallEvent, int] | None:
    """Return the call that wrote, or was to write, and what: of an expanded tensor the one that repeats elements, which
    may be given as ``out=``; of the base of several views the last write before the refused use of a view."""
    if code == EXPANDED:
        return next(((call, given.tensor) for given in call.inputs if repeats_elements(given)), None)
    if code != BASE:
        return call, call.inputs[0].tensor
    storages = {meta.storage for meta in call.inputs}
    writes = (write for storage in storages for write in story.writes_between(storage, -1, call.index))
    counted = (write for write in writes if not write.is_uncounted)
    found = [(write.call, write.mutation.tensor) for write in counted if write.call and write.mutation]
    return max(found, key=lambda write: write[0].index, default=None)


def _hazard(story: Story, kind: _Kind, call: CallEvent, refusal: Refusal, writer: CallEvent, tensor: int) -> Hazard:
    variable = story.bindings.written_name(writer, tensor)
    made = _maker(story, kind.code, call, tensor)
    site, origin, base = writer.callsite, made.callsite if made is not None else None, base_name(story, made)
    words = {
        "line": wording.spot(site),
        "line_code": wording.line_of(site),
        "tensor": f"`{variable}`" if variable else _("a tensor"),
        "name": variable or "x",
        "use": wording.spot(call.callsite),
        "origin_code": wording.line_of(origin),
        "maker": _named(refusal, made),
        "base": base,
    }
    apart = origin is not None and site is not None and origin.place != site.place
    itself = refusal.kind == "view of a leaf written" and call.inputs[0].is_trainable  # written by an index
    came = N_("It came from {line}.") if kind.code in (LEAF, INFERENCE, EXPANDED) else N_("The view came from {line}.")
    return Hazard(
        code=kind.code,
        severity="error",
        message=sentences(
            _(KINDS["leaf written"].said if itself else kind.said).format(**words),
            _(came).format(line=wording.spot(origin)) if apart else "",
            _(kind.why or WHY[refusal.kind]).format(**words),
        ),
        fix=_(_fix(kind, call, made, base)).format(**words),
        variable=variable,
        mutation=site,
        origin=origin,
        tensor=tensor,
        call=writer.index,
        raised=True,
    )


def _maker(story: Story, code: str, call: CallEvent, tensor: int) -> CallEvent | None:
    """Return the call that made what was refused as it is: a view, a leaf, an expanded tensor."""
    if code in (READ, EXPANDED):
        return repeating(story, tensor, call.index) if code == EXPANDED else None
    several = _gave_several(story, call) if code in (BASE, MULTI_OUTPUT) else None
    return several or story.innermost_new(call.inputs[0].tensor, call.index)


def _gave_several(story: Story, refused: CallEvent) -> CallEvent | None:
    """Return the call that gave several views at once: a slice of a chunk is refused because of the ``chunk``, though
    PyTorch's message names the slice."""
    views = (view for meta in refused.inputs for view in story.views_back(meta.tensor, refused.index))
    return next((view for view in views if len(view.outputs) > 1), None)


def _named(refusal: Refusal, made: CallEvent | None) -> str:
    """Return what a reader knows the maker of a view by: a mode, a function, a node."""
    if refusal.mode is not None:
        return _("{mode} mode").format(mode=refusal.mode)
    if made is not None and (refusal.node is None or len(made.outputs) > 1):
        return f"`{made.name.rpartition('.')[2]}`"
    return refusal.node or _("unknown")


def _fix(kind: _Kind, call: CallEvent, made: CallEvent | None, base: str | None) -> str:
    if kind.code == LEAF and is_update(call):
        return _UPDATE
    if kind.code == LEAF and is_computed(made):
        return _COPY
    return _ANEW if kind.code == MULTI_OUTPUT and base is None else kind.fix


def _rule(name: str, *codes: str) -> Rule:
    """Return the rule of the kinds that one page explains."""
    kinds = {kind.code: kind for kind in KINDS.values() if kind.code in codes}
    return Rule(name, "error", partial(_check, frozenset(codes)), kinds)


RULES = (
    _rule(LEAF, LEAF),
    _rule("view-written", MULTI_OUTPUT, BASE, DETACHED, INFERENCE, NO_GRAD, CUSTOM),
    _rule("overlap-refused", EXPANDED, READ),
)
