"""A tensor was compared with, averaged with, or copied onto itself: what looks like a snapshot is an alias.

``best = model.state_dict()``, ``before = [p.detach() for p in …]`` and ``kept = p.grad`` copy nothing. After the next
step the "old" values are the new ones: the difference is zero, and loading the best state restores nothing
(https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html: "you must serialize best_model_state or use
best_model_state = deepcopy(model.state_dict())").

Bad::

    best = model.state_dict()
    optimizer.step()
    model.load_state_dict(best)     # copies each parameter onto itself

Good::

    best = copy.deepcopy(model.state_dict())

Found where both operands of a comparison, difference, copy or running mean (``average.mul_(0.9).add_(p, alpha=0.1)``,
which then shrinks the live weights) are the same elements of the same memory, reached by two tensors or by two names,
and that memory was written since the older one was taken.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from operator import attrgetter

from inplace_magic.analysis import expressions
from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.language import _, sentences
from inplace_magic.trace import CallEvent, Callsite, TensorMetadata

CODE = "same-memory-compared"

_AT = attrgetter("at")

_COMPARING = frozenset(
    (
        *(
            "sub",
            "__rsub__",
            "sub_",
            "div",
            "__rdiv__",
            "eq",
            "ne",
            "lt",
            "gt",
            "le",
            "ge",
            "isclose",
            "allclose",
            "equal",
        ),
        *("mse_loss", "l1_loss", "smooth_l1_loss", "kl_div", "cosine_similarity", "pairwise_distance", "dist", "cdist"),
        "copy_",
    )
)


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place that made a snapshot follow."""
    seen = set()
    for call in story.trace.calls:
        if call.error is not None or len(call.inputs) < 2:
            continue
        compares, scaling = call.name.rsplit(".", 1)[-1] in _COMPARING, _scaled_before(story, call)
        one, other = call.inputs[:2]
        if not (compares or scaling) or not _same_elements(one, other) or not _two_ways(story, call, one, other):
            continue
        taken = _taken(story, call, one, other)
        write = scaling or _write_between(story, call, one, other, taken)
        if write is None:
            continue
        if write.site in seen:
            continue
        seen.add(write.site)
        yield _hazard(story, call, one, write, taken)


def _scaled_before(story: Story, call: CallEvent) -> Write | None:
    """The first half of ``average.mul_(0.9).add_(p, alpha=0.1)``, for the second one."""
    node = expressions.parse(call.callsite.expression) if call.callsite is not None else None
    chained = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if not call.name.endswith(".add_") or not isinstance(chained, ast.Call):
        return None
    before = story.calls.get(call.index - 1)
    while before is not None and before.callsite is not None and _on_one_line(before.callsite, call.callsite):
        scales = before.name.endswith(".mul_") and bool(before.mutations)
        if scales and (inner := expressions.parse(before.callsite.expression)) is not None:
            same = ast.dump(inner) == ast.dump(chained)
            return Write(None, None, before.index, before, before.mutations[0], before.callsite) if same else None
        before = story.calls.get(before.index - 1)
    return None


def _on_one_line(one: Callsite, other: Callsite | None) -> bool:
    return other is not None and (one.line, one.statement, one.caller) == (other.line, other.statement, other.caller)


def _taken(story: Story, call: CallEvent, one: TensorMetadata, other: TensorMetadata) -> CallEvent | None:
    """The call, in an earlier statement, that took one side as a view of the other; None where none did."""
    for side, base in ((other, one), (one, other)):
        maker = story.innermost_new(side.tensor, call.index)
        if maker is None or maker.kind != "view" or all(meta.tensor != base.tensor for meta in maker.inputs):
            continue
        if maker.callsite is not None and call.callsite is not None and _line(maker) != _line(call):
            return maker
    return None


def _line(call: CallEvent) -> tuple[str, str] | None:
    return (call.callsite.place, call.callsite.statement) if call.callsite is not None else None


def _write_between(
    story: Story, call: CallEvent, one: TensorMetadata, other: TensorMetadata, taken_by: CallEvent | None
) -> Write | None:
    """The first write after one side was taken of the other, or after the older of two tensors was met; where both are
    one tensor, or views just taken of one, it is not known when the second name was given, and the last write that
    was seen counts."""
    if taken_by is not None:
        writes = story.writes_to_memory(one.storage)
        first = bisect_right(writes, taken_by.index, key=_AT)
        return writes[first] if first < bisect_left(writes, call.index, key=_AT) else None
    older = (
        max(story.first_seen(one.tensor), story.first_seen(other.tensor)) == call.index or one.tensor == other.tensor
    )
    taken = (
        story.first_seen_memory(one.storage)
        if older
        else max(min(story.first_seen(one.tensor), story.first_seen(other.tensor)), 0)
    )
    writes = story.writes_to_memory(one.storage)
    first = bisect_right(writes, taken, key=_AT)
    last = bisect_left(writes, call.index, key=_AT) - 1
    if first > last:
        return None
    if not older:
        return writes[first]
    seen = (place for place in range(last, first - 1, -1) if writes[place].site is not None)
    return writes[next(seen, last)]


def _same_elements(one: TensorMetadata, other: TensorMetadata) -> bool:
    region = region_of(one)
    return (
        one.storage is not None and one.storage == other.storage and region is not None and region == region_of(other)
    )


def _two_ways(story: Story, call: CallEvent, one: TensorMetadata, other: TensorMetadata) -> bool:
    """Whether the operands were meant as two things: two tensors (but not two views just taken of one name), or two
    names."""
    site = call.callsite
    if call.name.endswith("copy_"):
        return True
    if site is None:
        return False
    listed = expressions.operands(site.expression, method=call.name.startswith("Tensor."))[:2]
    texts = {expressions.path_text(expressions.without_aliasing(node, story.bindings.view_texts)) for node in listed}
    return len(texts) == 2 and len(listed) == 2


def _hazard(story: Story, call: CallEvent, read: TensorMetadata, write: Write, taken: CallEvent | None) -> Hazard:
    site, mutation, writer = write.site, write.mutation, write.call
    gradient = (name for name in story.names.get(read.tensor, ()) if writer is None and name.endswith(".grad"))
    variable = story.name_written_by(write) or next(gradient, None) or story.bindings.name(read.tensor)
    return Hazard(
        code=CODE,
        severity="warning",
        message=sentences(
            _what(call, variable),
            _followed(taken, site),
        ),
        fix=_(
            "Take a copy where the old values are kept: `.detach().clone()`, or `copy.deepcopy(model.state_dict())`."
        ),
        variable=variable,
        mutation=site,
        read=call.callsite,
        read_call=call.index,
        mutations=(site,) if site is not None else (),
        tensor=mutation.tensor if mutation is not None else read.tensor,
        call=writer.index if writer is not None else None,
    )


def _what(call: CallEvent, variable: str | None) -> str:
    if call.name.endswith("copy_"):
        named = _("{line} copies a tensor onto itself: both sides are the memory of {tensor}.")
        nameless = _("{line} copies a tensor onto itself.")
    elif call.name.endswith(".add_"):
        named = _("{line} averages a tensor with itself: both sides are the memory of {tensor}.")
        nameless = _("{line} averages a tensor with itself.")
    else:
        named = _("{line} compares a tensor with itself: both sides are the memory of {tensor}.")
        nameless = _("{line} compares a tensor with itself.")
    line = wording.spot(call.callsite)
    return nameless.format(line=line) if variable is None else named.format(line=line, tensor=f"`{variable}`")


def _followed(taken: CallEvent | None, site: Callsite | None) -> str:
    if taken is None:
        return _(
            "The side that was meant as the old values is an alias, not a copy, and has followed every write since "
            "it was taken, the first by {write}."
        ).format(write=wording.spot(site))
    return _(
        "The side that was meant as the old values was taken by {alias}: an alias, not a copy, which has followed "
        "every write since then, the first by {write}."
    ).format(alias=wording.spot(taken.callsite), write=wording.spot(site))
