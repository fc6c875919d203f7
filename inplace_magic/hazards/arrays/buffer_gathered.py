"""Tensors that were taken one after the other from one NumPy array are joined: all show its last values."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.rule import Calls, Event, Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent, ForeignWrite, Region

CODE = "buffer-gathered"


def buffer_gathered(story: Story) -> Iterator[Found]:
    """Yield the lines that take such tensors."""
    foreign = {storage.storage for storage in story.trace.storages if storage.foreign}
    for call in story.doing("gathers") if foreign else ():
        for storage, tensors in _alike(call).items() if call.error is None else ():
            met = sorted(story.first_seen(tensor) for tensor in tensors)
            between = (write for write in story.foreign_writes.get(storage, ()) if met[0] < write.noticed <= met[-1])
            write = next(between, None)
            if write is not None:
                yield _found(story, call, tensors, write)


def _alike(call: CallEvent) -> dict[int, list[int]]:
    """By memory, the tensors of a call that are the same elements of it, where there are several."""
    found: dict[tuple[int, Region | None], dict[int, None]] = {}
    for meta in call.inputs:
        if meta.storage is not None:
            found.setdefault((meta.storage, region_of(meta)), {})[meta.tensor] = None
    return {storage: list(tensors) for (storage, _region), tensors in found.items() if len(tensors) > 1}


def _found(story: Story, call: CallEvent, tensors: list[int], write: ForeignWrite) -> Found:
    maker = story.innermost_new(tensors[-1], call.index)
    words: dict[str, object] = {"count": len(tensors)}
    if maker is None:
        words["taken"] = _("what gave them")
    if write.callsite is None:
        words["writer"] = _("code outside PyTorch")
    writer = Write(None, None, write.noticed, site=write.callsite)
    calls: dict[str, Event | None] = {"writer": writer, "line": call, "taken": maker}
    return Found(calls, variable=write.names[0] if write.names else None, words=words)


RULES = rules_of(
    Row(
        CODE,
        "warning",
        buffer_gathered,
        Calls(write="writer", read="line", origin="taken"),
        message=N_(
            "{line} joins {count} tensors that share one memory: {taken} copied nothing, and {writer} filled "
            "the memory again in between, so all of them show its last values. PyTorch gives no error."
        ),
        fix=N_("Copy the values when you take them: `torch.tensor(array)`, or append `.clone()`."),
    ),
)
