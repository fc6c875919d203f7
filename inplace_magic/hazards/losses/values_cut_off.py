"""A write into a tensor of another dtype changed the values: fractions were cut off, or numbers too large wrapped.

The tensor decides, and not what is assigned to it: ``x[0] = 0.7`` into integers stores 0, ``x.copy_(values)`` converts
without asking, half precision ends at 65,504, and single precision has no fractions beyond 16,777,216
(https://docs.pytorch.org/docs/stable/tensor_attributes.html). An operation that would give another dtype raises
(``x.add_(0.5)``: "result type Float can't be cast to Long"); an assignment does not.

Bad::

    mean = torch.zeros(3, dtype=torch.long)
    mean[0] = values.mean()         # 0.25 becomes 0

Good::

    mean = torch.zeros(3)
    mean[0] = values.mean()
    index[0] = (0.7 * n).floor()    # cut off on purpose

Told from the values themselves, as the write was about to convert them: of small tensors in CPU memory and of Python's
numbers. A silent failure where not one number given was above 1 and fractions were among them, so that nothing but
zeros and ones could remain, and where numbers lay beyond the range of the dtype or beyond its fractions. A warning for
a Python number with a fraction, and for bytes that a sum or a product took beyond 255, or a difference below 0. Else a
fact worth knowing: that positions and pixels are cut off is often meant. Nothing is said of a tensor that a line wrote
along with tensors of fractions, and that nobody else reads: so the counter of a batch normalisation is averaged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, Severity, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Dropped, Mutation, TensorMetadata
from inplace_magic.record.places import Callsite

CODE = "values-cut-off"

_FRACTIONS = ("float", "bfloat", "complex")
"""Dtypes that hold fractions."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place of such a write, of the worst one there."""
    worst: dict[object, Hazard] = {}
    for call, mutation, dropped in story.dropping:
        if dropped.kind in ("repeats", "flags") or call.callsite is None:
            continue
        if dropped.kind == "fraction" and _comes_along(story, call, mutation):
            continue
        found = replace(_hazard(story, call, mutation, dropped), severity=_severity(call, dropped))
        known = worst.get(call.callsite)
        if known is None or (known.severity, found.severity) == ("info", "silent"):
            worst[call.callsite] = found
    yield from worst.values()


def _comes_along(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """Whether a line that goes over many tensors wrote one of whole numbers beside those of fractions, and nobody else
    reads it: an average of all buffers takes the counter of a batch normalisation along."""
    beside = story.at([id(call.callsite)])
    if not any(meta.dtype.startswith(_FRACTIONS) for each in beside for meta in each.mutated):
        return False
    for tensor in story.bindings.by_storage.get(mutation.storage, ()) if mutation.storage is not None else ():
        for read in story.given_to.get(tensor, ()):
            counted = read.kind in ("query", "view") or any(meta.tensor == tensor for meta in read.mutated)
            if not counted and read.callsite is not None and not read.callsite.same_line(call.callsite):
                return False
    return True


def _severity(call: CallEvent, dropped: Dropped) -> Severity:
    if call.does("shifts") or call.does("scales"):
        return "warning"  # arithmetic of bytes that wraps, which checksums mean
    if dropped.kind in ("range", "precision") or (dropped.largest or 0) <= 1:
        return "silent"
    return "warning" if dropped.scalar else "info"


def _hazard(story: Story, call: CallEvent, mutation: Mutation, dropped: Dropped) -> Hazard:
    site = call.callsite
    target = next((meta for meta in call.mutated if meta.tensor == mutation.tensor), TensorMetadata(0, None))
    variable = story.bindings.written_name(call, mutation.tensor) or story.bindings.name(mutation.tensor)
    example = _example(dropped)
    if dropped.kind == "fraction":
        message = _(
            "{line} cut off fractions: {tensor} holds {dtype}, and {count} of {all} values written to it were no whole "
            "numbers ({example}). PyTorch gives no error."
        )
        fix = _(
            "Make the tensor of floating point (`dtype=torch.float32`, or leave the dtype out); where whole numbers "
            "are meant, say how: `.round()`, `.floor()`, `.long()`."
        )
    elif dropped.kind == "precision":
        message = _(
            "{line} rounded what it wrote by more than its fraction: {tensor} holds {dtype}, which has no fractions of "
            "numbers so large ({example}). PyTorch gives no error."
        )
        fix = _("Keep the difference to a start (`t - t0`), or give the tensor `dtype=torch.float64`.")
    else:
        message = _(
            "{line} wrote numbers that {tensor} cannot hold: it holds {dtype}, and {count} of {all} values were beyond "
            "its range ({example}), so they became others. PyTorch gives no error."
        )
        fix = _("Give the tensor a dtype with room for them, or bring the values into its range first (`.clamp(…)`).")
    return finding(
        CODE,
        "silent",
        message=message.format(
            line=wording.spot(site),
            tensor=f"`{variable}`" if variable else _("the tensor"),
            dtype=f"`{target.dtype}`",
            count=dropped.values,
            all=dropped.among,
            example=example,
        ),
        fix=fix,
        variable=variable,
        origin=_made_at(story, mutation),
        tensor=mutation.tensor,
        write=call,
    )


def _example(dropped: Dropped) -> str:
    value = dropped.example
    if dropped.kind == "fraction" and value is not None:
        return f"{value:.6g} → {int(value)}"
    return f"{value:.6g}" if value is not None else ""


def _made_at(story: Story, mutation: Mutation) -> Callsite | None:
    maker = story.maker_of_storage(mutation.storage)
    return maker.callsite if maker is not None else None


RULE = Rule(check)
