"""Tensors that were taken one after the other from one NumPy array are joined: all show its last values."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, ForeignWrite, Region

CODE = "buffer-gathered"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that takes such tensors."""
    seen = set()
    written = story.foreign_writes
    foreign = {storage.storage for storage in story.trace.storages if storage.foreign}
    for call in story.trace.calls if foreign else ():
        if not call.does("gathers") or call.error is not None:
            continue
        for storage, tensors in _alike(call).items():
            met = sorted(story.first_seen(tensor) for tensor in tensors)
            between = (write for write in written.get(storage, ()) if met[0] < write.noticed <= met[-1])
            write = next(between, None)
            if write is not None and call.callsite not in seen:
                seen.add(call.callsite)
                yield _hazard(story, call, tensors, write)


def _alike(call: CallEvent) -> dict[int, list[int]]:
    """By memory, the tensors of a call that are the same elements of it, where there are several."""
    found: dict[tuple[int, Region | None], dict[int, None]] = {}
    for meta in call.inputs:
        if meta.storage is not None:
            found.setdefault((meta.storage, region_of(meta)), {})[meta.tensor] = None
    return {storage: list(tensors) for (storage, _region), tensors in found.items() if len(tensors) > 1}


def _hazard(story: Story, call: CallEvent, tensors: list[int], write: ForeignWrite) -> Hazard:
    maker = story.innermost_new(tensors[-1], call.index)
    taken = maker.callsite if maker is not None else None
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{line} joins {count} tensors that share one memory: {taken} copied nothing, and {writer} filled "
            "the memory again in between, so all of them show its last values. PyTorch gives no error."
        ).format(
            line=wording.spot(call.callsite),
            count=len(tensors),
            taken=wording.spot(taken) if taken is not None else _("what gave them"),
            writer=wording.spot(write.callsite) if write.callsite is not None else _("code outside PyTorch"),
        ),
        fix=_("Copy the values when you take them: `torch.tensor(array)`, or append `.clone()`."),
        variable=write.names[0] if write.names else None,
        mutation=write.callsite,
        origin=taken,
        read=call.callsite,
        read_call=call.index,
    )


RULE = Rule(check)
