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
and that memory was written since the second one was taken: a round trip (``a.cpu()``, ``torch.from_numpy(a.numpy())``)
that is compared right away compares what it should. Nor is it a mistake to ask whether a parameter that was given to a
second module by a statement is still in both. Writing ``master`` and then ``p.copy_(master)`` is no mistake either,
should they be one memory: `p` was to get the new values.

So is what one expression gives of both, where it is one number of one memory in one state: ``raw.norm() / now.norm()``
is 1 whatever was clipped. Silent there for a line that holds other pairs against each other as well, as one does that
goes through all of them.

Found as well where nothing was written: ``current = saved[:n]`` takes all of `saved`, neither has a history, and each
time that it ran the line that takes their difference gave a loss a term that is zero whatever happens.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from operator import attrgetter

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of, without_leading_ones
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.deep_copy import second_name_copied, snapshot_taken
from inplace_magic.hazards.references.second_sides import (
    given_since,
    operands_of,
    second_taken,
    where_named,
    wrote_while_making,
)
from inplace_magic.hazards.references.twice.measured_alike import Measured, measured_alike
from inplace_magic.hazards.references.twice.zero_differences import ZeroDifference, zero_differences
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _, sentences
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.paths import is_gradient
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import level

CODE = "same-memory-compared"

_AT = attrgetter("at")


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place that made a snapshot follow."""
    seen = set()
    found = list(_comparisons(story))
    first: dict[Callsite | None, int] = {}
    since: set[Callsite | None] = set()
    for call, write, _taken in found:
        if write.at > first.setdefault(call.callsite, call.index):
            since.add(call.callsite)
    for call, write, taken in found:
        early = taken is None and call.callsite in since and write.at < first[call.callsite]
        if write.site in seen or early:  # of a loop's passes, those tell more that a write between two of them explains
            continue
        seen.add(write.site)
        yield _hazard(story, call, call.inputs[0], write, taken)
    for measured in measured_alike(story):
        taken = second_taken(story, measured.beside)
        last = _write_between(story, measured.beside, taken)
        if last is not None and last.site not in seen and not _within_one_statement(measured.beside, last):
            seen.add(last.site)
            yield _hazard(story, measured.beside, measured.beside.inputs[0], last, taken, measured)
    for zero in zero_differences(story):
        if zero.call.callsite not in first:
            yield _zero(zero)


def _comparisons(story: Story) -> Iterator[tuple[CallEvent, Write, int | None]]:
    """The calls that got one memory twice, the write that was in both, and when the second side was taken."""
    told_apart, tied = _told_apart(story), {entry.tensor for entry in story.trace.registrations if entry.replaced}
    for call in story.trace.calls:
        if call.error is not None or len(call.inputs) < 2 or not (call.does("compares") or call.does("shifts")):
            continue
        if told_apart and any((call.callsite, side.tensor) in told_apart for side in call.inputs[:2]):
            continue  # "are all equal to the first?" asks it of the first, too
        one, other = call.inputs[:2]
        if one.tensor == other.tensor and one.tensor in tied and all(out.dtype == "bool" for out in call.outputs):
            continue  # "are the two still tied?"
        if not _same_elements(one, other):
            continue  # as nearly always
        compares, scaling = call.does("compares"), _scaled_before(story, call)
        if not (compares or scaling) or not _two_ways(story, call, one, other):
            continue
        taken = second_taken(story, call)
        write = scaling or _write_between(story, call, taken)
        if write is not None and not _within_one_statement(call, write):
            yield call, write, taken


def _told_apart(story: Story) -> set[tuple[Callsite | None, int]]:
    """(line, tensor) where a question with a yes or no for its answer, as ``torch.equal`` is, held a tensor against
    another memory."""
    found: set[tuple[Callsite | None, int]] = set()
    for call in story.doing("compares"):
        asks = len(call.inputs) > 1 and all(out.dtype == "bool" for out in call.outputs)
        if asks and call.inputs[0].storage != call.inputs[1].storage:
            found.update((call.callsite, side.tensor) for side in call.inputs[:2])
    return found


def _scaled_before(story: Story, call: CallEvent) -> Write | None:
    """The first half of ``average.mul_(0.9).add_(p, alpha=0.1)``, for the second one."""
    if not call.does("shifts") or call.callsite is None:
        return None
    node = expressions.parse(call.callsite.expression)
    chained = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if not isinstance(chained, ast.Call):
        return None
    before = story.calls.get(call.index - 1)
    while before is not None and before.callsite is not None and before.callsite.same_statement(call.callsite):
        scales = before.does("scales") and bool(before.mutations)
        if scales and (inner := expressions.parse(before.callsite.expression)) is not None:
            same = ast.dump(inner) == ast.dump(chained)
            return Write(None, None, before.index, before, before.mutations[0], before.callsite) if same else None
        before = story.calls.get(before.index - 1)
    return None


def _line(call: CallEvent) -> tuple[str, str] | None:
    return (call.callsite.place, call.callsite.statement) if call.callsite is not None else None


def _maker(story: Story, call: CallEvent, taken: int | None) -> CallEvent | None:
    """The call, in an earlier statement, that took one side as a view of the other; None where none did."""
    maker = story.calls.get(taken) if taken is not None else None
    memories = {meta.storage for meta in call.inputs[:2]}
    if maker is None or maker.kind != "view" or all(meta.storage not in memories for meta in maker.inputs):
        return None
    return maker if maker.callsite is not None and _line(maker) != _line(call) else None


def _write_between(story: Story, call: CallEvent, taken: int | None) -> Write | None:
    """The first write since the second side was taken; where that time is not known, the last one that was seen."""
    one, other = call.inputs[:2]
    writes = story.writes_to_memory(one.storage)
    last = bisect_left(writes, call.index, key=_AT) - 1
    if taken is not None:
        first = bisect_right(writes, taken, key=_AT)
        between = (write for write in writes[first : last + 1] if not _left_alone(write, one))
        return next((write for write in between if not _by_the_source(story, call, write)), None)
    news = [place for place in range(last, -1, -1) if not _left_alone(writes[place], one)]
    if one.tensor == other.tensor:
        news = [place for place in news if not wrote_while_making(story, call, writes[place])]
    last = news[0] if news else -1
    seen = (place for place in news if writes[place].site is not None)
    place = next(seen, last)
    if place < 0 or _by_the_source(story, call, writes[place]):
        return None
    return None if one.tensor == other.tensor and given_since(story, call, writes[place]) else writes[place]


def _within_one_statement(call: CallEvent, write: Write) -> bool:
    """Whether torch's own code, called by one statement, wrote the memory and compared it: nobody kept old values."""
    site = call.callsite
    return site is not None and not site.direct and site == write.site


def _left_alone(write: Write, compared: TensorMetadata) -> bool:
    """True if the compared elements kept their values: others were written, or they were copied onto themselves, as by
    a network that loads its own state."""
    if write.call is None or write.mutation is None:
        return False
    copied = write.call.does("copies in") and len(write.call.inputs) > 1 and _same_elements(*write.call.inputs[:2])
    before = write.mutation.values_before
    same = copied or (before is not None and before == write.mutation.values_after)
    return same or not may_meet(reach_of_write(write.call, write.mutation), region_of(compared))


def _by_the_source(story: Story, call: CallEvent, write: Write) -> bool:
    """Of ``p.copy_(master)``, whether `master` had been written by its own name: `p` gets the new values then, with a
    copy as well as with an alias."""
    if not call.does("copies in") or write.call is None or write.mutation is None:
        return False
    one, other = call.inputs[:2]
    if one.tensor != other.tensor:
        return write.mutation.tensor == other.tensor
    names = operands_of(call)
    at = level(write.site, call.callsite) if call.callsite is not None else None
    if len(names) != 2 or at is None or at != write.site:
        return False
    written = story.bindings.written_path(write.call, write.mutation.tensor)
    return written is not None and written == names[1] != names[0]


def _same_elements(one: TensorMetadata, other: TensorMetadata) -> bool:
    """Whether each element of the one meets itself in the other; leading dimensions of one entry move none."""
    if one.storage is None or one.storage != other.storage:
        return False
    region, beside = region_of(one), region_of(other)
    if region is None or beside is None or region == beside:
        return region is not None and region == beside
    return without_leading_ones(region) == without_leading_ones(beside)


def _two_ways(story: Story, call: CallEvent, one: TensorMetadata, other: TensorMetadata) -> bool:
    """Whether the operands were meant as two things: two tensors (but not two views just taken of one name), or two
    names; not a tensor and its own conversion (``a.cpu()``), nor what somebody asks for as the base of a view."""
    if call.does("copies in"):
        return True
    site = call.callsite
    if site is None or "._base" in site.expression:
        return False
    names = operands_of(call, story.bindings.view_texts)
    if not site.direct and one.tensor == other.tensor and all(out.dtype == "bool" for out in call.outputs):
        # a library also asks so whether a value is a number: `value == value`
        return len(set(names)) > 1 and all(_stands_for(story, call, name) == one.tensor for name in names)
    return len(names) == 2 and names[0] != names[1]


def _stands_for(story: Story, call: CallEvent, name: str | None) -> int | None:
    """The tensor behind an argument of a line, as far as it is known."""
    site = call.callsite
    return None if site is None or name is None else story.bindings.stood_for(site, name, call.index)


def _hazard(
    story: Story,
    call: CallEvent,
    read: TensorMetadata,
    write: Write,
    taken: int | None,
    measured: Measured | None = None,
) -> Hazard:
    site, mutation, writer = write.site, write.mutation, write.call
    gradient = (name for name in story.names.get(read.tensor, ()) if writer is None and is_gradient(name))
    variable = story.name_written_by(write) or next(gradient, None) or story.bindings.name(read.tensor)
    maker = _maker(story, call, taken)
    return finding(
        CODE,
        "warning",
        message=sentences(
            _what(call, variable) if measured is None else _what_was_measured(measured),
            _followed(site, known=taken is not None, maker=maker),
        ),
        fix=_(
            "Take a copy where the old values are kept: `.detach().clone()`, or `copy.deepcopy(model.state_dict())`."
        ),
        variable=variable,
        read=call if measured is None else measured.call,
        tensor=mutation.tensor if mutation is not None else read.tensor,
        write=write,
        origin=maker.callsite if maker is not None else where_named(story, call),
        badges=Badges(origin=_("kept here")),
    )


def _zero(zero: ZeroDifference) -> Hazard:
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} takes the difference of a tensor and itself: {view} made `{one}` a view of all of `{other}`, so "
            "this term of the loss in {loss} is zero whatever the weights are. PyTorch gives no error."
        ).format(
            line=wording.spot(zero.call.callsite),
            view=wording.spot(zero.view.callsite),
            one=zero.one,
            other=zero.other,
            loss=wording.line_of(zero.loss.callsite),
        ),
        fix=_("Take `{one}` from what was to be held against `{other}`.").format(one=zero.one, other=zero.other),
        variable=zero.one,
        tensor=zero.view.outputs[0].tensor,
        read=zero.call,
        write=zero.view,
        badges=Badges(wrote=_("takes a view of all of it here"), read=_("is zero each time")),
    )


def _what(call: CallEvent, variable: str | None) -> str:
    if call.does("copies in"):
        named = _("{line} copies a tensor onto itself: both sides are the memory of {tensor}.")
        nameless = _("{line} copies a tensor onto itself.")
    elif call.does("shifts"):
        named = _("{line} averages a tensor with itself: both sides are the memory of {tensor}.")
        nameless = _("{line} averages a tensor with itself.")
    else:
        named = _("{line} compares a tensor with itself: both sides are the memory of {tensor}.")
        nameless = _("{line} compares a tensor with itself.")
    line = wording.spot(call.callsite)
    return nameless.format(line=line) if variable is None else named.format(line=line, tensor=f"`{variable}`")


def _what_was_measured(measured: Measured) -> str:
    return _("{line} compares {one} with {other}: both measure one memory.").format(
        line=wording.spot(measured.call.callsite), one=wording.code(measured.one), other=wording.code(measured.other)
    )


def _followed(site: Callsite | None, *, known: bool, maker: CallEvent | None) -> str:
    if maker is not None:
        return _(
            "The side that was meant as the old values was taken by {alias}: an alias, not a copy, which has followed "
            "every write since then, the first by {write}."
        ).format(alias=wording.spot(maker.callsite), write=wording.spot(site))
    if known:
        return _(
            "The side that was meant as the old values is an alias, not a copy, and has followed every write since "
            "it was taken, the first by {write}."
        ).format(write=wording.spot(site))
    return _("One is an alias of the other, not a copy: whatever is written to one, as by {write}, is in both.").format(
        write=wording.spot(site)
    )


RULE = Rule(check, {CODE: Cures((snapshot_taken, second_name_copied))})
