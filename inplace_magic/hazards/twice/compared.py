"""A tensor is compared with, averaged with, or copied onto itself, since what was kept of it is an alias."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write, write_by
from inplace_magic.analysis.ledger import owners_of
from inplace_magic.analysis.overlap import copies_onto_itself, may_meet, region_of, same_elements
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.fixes.new_tensor import slot_bound_anew
from inplace_magic.hazards.fixes.of_origin import (
    copied_where_taken,
    snapshot_taken,
    state_copied_where_taken,
)
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.origins import scaled_before
from inplace_magic.hazards.rule import Calls, Event, Found, Row, rules_of
from inplace_magic.hazards.twice.second_sides import operands_of, second_taken, where_named, wrote_while_making
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.paths import is_gradient
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import level

_Compared = tuple[CallEvent, Write, int | None]
"""A call that got one memory twice, a write that was in both, and the index of the call that took the second side; None
where that is not known."""


def compared_with_itself(story: Story) -> Iterator[_Compared]:
    """Yields one for each such comparison, running mean and copy."""
    told_apart, tied = _told_apart(story), {entry.tensor for entry in story.trace.registrations if entry.replaced}
    for call in story.doing("compares", "shifts"):
        if call.error is not None or len(call.inputs) < 2:
            continue
        if told_apart and any((call.callsite, side.tensor) in told_apart for side in call.inputs[:2]):
            continue  # "are all equal to the first?" asks it of the first, too
        one, other = call.inputs[:2]
        if one.tensor == other.tensor and one.tensor in tied and all(out.dtype == "bool" for out in call.outputs):
            continue  # "are the two still tied?"
        if not same_elements(one, other):
            continue  # as nearly always
        compares, before = call.does("compares"), scaled_before(story, call)
        if not (compares or before) or not _two_ways(story, call, one, other):
            continue
        taken = second_taken(story, call)
        scaling = write_by(before, before.mutations[0]) if before else None
        write = scaling or _write_between(story, call, taken)
        if write is not None:
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


def _write_between(story: Story, call: CallEvent, taken: int | None) -> Write | None:
    """The first write since the second side was taken; where that time is not known, the last one that was seen."""
    one, other = call.inputs[:2]
    if taken is not None:
        between = (w for w in story.writes_between(one.storage, taken, call.index) if not _left_alone(w, one))
        return next((write for write in between if not _by_the_source(story, call, write)), None)
    news = [write for write in story.writes_between(one.storage, -1, call.index) if not _left_alone(write, one)][::-1]
    if one.tensor == other.tensor:
        news = [write for write in news if not wrote_while_making(story, call, write)]
    write = next((write for write in news if write.site is not None), news[0] if news else None)
    return write if write is not None and not _by_the_source(story, call, write) else None


def _left_alone(write: Write, compared: TensorMetadata) -> bool:
    """True if the compared elements kept their values: others were written, or they were copied onto themselves, as by
    a network that loads its own state."""
    if write.call is None or write.mutation is None:
        return False
    same = copies_onto_itself(write.call) or write.mutation.changed_nothing
    return same or not may_meet(write.reach, region_of(compared))


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
    if len(names) != 2 or at is None:
        return False
    written = story.bindings.written_path(write.call, write.mutation.tensor)
    if at != write.site:  # a function wrote what it was handed, as in `u = normalize(x, out=u)`
        handed = owners_of(story, write.call, write.mutation)
        written = next((owned.path for owned in handed if owned.site == at), None)
    return written is not None and written == names[1] != names[0]


def _two_ways(story: Story, call: CallEvent, one: TensorMetadata, other: TensorMetadata) -> bool:
    """True if the operands were meant as two things: two tensors (but not two views just taken of one name), or two
    names; not a tensor and its own conversion (``a.cpu()``), nor what somebody asks for as the base of a view."""
    if call.does("copies in"):
        return True
    site = call.callsite
    if site is None or "._base" in site.expression:
        return False
    names = operands_of(call, story.bindings.view_texts)
    if not site.direct and one.tensor == other.tensor and all(out.dtype == "bool" for out in call.outputs):
        # a library also asks so whether a value is a number: `value == value`
        held = (story.bindings.stood_for(site, name, call.index) for name in names if name is not None)
        return len(set(names)) > 1 and None not in names and all(tensor == one.tensor for tensor in held)
    return len(names) == 2 and names[0] != names[1]


def same_memory_compared(story: Story) -> Iterator[Found]:
    """Yield one for each writing place that made a snapshot follow."""
    seen: set[Callsite | None] = set()
    told: set[tuple[Callsite | None, Callsite | None] | None] = set()
    found = list(compared_with_itself(story))
    first = {call.callsite: call.index for call, _write, _taken in reversed(found)}
    since = {call.callsite for call, write, _taken in found if write.at > first[call.callsite]}
    for call, write, taken in found:
        early = taken is None and call.callsite in since and write.at < first[call.callsite]
        if write.site in seen or early:  # of a loop's passes, those tell more that a write between two of them explains
            continue
        seen.add(write.site)
        maker = _maker(story, call, taken)
        kept = (maker.callsite, call.callsite) if maker is not None else None
        if kept is not None and kept in told:
            continue  # one statement kept them all, and another one reads them, whoever wrote which
        told.add(kept)
        yield _found(story, call, write, taken, maker)


def _maker(story: Story, call: CallEvent, taken: int | None) -> CallEvent | None:
    """Return the call, in an earlier statement, that took one side as a view of the other; None where none did."""
    maker = story.calls.get(taken) if taken is not None else None
    memories = {meta.storage for meta in call.inputs[:2]}
    if maker is None or maker.kind != "view" or all(meta.storage not in memories for meta in maker.inputs):
        return None
    return maker if maker.callsite is not None and not maker.callsite.same_line(call.callsite) else None


def _found(story: Story, call: CallEvent, write: Write, taken: int | None, maker: CallEvent | None) -> Found:
    read = call.inputs[0]
    gradient = (name for name in story.names.get(read.tensor, ()) if write.call is None and is_gradient(name))
    variable = story.name_written_by(write) or next(gradient, None) or story.bindings.name(read.tensor)
    named, nameless = _COPIED if call.does("copies in") else _AVERAGED if call.does("shifts") else _COMPARED
    origin = maker.callsite if maker is not None else where_named(story, call)
    followed = _TAKEN_BY_AN_ALIAS if maker is not None else _AN_ALIAS if taken is not None else _ONE_OF_TWO
    spots = {"line": wording.spot(call.callsite), "write": wording.spot(write.site), "alias": wording.spot(origin)}
    words = {
        "what": _(nameless if variable is None else named).format(**spots, tensor=f"`{variable}`"),
        "followed": _(followed).format(**spots),
    }
    tensor = write.mutation.tensor if write.mutation is not None else read.tensor
    calls: dict[str, Event | None] = {"write": write, "line": call, "kept": origin}
    return Found(calls, tensor, variable, words)


_COPIED = (
    N_("{line} copies a tensor onto itself: both sides are the memory of {tensor}."),
    N_("{line} copies a tensor onto itself."),
)
_AVERAGED = (
    N_("{line} averages a tensor with itself: both sides are the memory of {tensor}."),
    N_("{line} averages a tensor with itself."),
)
_COMPARED = (
    N_("{line} compares a tensor with itself: both sides are the memory of {tensor}."),
    N_("{line} compares a tensor with itself."),
)
_TAKEN_BY_AN_ALIAS = N_(
    "{alias} took the old values by an alias, not a copy, so they show every write since then, the first by {write}."
)
_AN_ALIAS = N_("The old values are an alias, not a copy, so they show every write since then, the first by {write}.")
_ONE_OF_TWO = N_("One is an alias of the other, not a copy: a write to one, such as {write}, shows in both.")


def _copied_where_kept(write: Written) -> Fix | None:
    """``state["previous"] = grad.clone()``: a copy of what belongs to no graph."""
    return copied_where_taken(write) if write.meta is not None and not write.meta.requires_grad else None


RULES = rules_of(
    Row(
        "same-memory-compared",
        "warning",
        same_memory_compared,
        Calls(write="write", read="line", origin="kept"),
        message=N_("{what} {followed}"),
        fix=N_(
            "Take a copy where the old values are kept: `.detach().clone()`, or `copy.deepcopy(model.state_dict())`."
        ),
        ways=(
            snapshot_taken,
            state_copied_where_taken,
            slot_bound_anew,
            _copied_where_kept,
        ),
        badges=Badges(origin=N_("kept here")),
    ),
)
