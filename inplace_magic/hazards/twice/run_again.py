"""What backward computes again, as ``checkpoint`` does, gives other values or makes an update once more.

The function was computed first from other values than in backward, so the gradient is wrong; or a write of the forward
runs again in the recomputation, on top of what it had left.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.fixes.new_tensor import bound_anew
from inplace_magic.hazards.fixes.reorder import reordered
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.engine import is_there_to_be_written, writes_of
from inplace_magic.hazards.rule import At, Calls, Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.places import Callsite

CODE = "recomputed-with-other-values"

_RUN_AGAIN = ("checkpoint", "recompute")
"""What stands in the call of a function that is run again in backward: PyTorch's word, and Paddle's."""

_Place = tuple[str, str, int, int | None, int | None, str | None]


def from_outside(story: Story) -> Iterator[Found]:
    """Yield the writes, from outside of a checkpointed function, of what both its runs read."""
    for backward, pairs in story.once(_recomputed).items():
        places = {place for again in pairs.values() if (place := _place(again)) is not None}
        for first, again in ((story.calls[index], again) for index, again in pairs.items()):
            for meta, write in _read_at_another_version(story, first, again, backward, places):
                variable = story.name_written_by(write) or story.bindings.name(meta.tensor)
                yield Found({"write": write, "first": first, "read": again}, meta.tensor, variable)


def from_inside(story: Story) -> Iterator[Found]:
    """Yield the writes of what an operation of the same checkpointed function had saved."""
    for pairs in story.once(_recomputed).values():
        for saver, saved, writer, mutation in _overwritten_inside(story, pairs):
            node = story.nodes[saved.node].name
            calls = {"write": writer, "save": saver}
            yield Found(calls, mutation.tensor, words={"node": node}, saved_by=node)


def _recomputed(story: Story) -> dict[int, dict[int, CallEvent]]:
    """For each backward, the calls of checkpointed functions that it ran again, by the index of their first run."""
    first: dict[_Place, list[CallEvent]] = {}
    found: dict[int, dict[int, CallEvent]] = {}
    placed = ((place, call) for call in story.trace.calls if (place := _place(call)) is not None)
    for place, call in placed if story.nested else ():
        if call.parent is None or _of_a_forward(story, call.parent):
            if _is_checkpointed(call.callsite):
                first.setdefault(place, []).append(call)
        elif call.parent in story.backwards and first.get(place):
            found.setdefault(call.parent, {})[first[place].pop().index] = call  # what ran last is needed first
    return found


def _of_a_forward(story: Story, parent: int) -> bool:
    """True if a call ran a custom function's forward, as Paddle's ``recompute`` is one."""
    call = story.calls.get(parent)
    return call is not None and call.operation == "apply" and call.parent is None


def _place(call: CallEvent) -> _Place | None:
    site = call.callsite
    return (call.name, site.function, site.line, site.column, site.cell, site.file) if site is not None else None


def _is_checkpointed(site: Callsite | None) -> bool:
    outer = site.chain[:-1] if site is not None else ()
    return any(word in place.expression for place in outer for word in _RUN_AGAIN)


def _read_at_another_version(
    story: Story, first: CallEvent, again: CallEvent, backward: int, places: set[_Place]
) -> Iterator[tuple[TensorMetadata, Write]]:
    """Yield the inputs that both runs read, and the write from outside of the function that came in between."""
    own = {mutation.tensor for mutation in first.mutations}
    for before, after in zip(first.inputs, again.inputs, strict=False):
        if before.tensor != after.tensor or before.tensor in own or before.version == after.version:
            continue
        for write in story.writes_between(before.storage, first.index, backward):
            inside = write.call is not None and _place(write.call) in places
            same = write.mutation is not None and write.mutation.changed_nothing
            if write.site is not None and not inside and not same:
                yield before, write
                break


def _overwritten_inside(
    story: Story, pairs: dict[int, CallEvent]
) -> Iterator[tuple[CallEvent, SavedTensor, CallEvent, Mutation]]:
    """Yield what an operation of the function saved and the function then wrote, where both run again."""
    for saved in story.trace.saved:
        node = story.nodes[saved.node]
        saver = story.calls.get(node.call) if node.call is not None and node.call in pairs else None
        kept = _kept(saver, saved) if saver is not None and saved.hooked else None
        if saver is None or kept is None or kept.storage is None:
            continue
        for writer, mutation in story.writes_to_storage.get(kept.storage, ()):
            if writer.index > saver.index and writer.index in pairs and mutation.counter == kept.counter:
                yield saver, saved, writer, mutation
                break


def _kept(saver: CallEvent, saved: SavedTensor) -> TensorMetadata | None:
    """Return what a node saved, told by its role in the call: under a checkpoint the node does not tell it."""
    if saved.role == "result":
        return saver.outputs[0] if saver.outputs else None
    position = {"first input": 0, "second input": 1}.get(saved.role or "", len(saver.inputs))
    return saver.inputs[position] if position < len(saver.inputs) else None


def _inside_or_after(write: Written) -> Fix | None:
    """Inside the checkpointed function a new tensor; outside of it the write after backward."""
    return bound_anew(write) if write.hazard.saved is not None else reordered(write)


def updated_again(story: Story) -> Iterator[Found]:
    """Yield the writes that a backward ran again, and that build on what they wrote in the forward."""
    before: dict[tuple[int | None, str], CallEvent] = {}
    for call, mutation in writes_of(story.writing):
        key, parent = (mutation.storage, call.name), call.parent
        backward = story.calls.get(parent) if parent is not None and parent in story.backwards else None
        if call.does("repeatable"):
            continue
        if backward is None:
            before[key] = call
            continue
        first = before.get(key)
        if first is None or not _is_again(first, call, backward):
            continue
        if not is_there_to_be_written(story, mutation) and _matters(story, call, mutation):
            blamed = At(first, _blamed(first, call, backward))
            name = story.bindings.name(mutation.tensor) or story.bindings.written_name(call, mutation.tensor)
            yield Found({"line": blamed, "again": call, "backward": backward}, mutation.tensor, name)


def _is_again(first: CallEvent, call: CallEvent, backward: CallEvent) -> bool:
    """True if a call in a backward came by the same places and modules as one in the forward, below the line that began
    the backward."""
    if first.modules[len(first.modules) - len(call.modules) :] != call.modules:
        return False
    inner = _places(call.callsite)[len(_places(backward.callsite)) :]
    return _places(first.callsite)[-len(inner) :] == inner if inner else bool(call.modules)


def _places(site: Callsite | None) -> list[tuple[object, ...]]:
    return [(place.cell, place.file, place.function, place.line) for place in site.chain] if site is not None else []


def _matters(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """True if the line itself made the update; or the library did, and somebody reads what it updated, as BatchNorm
    does in evaluation."""
    if call.callsite is not None and call.callsite.direct:
        return True
    later = (read for read in story.given_memory(mutation.storage) if read.index > call.index and read.kind != "query")
    return any(all(other.storage != mutation.storage for other in read.mutations) for read in later)


def _blamed(first: CallEvent, call: CallEvent, backward: CallEvent) -> Callsite | None:
    """Return the line that made the update; where the library did, the one that had it recomputed."""
    site = first.callsite
    steps = len(_places(call.callsite)) - len(_places(backward.callsite)) if site and not site.direct else 0
    for _step in range(steps):
        site = site.caller if site is not None and site.caller is not None else site
    return site


RULES = rules_of(
    Row(
        CODE,
        "silent",
        from_outside,
        Calls(write="write"),
        message=N_(
            "{write} overwrote {tensor} after {first} had read it in a checkpointed function. Backward runs the "
            "function again, with the new values, and computes the gradient from these. PyTorch gives no error."
        ),
        fix=N_("Run backward before {write_code}, or pass the function a copy of the tensor as an argument."),
        ways=(_inside_or_after,),
    ),
    Row(
        CODE,
        "silent",
        from_inside,
        Calls(write="write", saved="save"),
        message=N_(
            "{tensor} was overwritten by {write} after {save} had saved it for backward, in {node}. Without the "
            "checkpoint PyTorch raises an error; with it PyTorch runs the function again, compares no versions, "
            "and computes the gradient from the new values."
        ),
        fix=N_("Make a new tensor in {write_code} instead of writing this one."),
        nameless=N_("A tensor"),
    ),
) + rules_of(
    Row(
        "updated-again",
        "silent",
        updated_again,
        Calls(also="again"),
        message=N_(
            "{line} updates {tensor} in the forward, and again when {backward} recomputes the function for its "
            "activations: each batch counts twice. PyTorch gives no error."
        ),
        fix=N_("Move the update out of the checkpointed function: do it before or after the call of `checkpoint`."),
        nameless=N_("a buffer"),
    ),
    every_call=True,
)
