"""Rows of the memory tables, as plain integers and strings: by line, by call, by operator, and what backward keeps."""

from __future__ import annotations

from typing import Any

from inplace_magic.analysis.memory.blocks import Entry
from inplace_magic.analysis.memory.ledger import LineMemory
from inplace_magic.analysis.saved import Kept
from inplace_magic.language import N_, _
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.render import words
from inplace_magic.render.reading import Reading

Row = dict[str, Any]

BEFORE = N_("outside any torch call")
"""Stands in the place of what happened while torch was not called, so that the rows sum to the whole change."""

WORKSPACE = N_("memory of no tensor in sight")
"""Stands in the place of what a call allocated for good, mostly a workspace of a library."""

SHORT_COLUMNS = {
    "line": "line",
    "code": "code",
    "device": "device",
    "delta": "net_bytes",
    "allocated": "allocated_bytes",
    "freed": "freed_bytes",
    "peak": "peak_bytes",
    "kept_for_backward": "saved_bytes",
    "place": "place",
}
"""Of the columns of ``lines``, those that page, text and ``Report.memory`` have, by their names there."""


def line_rows(reading: Reading) -> list[Row]:
    """Memory by line, in the order of the lines; what belongs to no line comes last."""
    rows = [_line(row, reading) for row in reading.memory]
    known = {row["place"]: number for number, row in reversed([*enumerate(rows)])}
    return sorted(rows, key=lambda row: (row["line"] is None, known[row["place"]], row["line"] or 0))


def _line(row: LineMemory, reading: Reading) -> Row:
    about = _about(row)
    return {
        **({"place": about, "line": None, "code": ""} if about else where(row.site)),
        "label": about or reading.place(row.site),
        **_bytes(row),
        "calls": sum([reading.calls[call].passes if call in reading.calls else 1 for call in row.calls]),
        "tensors": _made(row, reading),
    }


def call_rows(reading: Reading) -> list[Row]:
    rows = []
    for entry in reading.ledger.by_call:
        call = reading.calls.get(entry.call)
        name, kind = (call.name, call.kind) if call is not None else ("", "")
        rows.append({**_billed(entry, reading), "name": _about(entry) or name, "kind": kind})
    return rows


def op_rows(reading: Reading) -> list[Row]:
    """Memory by operator; none at level ``calls``."""
    ops, rows = reading.trace.ops, []
    for entry in reading.ledger.ops:
        op = ops[entry.op] if entry.op is not None and 0 <= entry.op < len(ops) else None
        call = reading.calls.get(entry.call)
        name = op.name if op is not None else f"{call.name} (no operator)" if call is not None else _(BEFORE)
        about = {"op": entry.op, "name": _(WORKSPACE) if entry.workspace else name}
        rows.append({**_billed(entry, reading), **about, "in_backward": op is not None and op.in_backward})
    return rows


def _billed(entry: Entry, reading: Reading) -> Row:
    """What the memory of a call and that of an operator say alike."""
    call = reading.calls.get(entry.call)
    place = where(call.callsite if call is not None else None)
    return {"call": entry.call, **place, **_bytes(entry), "tensors": _made(entry, reading)}


def _about(entry: Entry) -> str:
    """What stands in the place of a call; empty where there is one."""
    return _(WORKSPACE) if entry.workspace else _(BEFORE) if entry.call is None else ""


def saved_rows(reading: Reading) -> list[Row]:
    newest: dict[int, int] = {}
    for call in reading.trace.calls:
        for mutation in call.mutations:
            if mutation.counter is not None and mutation.version_after is not None:
                newest[mutation.counter] = mutation.version_after
    return [_saved(kept, reading, newest) for kept in reading.saved]


def where(site: Callsite | None) -> Row:
    """Return the cell or file of a call, its line number and its source."""
    if site is None or not site.line:
        return {"place": words.place(site), "line": None, "code": words.code_of(site)}
    return {"place": site.holder, "line": site.line, "code": words.code_of(site)}


def layout(facts: TensorMetadata | SavedTensor) -> Row:
    """What a tensor is in memory."""
    return {
        "shape": "" if facts.shape is None else str(facts.shape),
        "dtype": facts.dtype.removeprefix("torch."),
        "device": facts.device,
        "nbytes": facts.nbytes,
        "storage": "" if facts.storage is None else f"S{facts.storage}",
    }


def _saved(kept: Kept, reading: Reading, newest: dict[int, int]) -> Row:
    saved = kept.saved
    tensor = kept.tensor
    return {
        "tensor": f"T{tensor}" if tensor is not None else "",
        "name": reading.names.get(tensor, "") if tensor is not None else "",
        "version_saved": saved.version,
        "version_last_seen": saved.version if saved.counter is None else newest.get(saved.counter, saved.version),
        "node": kept.node.name if kept.node is not None else "",
        "saved_as": saved.name,
        "origin": kept.origin,
        "also_kept_by": words.counted(kept.also_kept_by),
        "call": kept.call.index if kept.call is not None else None,
        **where(kept.call.callsite if kept.call is not None else None),
        **layout(saved),
        "storage_bytes": kept.storage_bytes,
        "first": kept.first,
        "hooked": saved.hooked,
    }


def _bytes(entry: Entry) -> Row:
    amounts = "allocated_bytes", "freed_bytes", "net_bytes", "peak_bytes", "retained_bytes", "saved_bytes"
    found = {name: getattr(entry, name) for name in amounts}
    return {"device": entry.device, "peak_exact": entry.exact_peak, **found}


def _made(entry: Entry, reading: Reading) -> str:
    """``T1 x, T2``: the tensors on the storages that were made."""
    tensors = dict.fromkeys(tensor for made in entry.made for tensor in reading.story.bindings.by_storage.get(made, ()))
    return ", ".join(words.tensor_label(tensor, reading.names) for tensor in tensors)
