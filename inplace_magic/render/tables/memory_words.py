"""Memory in words, for the text and the page alike."""

from __future__ import annotations

from operator import attrgetter

from inplace_magic.analysis.memory.ledger import Peak
from inplace_magic.analysis.saved import Kept
from inplace_magic.language import N_, _, clauses, listed, sentences
from inplace_magic.record.grouped import grouped_by
from inplace_magic.record.memory import Storage
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.render import lettering, words
from inplace_magic.render.reading import Reading
from inplace_magic.render.tables.memory_rows import SHORT_COLUMNS, line_rows

_ORIGIN = {
    "leaf": N_("a leaf, alive anyway"),
    "input": N_("input"),
    "output": N_("output"),
    "clone of the input": N_("clone of the input"),
    "made for backward": N_("made for backward alone"),
}
SHOWN = tuple(column for column in SHORT_COLUMNS.values() if column.endswith("_bytes"))
"""The columns of numbers."""
_COUNTED_BY_TENSORS = ("cpu", "meta")
ALIVE = 3
"""How many of the tensors alive at the peak are named."""
WORTH_NAMING = 1 << 20
"""Bytes of memory of no tensor at a peak; less is an allocator's rounding, or memory that waits for a collection."""


def counting(trace: Trace) -> str:
    """How to read the table of this watch."""
    first = _(
        "A storage counts once, however many views it has. Memory that comes back is billed to the last line that "
        "called torch before it did."
    )
    then = _(
        "Temporaries inside a call are not counted at level `calls`, so peaks leave them out; `--level ops` sees them."
    )
    if trace.level == "ops":
        then = _("Temporaries are counted, those of backward too; scratch buffers inside one operator are not.")
    return sentences(first, then)


def allocator(reading: Reading) -> list[str]:
    """How to read the rows of devices whose allocator was asked, and of those where it cannot be."""
    trace, found = reading.trace, []
    for device, own in grouped_by(attrgetter("device"), trace.readings).items():
        spare = words.bytes_of(own[-1].reserved_bytes - own[-1].allocated_bytes)
        change = words.bytes_of(own[-1].allocated_bytes - own[0].allocated_bytes)
        text = _(
            "{device}: the allocator's own account; temporaries, workspaces of libraries and rounding are in it, and "
            "the rows sum to the change of what is allocated ({change}). It holds {spare} more in reserve, which other "
            "programs see as used. Work that another stream still has queued keeps its memory a little longer."
        )
        found.append(text.format(device=device, change=change, spare=spare))
    if any(row.workspace for row in reading.memory):
        text = _(
            "Memory of no tensor in sight was allocated at first use and kept, as cuBLAS and cuDNN do with their "
            "workspaces."
        )
        found.append(text)
    return [*found, *not_asked(reading)]


def not_asked(reading: Reading) -> list[str]:
    """What is not known of accelerators whose allocator has no totals, such as ``cudaMallocAsync``."""
    text = _(
        "{device}: its allocator has no counters, so the rows count the tensors in sight, without rounding and without "
        "memory of libraries."
    )
    asked = {each.device for each in reading.trace.readings}
    others = (device for device in _devices(reading) if device not in asked)
    return [text.format(device=each) for each in others if each.partition(":")[0] not in _COUNTED_BY_TENSORS]


def title(reading: Reading) -> str:
    """``Memory by line (cpu)``."""
    return words.with_detail(_("Memory by line"), listed(_devices(reading)))


def _devices(reading: Reading) -> list[str]:
    return list(dict.fromkeys(row.device for row in reading.memory))


def line_table(reading: Reading, most: int) -> list[tuple[str, ...]]:
    """Memory by line as it is read: titles, then rows in the order of the lines; of more than `most` a few, those that
    allocated most. A row says its device where there are several; else the title of it all does."""
    rows = line_rows(reading)
    if len(rows) > most:
        rows = sorted(rows, key=lambda row: -row["allocated_bytes"])[: most * 2 // 5]
    titles = {"label": _("Line"), "code": _("Code")}
    if len(_devices(reading)) > 1:
        titles["device"] = _("Device")
    numbers = (_("Delta"), _("Allocated"), _("Freed"), _("Peak"), _("Kept for backward"))
    shown = [(*(row[name] for name in titles), *(words.bytes_of(row[each]) for each in SHOWN)) for row in rows]
    return [(*titles.values(), *numbers), *shown]


def peak_sentences(reading: Reading, device: str | None = None) -> list[str]:
    """Where the peak of each device was, or of one, and what was alive then."""
    found = []
    for peak in reading.ledger.peaks:
        if not peak.nbytes or device not in (None, peak.device):
            continue
        call = reading.calls.get(peak.call)
        text = _("Peak on {device}: {size}") if call is None else _("Peak on {device}: {size} at {place}, in `{call}`")
        place, name = (reading.place(call.callsite), call.name) if call is not None else ("", "")
        said = text.format(device=peak.device, size=words.bytes_of(peak.nbytes), place=place, call=name)
        found.append(_("{said}.").format(said=_alive(said, peak, reading)))
    return found


def kept_header() -> tuple[str, ...]:
    return (_("Tensor"), _("Kept by"), _("Where"), _("Code"), _("Bytes"), _("Whose memory"))


def kept_table(reading: Reading, most: int) -> list[tuple[str, ...]]:
    """What autograd keeps for backward, as it is read; a place is said once, as in the table of lines."""
    rows: list[tuple[str, ...]] = []
    before: tuple[bool, Callsite | None] | None = None
    for kept in reading.saved[:most]:
        site = kept.call.callsite if kept.call is not None else None
        again, before = before == (kept.call is None, site), (kept.call is None, site)
        place = reading.place(site) if kept.call is not None else _("before the watch")
        label = f"{_kept_label(kept, reading)} {words.version(kept.saved.version)}"
        keeper = f"{kept.node.name if kept.node else _('unknown node')}.{kept.saved.name}"
        where = ("", "") if again else (place, words.code_of(site))
        size = _("packed by saved-tensor hooks") if kept.saved.hooked else words.bytes_of(kept.saved.nbytes or 0)
        rows.append((label, keeper, *where, size, _kept_remark(kept)))
    return rows


def kept_in_all(reading: Reading) -> str:
    total = sum(kept.saved.nbytes or 0 for kept in reading.saved if kept.first and kept.origin != "leaf")
    text = _("This graph keeps {size} for backward (leaves excluded, shared memory counted once).")
    return text.format(size=words.bytes_of(total))


def _kept_label(kept: Kept, reading: Reading) -> str:
    if kept.tensor is not None:
        return words.tensor_label(kept.tensor, reading.names)
    return _("a hidden clone") if kept.origin == "clone of the input" else _("a tensor without a name")


def _kept_remark(kept: Kept) -> str:
    """Return whether its memory is its own, and a clone that nobody asked for."""
    if kept.saved.hooked:
        return ""
    if kept.origin == "clone of the input" and kept.call is not None:
        text = _("`{call}` is in-place, yet autograd cloned {size} first")
        return text.format(call=kept.call.name, size=words.bytes_of(kept.saved.nbytes or 0))
    told = [_(_ORIGIN[kept.origin])] if kept.origin in _ORIGIN else []
    if kept.also_kept_by:
        others = lettering.shortened(words.counted(kept.also_kept_by), 60)
        told.append(_("shared with {nodes}").format(nodes=others))
    return clauses(told)


def _alive(said: str, peak: Peak, reading: Reading) -> str:
    storages = peak.storages
    largest = [named for storage in storages[: 4 * ALIVE] if (named := _memory_of(storage, reading))][:ALIVE]
    if largest:
        text = _("{said}; the largest alive then: {tensors}")
        if len(storages) > len(largest):
            text = _("{said}; the largest alive then: {tensors}, of {count}")
        said = text.format(said=said, tensors=listed(largest), count=len(storages))
    other = _of_no_tensor(peak, reading)
    if other >= max(peak.nbytes // 10, WORTH_NAMING):
        said = _("{said}; memory of no tensor in sight: {size}").format(said=said, size=words.bytes_of(other))
    return said


def _of_no_tensor(peak: Peak, reading: Reading) -> int:
    """Bytes at a peak that none of the known storages has: temporaries and workspaces; 0 where nobody counted them."""
    if not any(each.device == peak.device for each in reading.trace.readings):
        return 0
    alive = set(peak.storages)
    return peak.nbytes - sum(_size(facts) for facts in reading.trace.storages if facts.storage in alive)


def _size(facts: Storage) -> int:
    return facts.resizes[-1].nbytes if facts.resizes else facts.nbytes


def _memory_of(storage: int, reading: Reading) -> str:
    """Return a storage by its tensor, else by who keeps it for backward, else by who made it; empty when nothing is
    known."""
    facts = next((facts for facts in reading.trace.storages if facts.storage == storage), None)
    if facts is None:
        return ""
    size = words.bytes_of(_size(facts))
    tensors = reading.story.bindings.by_storage.get(storage, ())
    if tensors:
        known = next((tensor for tensor in tensors if tensor in reading.names), tensors[0])
        return words.with_detail(words.tensor_label(known, reading.names), size)
    saved = next((saved for saved in reading.trace.saved if saved.storage == storage), None)
    if saved is not None:
        return _("what {node} keeps ({size})").format(node=reading.node_name(saved.node), size=size)
    maker = reading.calls.get(facts.born)
    return _("made inside `{call}` ({size})").format(call=maker.name, size=size) if maker is not None else ""
