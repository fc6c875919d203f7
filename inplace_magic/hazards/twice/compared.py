"""A tensor is compared with, averaged with, or copied onto itself, since what was kept of it is an alias."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.new_tensor import slot_bound_anew
from inplace_magic.hazards.fixes.of_origin import (
    second_name_copied,
    snapshot_taken,
    state_copied_where_taken,
)
from inplace_magic.hazards.references.second_sides import where_named
from inplace_magic.hazards.rule import row
from inplace_magic.hazards.twice.same_sides import compared_with_itself
from inplace_magic.language import _, sentences
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.paths import is_gradient
from inplace_magic.record.places import Callsite


def same_memory_compared(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place that made a snapshot follow."""
    seen: set[Callsite | None] = set()
    told: set[tuple[Callsite | None, Callsite | None] | None] = set()
    found = list(compared_with_itself(story))
    first: dict[Callsite | None, int] = {}
    since: set[Callsite | None] = set()
    for each in found:
        if each.write.at > first.setdefault(each.call.callsite, each.call.index):
            since.add(each.call.callsite)
    for each in found:
        call, write = each.call, each.write
        early = each.taken is None and call.callsite in since and write.at < first[call.callsite]
        if write.site in seen or early:  # of a loop's passes, those tell more that a write between two of them explains
            continue
        seen.add(write.site)
        maker = _maker(story, call, each.taken)
        kept = (maker.callsite, call.callsite) if maker is not None else None
        if kept is not None and kept in told:
            continue  # one statement kept them all, and another one reads them, whoever wrote which
        told.add(kept)
        yield _hazard(story, call, call.inputs[0], write, each.taken)


def _line(call: CallEvent) -> tuple[str, str] | None:
    return (call.callsite.place, call.callsite.statement) if call.callsite is not None else None


def _maker(story: Story, call: CallEvent, taken: int | None) -> CallEvent | None:
    """The call, in an earlier statement, that took one side as a view of the other; None where none did."""
    maker = story.calls.get(taken) if taken is not None else None
    memories = {meta.storage for meta in call.inputs[:2]}
    if maker is None or maker.kind != "view" or all(meta.storage not in memories for meta in maker.inputs):
        return None
    return maker if maker.callsite is not None and _line(maker) != _line(call) else None


def _hazard(story: Story, call: CallEvent, read: TensorMetadata, write: Write, taken: int | None) -> Hazard:
    site, mutation, writer = write.site, write.mutation, write.call
    gradient = (name for name in story.names.get(read.tensor, ()) if writer is None and is_gradient(name))
    variable = story.name_written_by(write) or next(gradient, None) or story.bindings.name(read.tensor)
    maker = _maker(story, call, taken)
    return finding(
        "same-memory-compared",
        "warning",
        message=sentences(
            _what(call, variable),
            _followed(site, known=taken is not None, maker=maker),
        ),
        fix=_(
            "Take a copy where the old values are kept: `.detach().clone()`, or `copy.deepcopy(model.state_dict())`."
        ),
        variable=variable,
        read=call,
        tensor=mutation.tensor if mutation is not None else read.tensor,
        write=write,
        origin=maker.callsite if maker is not None else where_named(story, call),
        badges=Badges(origin=_("kept here")),
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


def _followed(site: Callsite | None, *, known: bool, maker: CallEvent | None) -> str:
    if maker is not None:
        return _(
            "{alias} took the old values by an alias, not a copy, so they show every write since then, the "
            "first by {write}."
        ).format(alias=wording.spot(maker.callsite), write=wording.spot(site))
    if known:
        return _(
            "The old values are an alias, not a copy, so they show every write since then, the first by {write}."
        ).format(write=wording.spot(site))
    return _("One is an alias of the other, not a copy: whatever is written to one, as by {write}, is in both.").format(
        write=wording.spot(site)
    )


RULES = (
    row(
        "same-memory-compared",
        "warning",
        same_memory_compared,
        snapshot_taken,
        second_name_copied,
        state_copied_where_taken,
        slot_bound_anew,
    ),
)
