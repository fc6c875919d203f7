"""What each call did to which tensor, in the words of a reader: created, viewed, mutated, reshaped, returned.

A call's ``kind`` is one word for the whole call. A line such as ``a, b = f(x)`` can give a view, a new tensor and the
same tensor at once, so tables and pictures are made from these rows: one row for each tensor that a call touched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.filled import filled

EffectKind = Literal["created", "viewed", "mutated", "reshaped", "returned"]
"""``created``: new storage. ``viewed``: another tensor on the storage of an input. ``mutated``: the same tensor,
written. ``reshaped``: the same tensor with other shape, strides or storage, data untouched. ``returned``: an input,
unchanged."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What one call did to one tensor."""

    call: int
    kind: EffectKind
    tensor: int
    before: TensorMetadata | None
    """The tensor as it was when the call began; None when it did not exist, or was not given to the call."""
    after: TensorMetadata | None
    """The tensor as it was when the call returned; None when that was not recorded."""
    version_before: int | None
    """The version before the call; None when there was none or it is unknown."""
    version_after: int | None
    """The version after the call; None when it is unknown."""
    mutation: Mutation | None = None
    base: TensorMetadata | None = None
    """For a view: the input whose storage it shares."""


_effect = filled(Effect)


def effects_of(call: CallEvent) -> tuple[Effect, ...]:
    """Return one row per tensor that the call wrote or gave back: the written ones first, then the outputs in their
    order."""
    inputs = {given.tensor: given for given in call.inputs}
    if len(call.outputs) == 1 and not call.mutations:  # most calls
        return (_of_output(call, call.outputs[0], inputs),)
    returned = {given.tensor: given for given in (*call.outputs, *call.mutated)}
    rows = [
        _effect(
            call=call.index,
            kind="reshaped" if call.kind == "metadata" else "mutated",
            tensor=mutation.tensor,
            before=inputs.get(mutation.tensor),
            after=returned.get(mutation.tensor),
            version_before=mutation.version_before,
            version_after=mutation.version_after,
            mutation=mutation,
        )
        for mutation in call.mutations
    ]
    touched = {mutation.tensor for mutation in call.mutations}
    for output in call.outputs:
        if output.tensor not in touched:
            touched.add(output.tensor)
            rows.append(_of_output(call, output, inputs))
    return tuple(rows)


def _of_output(call: CallEvent, output: TensorMetadata, inputs: dict[int, TensorMetadata]) -> Effect:
    before = inputs.get(output.tensor)
    if before is not None:
        same = (before.shape, before.strides, before.storage) == (output.shape, output.strides, output.storage)
        kind: EffectKind = "returned" if same else "reshaped"
        return _effect(call.index, kind, output.tensor, before, output, before.version, output.version)
    base = _base(call, output, inputs)
    # The storage decides where it is known; the call's own kind speaks for tensors without one (sparse, functorch).
    viewed = base is not None if output.storage is not None else call.kind == "view"
    made: EffectKind = "viewed" if viewed else "created"
    return _effect(call.index, made, output.tensor, None, output, None, output.version, base=base)


def _base(call: CallEvent, output: TensorMetadata, inputs: dict[int, TensorMetadata]) -> TensorMetadata | None:
    if output.storage is not None:
        return next((given for given in inputs.values() if given.storage == output.storage), None)
    return call.inputs[0] if call.kind == "view" and call.inputs else None


def is_own_write(call: CallEvent) -> bool:
    """True if a line of the user's wrote in place: by a call of its own, or by one that was told to, as the ``F.relu``
    of an ``nn.ReLU(inplace=True)`` is. What layers, initialisation and optimizers do besides is not the line's."""
    asked = call.callsite is not None and (call.callsite.direct or call.does("takes a flag"))
    return call.kind == "in-place" and asked


def count_writes(calls: Iterable[CallEvent]) -> tuple[int, int]:
    """How many calls wrote in place by the user's lines, and how many others did."""
    written = [(is_own_write(call), call.passes) for call in calls if call.kind == "in-place"]
    own = sum([passes for mine, passes in written if mine])
    return own, sum([passes for _mine, passes in written]) - own
