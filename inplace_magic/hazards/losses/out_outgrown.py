"""A result was larger than the part of a tensor that was to take it, and ran over what stands beside it.

A tensor given as ``out=`` is resized where the result has another shape
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.resize_.html: the elements of the storage are kept and
shown in the new shape). Of a row of a table that means the rows behind it; PyTorch warns once, in a process that shows
warnings.

Bad::

    torch.square(record, out=table[i])      # record has 6 values, a row has 4

Good::

    table[i] = record[:4].square()

Told from the record alone: a call wrote a tensor that has more elements afterwards, on memory that other tensors show
as well. Silent for ``resize_`` and its like, which are called to do so, and for a tensor that has its memory to itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, TensorMetadata

CODE = "out-outgrown"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place."""
    seen = set()
    for call in story.writing:
        if call.error is not None or not call.mutated or call.does("method") or call.callsite in seen:
            continue
        for given in call.inputs:
            after = _grown(call, given)
            if after is not None and _is_shared(story, given):
                seen.add(call.callsite)
                yield _hazard(story, call, given, after)
                break


def _grown(call: CallEvent, given: TensorMetadata) -> TensorMetadata | None:
    """What a written tensor became, where that has more elements; Paddle gives it another object."""
    written = any(mutation.tensor == given.tensor for mutation in call.mutations)
    for after in (*call.mutated, *call.outputs) if written and given.storage is not None else ():
        if after.storage == given.storage and after.offset == given.offset and _elements(after) > _elements(given):
            return after
    return None


def _elements(meta: TensorMetadata) -> int:
    return math.prod(meta.shape) if meta.shape is not None else 0


def _is_shared(story: Story, meta: TensorMetadata) -> bool:
    return len(story.bindings.by_storage.get(meta.storage, ())) > 1 if meta.storage is not None else False


def _hazard(story: Story, call: CallEvent, given: TensorMetadata, after: TensorMetadata) -> Hazard:
    name = story.bindings.written_name(call, after.tensor) or story.bindings.name(after.tensor)
    return finding(
        CODE,
        "silent",
        message=_(
            "{line} gave a result of {after} elements to {tensor}, which has {before} and shares its memory: what "
            "stands behind it was overwritten. PyTorch only warns."
        ).format(
            line=wording.spot(call.callsite),
            tensor=f"`{name}`" if name else _("a tensor"),
            before=_elements(given),
            after=_elements(after),
        ),
        fix=_(
            "Bring the result to the size of its place first, or assign it (`x[i] = …`), which refuses another size."
        ),
        variable=name,
        tensor=after.tensor,
        write=call,
    )


RULE = Rule(check)
