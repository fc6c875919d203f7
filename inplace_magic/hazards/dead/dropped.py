"""What one write was given and did not keep.

Three facts tell it, each from the arguments of the call: an index that named elements more than once, values that the
dtype cannot hold, and a source that is taken in order where it has the shape of the whole.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Severity
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Dropped, Mutation

_LATEST = 32
"""Reads of the tensor before the write among which the one by the same index is looked for."""
_FRACTIONS = ("float", "bfloat", "complex")
"""Dtypes that hold fractions."""


@dataclass(frozen=True)
class _Loss:
    """What a conversion lost, in words."""

    message: str
    fix: str
    example: str
    silent: bool
    """A wrong result whatever was given; else only where nothing but zeros and ones can remain."""


_LOSSES = {
    "fraction": _Loss(
        N_(
            "{line} cut off fractions: {tensor} holds {dtype}, and {count} of {all} values written to it were "
            "not whole numbers ({example}). PyTorch gives no error."
        ),
        N_(
            "Use a floating-point dtype (`dtype=torch.float32`, or leave the dtype out); where whole numbers "
            "are meant, say how: `.round()`, `.floor()`, `.long()`."
        ),
        "{0:.6g} → {1}",
        silent=False,
    ),
    "precision": _Loss(
        N_(
            "{line} rounded the written values by more than their fractions: {tensor} holds {dtype}, which has "
            "no fractions for numbers so large ({example}). PyTorch gives no error."
        ),
        N_("Keep the difference to a start (`t - t0`), or give the tensor `dtype=torch.float64`."),
        "{0:.6g}",
        silent=True,
    ),
    "range": _Loss(
        N_(
            "{line} wrote numbers that {tensor} cannot hold: it holds {dtype}, and {count} of {all} values were "
            "beyond its range ({example}), so other values were stored. PyTorch gives no error."
        ),
        N_("Give the tensor a dtype with room for them, or bring the values into its range first (`.clamp(…)`)."),
        "{0:.6g}",
        silent=True,
    ),
}


def values_cut_off(story: Story) -> Iterator[Found]:
    """Yield for each place of such a write the worst one there."""
    worst: dict[object, Found] = {}
    for call, mutation, dropped in story.dropping:
        loss = _LOSSES.get(dropped.kind)
        if loss is None or call.callsite is None or (not loss.silent and _comes_along(story, call, mutation)):
            continue
        found = _cut_off(story, call, mutation, dropped, loss)
        known = worst.get(call.callsite)
        if known is None or (known.severity, found.severity) == ("info", "silent"):
            worst[call.callsite] = found
    yield from worst.values()


def _comes_along(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """True if a line that goes over many tensors wrote one of whole numbers beside those of fractions, and nobody else
    reads it: an average of all buffers takes the counter of a batch normalisation along."""
    beside = story.at([id(call.callsite)])
    if not any(meta.dtype.startswith(_FRACTIONS) for each in beside for meta in each.mutated):
        return False
    tensors = story.bindings.by_storage.get(mutation.storage or -1, ())
    given = ((tensor, read) for tensor in tensors for read in story.given_to.get(tensor, ()))
    computed = ((tensor, read) for tensor, read in given if read.kind not in ("query", "view"))
    reads = (read for tensor, read in computed if all(meta.tensor != tensor for meta in read.mutated))
    return all(read.callsite is None or read.callsite.same_line(call.callsite) for read in reads)


def _severity(call: CallEvent, dropped: Dropped, loss: _Loss) -> Severity:
    if call.does("shifts") or call.does("scales"):
        return "warning"  # arithmetic of bytes that wraps, which checksums mean
    if loss.silent or (dropped.largest or 0) <= 1:
        return "silent"
    return "warning" if dropped.scalar else "info"


def _cut_off(story: Story, call: CallEvent, mutation: Mutation, dropped: Dropped, loss: _Loss) -> Found:
    value, dtype = dropped.example, next((meta.dtype for meta in call.mutated if meta.tensor == mutation.tensor), "")
    example = loss.example.format(value, int(value)) if value is not None else ""
    words = {"dtype": f"`{dtype}`", "count": dropped.values, "all": dropped.among, "example": example}
    calls = {"line": call, "origin": story.maker_of_storage(mutation.storage)}
    severity = _severity(call, dropped, loss)
    return Found(calls, mutation.tensor, words=words, message=loss.message, fix=loss.fix, severity=severity)


def index_repeats(story: Story) -> Iterator[Found]:
    """Yield each write, by an index with repeats, of what was read by that index."""
    for call, mutation, dropped in story.dropping:
        if dropped.kind != "repeats" or call.callsite is None:
            continue
        read, adds = _read_back(story, call, mutation)
        if read is not None and (adds or dropped.differ):
            words = {"count": dropped.values, "all": dropped.among}
            yield Found({"line": call, "origin": read}, mutation.tensor, words=words)


def _read_back(story: Story, call: CallEvent, mutation: Mutation) -> tuple[CallEvent | None, bool]:
    """Return the latest call that read, by the same index, the elements that a call writes, and whether what is written
    is a sum with them; None where it was not computed from them, or where another write came in between."""
    given = call.inputs[-1].tensor if call.inputs else None
    index = [(meta.tensor, meta.version) for meta in call.inputs[1:-1]]
    known = story.given_to.get(mutation.tensor, [])
    here = bisect_left(known, call.index, key=attrgetter("index"))
    for read in reversed(known[max(0, here - _LATEST) : here]):
        if any(written.tensor == mutation.tensor for written in read.mutations):
            break
        if not read.does("picks") or read.kind != "ordinary" or read.inputs[0].tensor != mutation.tensor:
            continue
        by_it = [(meta.tensor, meta.version) for meta in read.inputs[1:]] == index
        if by_it and (index or (call.callsite is not None and call.callsite.same_statement(read.callsite))):
            made, adds = {meta.tensor for meta in read.outputs}, list[bool]()
            for between in story.calls_between(read.index, call.index):
                if between.got(made):
                    made.update(meta.tensor for meta in between.outputs)
                    adds.append(between.does("adds"))
            if given in made:
                return read, bool(adds) and all(adds)
    return None, False


def source_in_order(story: Story) -> Iterator[Found]:
    """Yield each write of masked places from a source of the tensor's own shape."""
    for call in story.doing("takes in order"):
        shape = call.inputs[0].shape if call.kind == "in-place" and len(call.inputs) == 3 else None
        if shape is not None and math.prod(shape) > 1 and all(meta.shape == shape for meta in call.inputs):
            yield Found({"line": call}, call.mutations[0].tensor)


RULES = rules_of(
    Row(
        "index-repeats",
        "silent",
        index_repeats,
        message=N_(
            "{line} loses {count} of {all} updates: its index repeats elements of {tensor}, and an assignment keeps "
            "one value for each. PyTorch gives no error."
        ),
        fix=N_(
            "Let PyTorch add the repeats up: `x.index_put_((index,), values, accumulate=True)`, or `x.index_add_(0, "
            "index, values)`. To count, `torch.bincount(index)`."
        ),
        nameless=N_("the tensor"),
    ),
    Row(
        "source-in-order",
        "warning",
        source_in_order,
        message=N_(
            "{line} fills the masked places of {tensor} with the first elements of its source, one after "
            "the other, not with the elements at the same places. PyTorch gives no error."
        ),
        fix=N_("Take the elements under the mask: `x[mask] = source[mask]`, or `torch.where(mask, source, x)`."),
        nameless=N_("the tensor"),
    ),
    Row("values-cut-off", "silent", values_cut_off, nameless=N_("the tensor")),
)
