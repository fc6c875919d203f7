"""What ``detach()`` gave was put into a list, the tensor was written afterwards, and the list was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.of_origin import copied_where_taken, state_copied_where_taken
from inplace_magic.hazards.references.engine import Reference, Stale, gone_stale
from inplace_magic.hazards.references.objects.kept_weights import is_the_best_so_far, kept_weights_moved_on
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.paths import is_entry
from inplace_magic.record.places import Callsite

CODE = "kept-then-written"
_CHOICES = 16
"""Rows that a line kept as the best so far and that are looked at."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    told: set[Callsite | None] = set()
    for references in (_kept(story), _chosen(story), _given_again(story)):
        for stale in gone_stale(story, references, partial(_is_written, story), partial(_first_read, story)):
            if stale.write.site not in told:
                told.add(stale.write.site)
                yield _hazard(story, stale)
    for stale in kept_weights_moved_on(story):
        if stale.write.site not in told:
            yield _hazard(story, stale, weights=True)


def _kept(story: Story) -> Iterator[Reference]:
    for call in story.views:
        site = call.callsite
        if not call.does("may hand back") or not call.outputs or site is None:
            continue
        kept, whole = call.outputs[0], call.inputs[0]
        target = site.targets[0] if site.targets and len(site.targets) == 1 else None
        if target is not None and is_entry(target) and kept.tensor != whole.tensor and not whole.is_trainable:
            yield Reference(kept.tensor, kept.storage, call.index, site, target, region_of(kept))


def _chosen(story: Story) -> Iterator[Reference]:
    """The rows that were kept as the best so far, ``best = rows[i]`` beside ``least = costs[i]`` under ``if costs[i] <
    least``, by an index that was found in the costs."""
    looked_at: Counter[Callsite] = Counter()
    for call in story.views:
        site = call.callsite
        if not call.does("gives item") or site is None or len(call.inputs) != 2:
            continue
        row, (whole, index) = call.outputs[0], call.inputs
        target = site.targets[0] if site.targets and len(site.targets) == 1 else None
        if target in (None, "return") or not site.direct or row.is_trainable or index.shape != ():
            continue
        looked_at[site] += 1
        if looked_at[site] > _CHOICES:
            continue
        found = story.innermost_new(index.tensor, call.index)
        measured = found.inputs[0] if found is not None and len(found.inputs) == 1 else None
        if measured is None or measured.storage == whole.storage or not is_the_best_so_far(story, site):
            continue
        if any(_looks_up(each, measured, site) for each in story.given_to.get(index.tensor, ())):
            yield Reference(row.tensor, row.storage, call.index, site, "chosen", region_of(row))


def _looks_up(call: CallEvent, measured: TensorMetadata, site: Callsite) -> bool:
    takes = call.does("gives item") and call.inputs[0].tensor == measured.tensor
    return takes and call.callsite is not None and call.callsite.same_run(site)


def _given_again(story: Story) -> Iterator[Reference]:
    """The views that a place returned before it returned another one of the same elements."""
    last: dict[tuple[object, ...], Reference] = {}
    for call in story.views:
        site = call.callsite
        if site is None or site.targets != ("return",) or len(call.outputs) != 1:
            continue
        given = call.outputs[0]
        if given.is_trainable or any(meta.tensor == given.tensor for meta in call.inputs):
            continue
        reference = Reference(given.tensor, given.storage, call.index, site, "return", region_of(given))
        key = site.cell, site.file, site.line, site.expression, given.storage, reference.region
        before = last.get(key)
        last[key] = reference
        if before is None or any(
            _reads(read, before.tensor) for read in story.given_between(before.tensor, before.since, call.index)
        ):
            continue
        if before.place == site or _wrote_for_this(story, before, call, site):
            yield before


def _wrote_for_this(story: Story, before: Reference, call: CallEvent, site: Callsite) -> bool:
    """Whether the run that a view came from wrote the memory: what another line had got of it was to be read first."""
    last = next((w for w in reversed(story.writes_to_memory(before.storage)) if w.at < call.index), None)
    written = last is not None and last.at > before.since and last.site is not None
    return written and last is not None and last.site is not None and last.site.is_below(site)


def _reads(call: CallEvent, tensor: int) -> bool:
    return all(meta.tensor != tensor for meta in call.mutated) and call.looks_at_values


def _is_written(story: Story, kept: Reference, write: Write) -> bool:
    if write.call is None or write.mutation is None or write.mutation.tensor == kept.tensor:
        return False
    meta = story.observations.get(write.mutation.tensor)
    if meta is None or meta.is_trainable or story.is_gradient(write.mutation):
        return False
    return may_meet(kept.region, reach_of_write(write.call, write.mutation))


def _first_read(story: Story, kept: Reference, write: Write) -> CallEvent | None:
    if kept.holder == "return":
        reads = (call for call in story.given_to.get(kept.tensor, ()) if _reads(call, kept.tensor))
        first = next(reads, None)
    elif kept.holder == "chosen":
        later = story.given_between(kept.tensor, write.at, len(story.trace.calls))
        first = next((call for call in later if _reads(call, kept.tensor)), None)
    else:
        first = next(iter(story.given_to.get(kept.tensor, ())), None)
    late = first is not None and first.index > write.at and not first.mutated
    return first if late else None


def _hazard(story: Story, stale: Stale, *, weights: bool = False) -> Hazard:
    kept, write = stale.reference, stale.write
    place = wording.code(kept.place.expression) if kept.place is not None else ""
    whole = weights and kept.place is not None and not kept.place.direct
    message = (
        _(
            "{read} reads what {keeping} had given, but {write} had written it for the next one: {kept} is on the same "
            "memory each time, and no copy. PyTorch gives no error; the read sees the new values."
        )
        if kept.holder == "return"
        else _(
            "{read} reads what {keeping} had kept, but {write} had written it before: {kept} is on the same memory, "
            "and no copy. PyTorch gives no error; the read sees the new values."
        )
    )
    return finding(
        CODE,
        "warning",
        message=message.format(
            read=wording.spot(stale.read.callsite),
            keeping=wording.spot(kept.place),
            write=wording.spot(write.site),
            kept=place,
        ),
        fix=(
            _("Keep a copy: `copy.deepcopy(…)` around {kept}.").format(kept=place)
            if whole
            else _("Keep a copy: append `.clone()` to {kept}.").format(kept=place)
        ),
        variable=story.name_written_by(write),
        origin=kept.place,
        read=stale.read,
        tensor=kept.tensor,
        write=write,
        badges=Badges(origin=_("kept here")) if weights else Badges(),
    )


RULE = Rule(check, {CODE: Cures((state_copied_where_taken, copied_where_taken))})
