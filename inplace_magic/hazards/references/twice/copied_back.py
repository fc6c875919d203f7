"""``kept = a.data``, ``a.copy_(b)``, ``b.copy_(kept)``: two tensors were to change places, and `b` gets its own values.

A backup is copied back as well, and may hold by chance what is there; but it was written by its own name, and not
behind the back of who took it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from inplace_magic.analysis.overlap import reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation


def copied_back(story: Story) -> Iterator[tuple[CallEvent, CallEvent, CallEvent]]:
    """Yields (copy, the earlier copy the other way, what took the alias) for each copy that changed nothing."""
    for call in story.doing("copies in"):
        if call.error is not None or len(call.inputs) < 2 or len(call.mutations) != 1 or call.callsite is None:
            continue
        target, source = call.inputs[:2]
        if source.storage is None or target.storage is None or source.storage == target.storage:
            continue
        view = story.innermost_new(source.tensor, call.index)
        taken = view is not None and view.kind == "view" and any(m.storage == source.storage for m in view.inputs)
        first = _overwritten_from(story, call, view) if view is not None and taken else None
        if view is not None and first is not None:
            yield call, first, view


def _overwritten_from(story: Story, call: CallEvent, view: CallEvent) -> CallEvent | None:
    """The last write of what is copied, where it put there what the target held, and holds still."""
    target, source = call.inputs[:2]
    writes = story.writes_to_storage.get(source.storage or 0, [])
    place = bisect_left(writes, call.index, key=_index) - 1
    if place < 0:
        return None
    first, mutation = writes[place]
    if first.index <= view.index or not first.does("copies in") or mutation.tensor == source.tensor:
        return None
    if len(first.inputs) < 2 or first.inputs[1].storage != target.storage:
        return None
    whole = region_of(source)
    if whole is None or reach_of_write(first, mutation) != whole or region_of(first.inputs[1]) != region_of(target):
        return None
    before = mutation.values_before
    if before is not None and before == mutation.values_after:
        return None
    if story.is_written_between(target.storage, first.index, call.index):
        return None
    places = (first.callsite, view.callsite)
    if not all(each is not None and each.same_run(call.callsite) for each in places):
        return None
    between = story.given_between(source.tensor, view.index, call.index)
    return None if any(read.looks_at_values for read in between) else first


def _index(write: tuple[CallEvent, Mutation]) -> int:
    return write[0].index
