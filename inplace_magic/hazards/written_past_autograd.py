"""A result was written through ``.data`` before it was used: the forward pass goes on with the new values, and backward
as if nobody had written.

``h.data[h < 0.5] = 0`` and ``h[h < 0.5] = 0`` give the same forward pass and other gradients: PyTorch records the
second write, and sends no gradient back to the overwritten elements; of the first one it knows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.language import _, sentences
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata


def found(story: Story, rule: str) -> Iterator[Hazard]:
    """Yields a finding for each write of a result that was used afterwards and that a backward went through."""
    behind = {
        output.tensor: call.inputs[0]
        for call in story.doing("gives data")
        if call.inputs and call.inputs[0].node is not None
        for output in call.outputs
    }
    for call in story.in_place:
        for mutation in call.mutations if call.error is None else ():
            result = behind.get(mutation.tensor)
            if result is None or _changed_nothing(mutation):
                continue
            read = _used_by(story, call, result)
            if read is None or _put_back(story, behind, result, read):
                continue
            if not read.does("normalises scores"):
                yield _hazard(story, rule, call, mutation, result, read)


def _changed_nothing(mutation: Mutation) -> bool:
    return mutation.values_before is not None and mutation.values_before == mutation.values_after


def _put_back(story: Story, behind: dict[int, TensorMetadata], result: TensorMetadata, read: CallEvent) -> bool:
    """Whether the last of several such writes before the read gave the tensor its old values again, as finite
    differences do; of large tensors, whose values are not recorded, whether it can have."""
    writes = [
        (call, mutation)
        for call in story.trace.calls
        if call.index < read.index and call.error is None
        for mutation in call.mutations
        if mutation.tensor in behind and behind[mutation.tensor].tensor == result.tensor
    ]
    (_, first), (last, latest) = writes[0], writes[-1]
    if first.values_before is not None and latest.values_after is not None:
        return first.values_before == latest.values_after
    return len(writes) > 1 and last.does("copies in")


def _used_by(story: Story, write: CallEvent, result: TensorMetadata) -> CallEvent | None:
    """The first call after the write that computed something with the result, if a backward came from there to what
    had made it."""
    node = result.node
    ran = story.ran_through.get(node, ()) if node is not None else ()
    if node is None or not any(at > write.index for at in ran):
        return None
    for call in story.given_to.get(result.tensor, ()):
        used = [output.node for output in call.outputs if output.node is not None]
        if call.index > write.index and any(node in story.reached([number]) for number in used):
            return call if any(at > call.index for number in used for at in story.ran_through.get(number, ())) else None
    return None


def _hazard(
    story: Story, rule: str, call: CallEvent, mutation: Mutation, result: TensorMetadata, read: CallEvent
) -> Hazard:
    variable = story.bindings.written_name(call, mutation.tensor) or story.bindings.name(result.tensor)
    made = story.nodes[result.node].name if result.node is not None else ""
    return finding(
        rule,
        "warning",
        message=sentences(
            _("{tensor} was overwritten by {write} through `.data`, and {read} goes on with the new values.").format(
                tensor=f"`{variable}`" if variable else _("A tensor"),
                write=wording.spot(call.callsite),
                read=wording.spot(read.callsite),
            ),
            _(
                "PyTorch did not record that write. Backward goes on to {node} as if it had not happened, so "
                "the gradient is wrong without an error."
            ).format(node=made),
        ),
        fix=_(
            "Let PyTorch record it: {line} without `.data`, on a copy (`clone()`), or `torch.where`. If the gradient "
            "is to pass as if nothing was written, say so: `x + (new - x).detach()`."
        ).format(line=wording.line_of(call.callsite)),
        variable=variable,
        read=read,
        tensor=mutation.tensor,
        write=call,
    )
