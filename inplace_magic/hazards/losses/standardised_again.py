"""Values were centred or scaled in place by what was measured of them, and then once more by the same measure.

Whoever keeps ``mean`` and ``std`` of a table to use them again expects the table as it was. Where the first use wrote
the table, the second one works on values that have it behind them.

Bad::

    mean, std = table.mean(0), table.std(0)
    table -= mean
    table /= std
    scores = ((table - mean) / std) @ axes      # a second time

Good::

    mean, std = table.mean(0), table.std(0)
    scores = ((table - mean) / std) @ axes

Told from the record alone: a tensor was computed from another one, that other one was divided by it in place or had it
subtracted, and another line then did the same to the same tensor with the same measure. Silent where the values were
written by anything else in between, as when they are scaled back.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

CODE = "standardised-again"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    written: dict[tuple[int, int, str], CallEvent] = {}
    told: set[Callsite | None] = set()
    for call in story.trace.calls:
        if not call.mutations and not written:
            continue
        pair = _pair(call)
        first = written.get(pair) if pair is not None else None
        if first is not None and first.callsite not in told and _is_another_line(first, call):
            told.add(first.callsite)
            yield _hazard(story, first, call)
        if call.mutations and not (call.does("subtracts or divides") and call.kind == "in-place"):
            tensors = {mutation.tensor for mutation in call.mutations}
            written = {key: write for key, write in written.items() if key[0] not in tensors}
        elif call.mutations and pair is not None and _is_measured(story, *pair[:2], call.index):
            written.setdefault(pair, call)


def _pair(call: CallEvent) -> tuple[int, int, str] | None:
    """What a call of two tensors works on, what by, and the operation, which is the same in place and not."""
    if len(call.inputs) != 2 or call.error is not None or not (call.mutations or call.does("has a form in place")):
        return None
    one, other = call.inputs
    return (one.tensor, other.tensor, call.operation.rstrip("_")) if one.tensor != other.tensor else None


def _is_another_line(first: CallEvent, call: CallEvent) -> bool:
    one, other = first.callsite, call.callsite
    return one is not None and other is not None and not one.same_line(other)


def _is_measured(story: Story, tensor: int, measure: int, before: int) -> bool:
    """Whether a tensor was computed from another one alone."""
    maker = story.innermost_new(measure, before)
    return maker is not None and maker.kind == "ordinary" and {meta.tensor for meta in maker.inputs} == {tensor}


def _hazard(story: Story, first: CallEvent, call: CallEvent) -> Hazard:
    tensor, measure = (meta.tensor for meta in first.inputs)
    name = story.bindings.written_name(first, tensor)
    by = story.bindings.name(measure)
    return finding(
        CODE,
        "warning",
        message=_(
            "{again} does to {tensor} what {write} had done to it in place, with the same {measure}, which was "
            "measured before. PyTorch gives no error."
        ).format(
            again=wording.spot(call.callsite),
            write=wording.spot(first.callsite),
            tensor=f"`{name}`" if name else _("a tensor"),
            measure=f"`{by}`" if by else _("measure"),
        ),
        fix=_(
            "Work on a copy where it is written first, or use the values that were written and not the measure again."
        ),
        variable=name,
        read=call,
        tensor=tensor,
        write=first,
    )


RULE = Rule(check)
