"""Memory in words, for the text and the page alike."""

from __future__ import annotations

from inplace_magic.analysis.memory import LineMemory
from inplace_magic.analysis.saved import Kept
from inplace_magic.render import words
from inplace_magic.render.memory_rows import unplaced
from inplace_magic.render.reading import Reading
from inplace_magic.trace import Trace

ALIVE = 3
"""How many of the tensors alive at the peak are named."""


def counting(trace: Trace) -> str:
    """How to read the table of this watch."""
    first = (
        "A storage counts once, however many views it has. Memory that comes back is billed to the last line that "
        "called torch before it did."
    )
    if trace.level == "ops":
        return f"{first} Temporaries are counted, those of backward too; scratch buffers inside one operator are not."
    return (
        f"{first} Temporaries inside a call are not counted at level `calls`, so peaks leave them out; `--level ops` "
        "sees them."
    )


def allocator(trace: Trace) -> list[str]:
    """How to read the rows of devices whose allocator was asked."""
    found = []
    for device in dict.fromkeys(reading.device for reading in trace.readings):
        own = [reading for reading in trace.readings if reading.device == device]
        spare = words.bytes_of(own[-1].reserved_bytes - own[-1].allocated_bytes)
        change = words.bytes_of(own[-1].allocated_bytes - own[0].allocated_bytes)
        found.append(
            f"{device}: the allocator's own account, workspaces of libraries and rounding included; the rows sum to "
            f"the change of what is allocated ({change}). It holds {spare} more in reserve, which other programs see "
            "as used. Work that another stream still has queued keeps its memory a little longer."
        )
    return found


def line_place(row: LineMemory, trace: Trace) -> str:
    """Where a line of the memory table stands."""
    return unplaced(row) or words.place_in(row.site, trace)


def peak_sentences(reading: Reading) -> list[str]:
    """Where the peak of each device was, and what was alive then."""
    found = []
    for peak in reading.peaks:
        if not peak.nbytes:
            continue
        call = reading.calls.get(peak.call) if peak.call is not None else None
        where = f" at {words.place_in(call.callsite, reading.trace)}, in `{call.name}`" if call is not None else ""
        found.append(f"Peak on {peak.device}: {words.bytes_of(peak.nbytes)}{where}{_alive(peak.storages, reading)}.")
    return found


def kept_label(kept: Kept, reading: Reading) -> str:
    """The saved tensor as a reader knows it."""
    tensor = reading.kept.get(kept.saved)
    if tensor is not None:
        return words.tensor_label(tensor, reading.names)
    return "a hidden clone" if kept.origin == "clone of the input" else "a tensor without a name"


def kept_place(kept: Kept, trace: Trace) -> str:
    """Where the call stands that saved it."""
    return words.place_in(kept.call.callsite, trace) if kept.call is not None else "before the watch"


def kept_size(kept: Kept) -> str:
    """Its bytes, or why they are unknown."""
    return "packed by saved-tensor hooks" if kept.saved.hooked else words.bytes_of(kept.saved.nbytes or 0)


def kept_remark(kept: Kept) -> str:
    """Whether its memory is its own, and a clone that nobody asked for."""
    if kept.saved.hooked:
        return ""
    if kept.origin == "clone of the input" and kept.call is not None:
        return f"`{kept.call.name}` is in-place, yet autograd cloned {kept.saved.nbytes or 0:,} B first"
    told = {"leaf": "a leaf, alive anyway", "made for backward": "made for backward alone"}.get(
        kept.origin, kept.origin
    )
    if told == "unknown":
        told = ""
    if kept.also_kept_by:
        told += f"{', ' if told else ''}shared with {words.shortened(words.counted(kept.also_kept_by), 60)}"
    return told


def _alive(storages: tuple[int, ...], reading: Reading) -> str:
    largest = [named for storage in storages[: 4 * ALIVE] if (named := _memory_of(storage, reading))][:ALIVE]
    if not largest:
        return ""
    more = f", of {len(storages)}" if len(storages) > len(largest) else ""
    return f"; the largest alive then: {', '.join(largest)}{more}"


def _memory_of(storage: int, reading: Reading) -> str:
    """A storage by its tensor, else by who keeps it for backward, else by who made it; empty when nothing is known."""
    facts = next((facts for facts in reading.trace.storages if facts.storage == storage), None)
    if facts is None:
        return ""
    size = words.bytes_of(facts.resizes[-1].nbytes if facts.resizes else facts.nbytes)
    tensors = reading.on_storage.get(storage, ())
    if tensors:
        known = next((tensor for tensor in tensors if tensor in reading.names), tensors[0])
        return f"{words.tensor_label(known, reading.names)} ({size})"
    saved = next((saved for saved in reading.trace.saved if saved.storage == storage), None)
    if saved is not None:
        return f"what {reading.node_name(saved.node)} keeps ({size})"
    maker = reading.calls.get(facts.born) if facts.born is not None else None
    return f"made inside `{maker.name}` ({size})" if maker is not None else ""
