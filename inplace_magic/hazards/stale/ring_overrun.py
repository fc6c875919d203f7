"""A line fills a few tensors in turn, and its results are read in their order, but later than the next turn.

Who hands out one of three buffers in turn says that nobody keeps a result for longer than two more. A queue does.

Bad::

    ring, waiting, sums = [torch.empty(3) for _ in range(2)], [], []
    for k, frame in enumerate(frames):
        waiting.append(ring[k % 2].copy_(frame))
    for frame in waiting:
        sums.append(frame.sum())        # the last two frames, again and again

Good::

    ring, waiting, sums = [torch.empty(3) for _ in range(2)], [], []
    for k, frame in enumerate(frames):
        waiting.append(ring[k % 2].copy_(frame).clone())
    for frame in waiting:
        sums.append(frame.sum())

Told from the record alone: one line copies into several tensors in turn; another line reads them as often, and in the
very order in which they were written; and at least two of these reads came after the tensor had been written anew.
Silent where anybody reads a tensor between those two writes, where it is written by another line as well, and for
trained leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

CODE = "ring-overrun"

_INDEX = attrgetter("index")
_Line = tuple[str, int | None, str | None, int, str]


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that writes."""
    for filled in _filled_in_turn(story).values():
        tensors = [call.mutations[0].tensor for call in filled]
        for read in _reads_in_order(story, filled, tensors):
            late = [k for k, call in enumerate(read) if _is_overrun(story, filled, tensors, k, call)]
            if len(late) > 1:
                yield _hazard(story, filled, read, late[0])
                break


def _filled_in_turn(story: Story) -> dict[_Line, list[CallEvent]]:
    """By line, the calls that overwrite a whole tensor there, where they are several tensors and each comes again."""
    found: dict[_Line, list[CallEvent]] = {}
    for call in story.doing("overwrites"):
        fills = len(call.mutations) == 1 and call.kind == "in-place"
        given = fills and len(call.inputs) > 1 and not call.inputs[0].is_trainable
        if given and call.callsite is not None and call.mutations[0].region is None:
            found.setdefault(_line(call.callsite), []).append(call)
    return {line: calls for line, calls in found.items() if _is_a_ring(story, calls)}


def _is_a_ring(story: Story, calls: list[CallEvent]) -> bool:
    tensors = [call.mutations[0].tensor for call in calls]
    size = len(set(tensors))
    if size < 2 or len(tensors) < size + 2 or any(tensors[k] != tensors[k - size] for k in range(size, len(tensors))):
        return False
    line = _line(calls[0].callsite) if calls[0].callsite is not None else None
    memories = {call.mutations[0].storage for call in calls}
    writes = (write for memory in memories for write in story.writes_to_memory(memory))
    return len(memories) == size and all(write.site is not None and _line(write.site) == line for write in writes)


def _reads_in_order(story: Story, filled: list[CallEvent], tensors: list[int]) -> Iterator[list[CallEvent]]:
    """The reads by one line that took the tensors as often as they were written, and in that order."""
    found: dict[_Line, list[CallEvent]] = {}
    written = {call.index for call in filled}
    for tensor in dict.fromkeys(tensors):
        for read in story.given_to.get(tensor, ()):
            if read.callsite is not None and read.index not in written and read.kind != "query":
                found.setdefault(_line(read.callsite), []).append(read)
    for reads in found.values():
        reads.sort(key=_INDEX)
        given = [{meta.tensor for meta in read.inputs} & set(tensors) for read in reads]
        if given == [{tensor} for tensor in tensors]:
            yield reads


def _is_overrun(story: Story, filled: list[CallEvent], tensors: list[int], k: int, read: CallEvent) -> bool:
    """Whether a result was read after its tensor had been written anew, and by nobody before that."""
    begun = filled[k].index
    again = next((call.index for n, call in enumerate(filled) if n > k and tensors[n] == tensors[k]), None)
    if again is None or not begun < again < read.index:
        return False
    return all(call.kind == "query" for call in story.given_between(tensors[k], begun, again))


def _line(site: Callsite) -> _Line:
    return site.function, site.cell, site.file, site.line, site.expression


def _hazard(story: Story, filled: list[CallEvent], read: list[CallEvent], first: int) -> Hazard:
    write = filled[first]
    size = len({call.mutations[0].tensor for call in filled})
    variable = story.bindings.written_name(write, write.mutations[0].tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{read} reads the {count} results of {write} one after the other, but there are {size} tensors that take "
            "turns: several were written anew before they were read. PyTorch gives no error."
        ).format(
            read=wording.spot(read[first].callsite),
            count=len(filled),
            write=wording.spot(write.callsite),
            size=size,
        ),
        fix=_("Keep copies of the results (`.clone()`), or let as many tensors take turns as results are kept."),
        variable=variable,
        read=read[first],
        tensor=write.mutations[0].tensor,
        write=write,
    )


RULE = Rule(check)
