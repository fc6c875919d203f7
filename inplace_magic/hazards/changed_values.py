"""Values that autograd saved and that were changed without moving their version, and the backward that used them.

And results that were written through ``.data`` before they were used. ``h.data[h < 0.5] = 0`` and ``h[h < 0.5] = 0``
give the same forward pass and other gradients: PyTorch records the second write, and sends no gradient back to the
overwritten elements; of the first one it knows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis import put_back
from inplace_magic.analysis.accesses import Write, write_by, write_of
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.rule import Found, Row
from inplace_magic.language import N_
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.source.chains import class_around


def written_past_autograd(story: Story) -> Iterator[Found]:
    """Yield each write of a result that was used afterwards and that a backward went through."""
    given = ((call.inputs[0], call.outputs) for call in story.doing("gives data") if call.inputs)
    behind = {output.tensor: source for source, outputs in given if source.node is not None for output in outputs}
    for call in story.in_place:
        for mutation in call.mutations if call.error is None else ():
            result = behind.get(mutation.tensor)
            if result is None or mutation.changed_nothing:
                continue
            reads = ((each, _used_by(story, call, each)) for each in _with_bases(story, result))
            used, read = next(((each, read) for each, read in reads if read is not None), (result, None))
            if read is None or _put_back(story, behind, result, read):
                continue
            if not read.does("normalises scores"):
                variable = story.bindings.written_name(call, mutation.tensor) or story.bindings.name(used.tensor)
                words = {"node": story.nodes[used.node].name if used.node is not None else ""}
                yield Found({"write": call, "read": read}, mutation.tensor, variable, words)


def _with_bases(story: Story, result: TensorMetadata) -> Iterator[TensorMetadata]:
    """Yield a result, and if it is a view what it is a view of: ``z[0].data *= 2`` writes into ``z``."""
    while result.node is not None:
        yield result
        made = story.calls.get(story.nodes[result.node].call)
        if made is None or made.kind != "view" or made.inputs[0].storage != result.storage:
            break
        result = made.inputs[0]


def _put_back(story: Story, behind: dict[int, TensorMetadata], result: TensorMetadata, read: CallEvent) -> bool:
    """True if the last of several such writes before the read gave the tensor its old values again, as finite
    differences do; of large tensors, whose values are not recorded, whether it can have."""
    place = result.storage, result.offset
    same = {tensor for tensor, meta in behind.items() if (meta.storage, meta.offset) == place}
    earlier = (call for call in story.writing if call.index < read.index and call.error is None)
    writes = [(call, mutation) for call in earlier for mutation in call.mutations if mutation.tensor in same]
    (_, first), (last, latest) = writes[0], writes[-1]
    if first.values_before is not None and latest.values_after is not None:
        return first.values_before == latest.values_after
    return len(writes) > 1 and last.does("copies in")


def _used_by(story: Story, write: CallEvent, result: TensorMetadata) -> CallEvent | None:
    """Return the first call after the write that computed something with the result, if a backward came from there to
    what had made it."""
    node = result.node
    ran = story.ran_through.get(node, ()) if node is not None else ()
    if node is None or not any(at > write.index for at in ran):
        return None
    for call in story.given_to.get(result.tensor, ()):
        used = [output.node for output in call.outputs if output.node is not None]
        if call.index > write.index and any(node in story.reached([number]) for number in used):
            return call if any(at > call.index for number in used for at in story.ran_through.get(number, ())) else None
    return None


PAST_AUTOGRAD = Row(
    "saved-values-changed",
    "warning",
    written_past_autograd,
    message=N_(
        "{write} overwrote {tensor} through `.data`, and {read} uses the new values. PyTorch did not record that "
        "write. Backward continues to {node} as if the write had not happened: the old values get the gradient of the "
        "new ones, without an error."
    ),
    fix=N_(
        "Let PyTorch record it: {write_code} without `.data`, on a copy (`clone()`), or `torch.where`. If the gradient "
        "is to pass as if nothing was written, say so: `x + (new - x).detach()`."
    ),
)


def first_change(story: Story, saved: SavedTensor, node: AutogradNode) -> Write | None:
    """Return the first write after a node saved a tensor that changed its values and that PyTorch did not notice."""
    if saved.hooked:
        return None
    if saved.storage is None:
        return _through_data(story, saved, node)
    replaced = _data_replaced(story, saved, node) if story.data_setters else None
    # What was written while a backward ran was compared only before that.
    compared = saved.checked and saved.changed is None and saved.storage not in story.written_within_backward
    if replaced is not None or compared:
        return replaced
    saver, _site = story.saver_site(node)
    since = saver.index if saver is not None else node.call
    if since is None:
        return None
    saving = story.calls.get(since)
    if saved.role == "statistics" and saving is not None and any(m.storage == saved.storage for m in saving.mutations):
        return None  # BatchNorm in training: it writes its statistics, and its backward does not read them
    restoring = story.restorations.get(saved.storage, ())
    silent = ((call, write) for call, write in story.silent_writes(saved, since) if not write.changed_nothing)
    written = list(put_back.changes(restoring, region_of(saved), silent))
    changes = [write_by(one.call, one.mutation) for one in written if _used_within(story, node, one)][:1]
    changes += [write for write in story.writes_between(saved.storage, since) if write.foreign is not None]
    if not written and not changes and saved.changed is not None and not story.writes_after(saved, saved.version):
        noticed = story.calls.get(saved.changed)
        if noticed is None or not noticed.was_refused("saved tensor changed"):  # else PyTorch did notice
            changes.append(write_of(None, None, saved.changed))
    return min(changes, key=lambda change: change.at) if changes else None


def _used_within(story: Story, node: AutogradNode, change: put_back.Change) -> bool:
    """True if a backward can have met the changed values: one that ran before they were put back, if they were."""
    uses = story.ran_through.get(node.node, ())
    within = change.call.parent is not None
    return change.until is None or within or any(change.call.index <= use < change.until for use in uses)


def _through_data(story: Story, saved: SavedTensor, node: AutogradNode) -> Write | None:
    """Under ``torch.func``, where no tensor has memory of its own: a write of what ``.data`` gave of the saved one."""
    if saved.tensor is None or node.call is None:
        return None
    for tensor in story.data_of.get(saved.tensor, ()):
        for call, mutation in story.writes_to_tensor.get(tensor, ()):
            if call.index > node.call and mutation.counter != saved.counter:
                return write_by(call, mutation)
    return None


def _data_replaced(story: Story, saved: SavedTensor, node: AutogradNode) -> Write | None:
    """``w.data = other`` gives the very tensor that was saved other memory."""
    for call in story.data_setters.get(saved.tensor, ()) if saved.tensor is not None else ():
        if node.call is not None and call.index > node.call and call.inputs[0].storage == saved.storage:
            return write_of(None, None, call.index, call, None, call.callsite)
    return None


def used_after(story: Story, node: AutogradNode, change: Write, saved: SavedTensor) -> int | None:
    """The backward that used the changed values: one that ran, or the end of the watch where one is still meant."""
    if change.call is not None and change.call.parent is not None and _comes_after(story, node, change.call):
        return change.call.parent
    for index in story.ran_through.get(node.node, ()):
        if not saved.guarded and not _read_within(story, saved, index):
            continue  # the user's own `backward` may well not need it
        if index >= change.at and (saved.changed is None or saved.differs_at(index)):
            return index
    if not saved.guarded or (saved.changed is not None and not saved.differs_at(None)):
        return None
    if saved.storage in story.trained_memories and (story.backwards_run or not story.has_live_scalar(node)):
        return None  # a parameter is set: its graph is that of a look at the model, or of what a wrapper made once
    written = story.observations.get(change.mutation.tensor if change.mutation is not None else saved.tensor)
    is_parameter = written is not None and written.is_trainable
    if node.pending and story.another_backward_is_meant(node, change.at, is_parameter=is_parameter):
        return len(story.trace.calls)
    return None


def _read_within(story: Story, saved: SavedTensor, backward: int) -> bool:
    """True if a call inside a backward computed something from the memory that was saved."""
    inside = (call for call in story.nested if call.parent == backward and call.kind != "query")
    return any(meta.storage == saved.storage for call in inside for meta in call.inputs)


def _comes_after(story: Story, node: AutogradNode, call: CallEvent) -> bool:
    """True if `call` wrote in the ``backward`` of a custom ``Function`` and `node` lies behind that function's node:
    the same backward came to it afterwards."""
    nodes = story.went_through(call.parent)
    owner = class_around(call.callsite, "backward")
    if owner is None:
        return False
    name = f"{owner.rpartition('.')[2]}Backward"
    running = {number for number in nodes if story.nodes[number].name == name}
    return node.node in nodes and node.node in story.reached(running) and node.node not in running
