"""Tensors that lost their history in place, or whose history knows nothing of a write."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.gradients.cures import detached_apart
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.places import Callsite


def cut(story: Story) -> Iterator[Found]:
    """Yield the calls that cut a tensor off its history for one of its uses, where others read it afterwards."""
    for call in story.doing("detaches itself"):
        tensor = call.inputs[0] if call.inputs else None
        site = call.callsite
        if call.error is not None or site is None or tensor is None or tensor.node is None:
            continue
        own = _is_bound_anew(story, call, site, tensor)
        if story.ran_through.get(tensor.node) or not (own or _is_handed_on(story, call, site, tensor)):
            continue
        for read in story.given_to.get(tensor.tensor, ()):
            inside = read.callsite is not None and own and read.callsite.is_below(site)
            apart = read.callsite is None or not read.callsite.same_statement(site)
            given = next(meta for meta in read.inputs if meta.tensor == tensor.tensor)
            without = given.node is None and not given.requires_grad
            if read.index > call.index and apart and not inside and without and _is_used(story, read, tensor.tensor):
                yield Found({"cut": call, "read": read}, tensor.tensor)
                break


def _is_handed_on(story: Story, call: CallEvent, site: Callsite, cut: TensorMetadata) -> bool:
    """True if the line takes the result for another tensor: it gives it another name, or hands it to a call."""
    if not site.direct or site.expression == site.statement:
        return False
    if site.targets is None:
        return True
    path = story.bindings.written_path(call, cut.tensor)
    return path is not None and path not in site.targets and "return" not in site.targets


def _is_bound_anew(story: Story, call: CallEvent, site: Callsite, cut: TensorMetadata) -> bool:
    """True if a function binds a parameter again, ``x = x.detach_()``, as if its caller's tensor stayed."""
    path = story.bindings.written_path(call, cut.tensor)
    return site.caller is not None and path in site.parameters and path in (site.targets or ())


def _is_used(story: Story, read: CallEvent, tensor: int) -> bool:
    """True if a backward ran through what a call made: of the tensor itself it would have gone on."""
    made = (meta.node for meta in (*read.outputs, *read.mutated) if meta.tensor != tensor)
    return any(node is not None and story.ran_through.get(node) for node in made)


def missed(story: Story) -> Iterator[Found]:
    """Yield the writes of Paddle's that the history of another tensor on that memory knows nothing of."""
    if story.trace.framework != "paddle":
        return
    for storage, every in story.writes_to_storage.items():
        writes = [(write, mutation) for write, mutation in every if _changes_gradients(write, mutation)]
        reads = [call for call in story.given_memory(storage) if _is_used(story, call, -1)] if writes else []
        for write, mutation in writes:
            later = ((read, _misses(story, read, write, mutation)) for read in reads if read.index > write.index)
            read, given = next((pair for pair in later if pair[1] is not None), (None, None))
            if read is not None and given is not None:
                yield _missed(story, write, mutation, read, given)


def _changes_gradients(write: CallEvent, mutation: Mutation) -> bool:
    """True if autograd recorded the write, and would give other gradients with it than without."""
    if write.kind != "in-place" or write.error is not None or not write.grad_enabled:
        return False
    after = next((meta for meta in write.mutated if meta.tensor == mutation.tensor), None)
    others = (given for given in write.inputs if given.tensor != mutation.tensor)
    changes = not write.does("shifts") or any(given.requires_grad for given in others)
    return after is not None and after.node is not None and changes


def _misses(story: Story, read: CallEvent, write: CallEvent, mutation: Mutation) -> TensorMetadata | None:
    """Return the input by which a call reads the written elements past the write."""
    if read.error is not None or read.kind == "metadata":
        return None
    for given in read.inputs:
        if given.storage != mutation.storage or given.tensor == mutation.tensor or not given.requires_grad:
            continue
        node = story.nodes.get(given.node)
        if not given.is_leaf and (node is None or (node.call is not None and node.call >= write.index)):
            continue
        overwritten = read.does("overwrites") and given is read.inputs[0]
        part = read.outputs[0] if read.kind == "view" and read.outputs else given
        if not overwritten and may_meet(region_of(part), reach_of_write(write, mutation)):
            return given
    return None


def _missed(story: Story, write: CallEvent, mutation: Mutation, read: CallEvent, given: TensorMetadata) -> Found:
    name = story.bindings.name(given.tensor)
    written = story.bindings.written_name(write, mutation.tensor)
    if written is None:
        wrote = _("a view without a name")
    else:
        wrote = _("a view of `{name}`").format(name=name) if written == name else f"`{written}`"
    words = {"written": wrote, "other": f"`{name}`" if name else _("another tensor on that memory")}
    return Found({"write": write, "read": read}, mutation.tensor, name or written, words)


RULES = rules_of(
    Row(
        "history-cut",
        "warning",
        cut,
        message=N_(
            "{cut} removes the history of {tensor} itself, and {read} then reads it: no gradient from there "
            "reaches what {tensor} was computed from. PyTorch gives no error."
        ),
        fix=N_("Use `detach()`, which gives another tensor and leaves this one as it is."),
        ways=(detached_apart,),
        badges=Badges(wrote=N_("cut off here"), read=N_("read without its history")),
    ),
    Row(
        "history-missed",
        "silent",
        missed,
        message=N_(
            "{write} wrote {written}, and {read} then reads the new values by way of {other}, whose history is older: "
            "Paddle does not rewrite the history of a tensor when one of its views is written, or the other way round. "
            "So backward goes past that write, and the gradient is wrong. Paddle gives no error."
        ),
        fix=N_(
            "Write through the tensor that is read later, in one step (`h[0:2] = h[0:2] * 8` for `h[0:2].scale_(8)`, "
            "`rows[0, 1] = 0` for `rows[0][1] = 0`), or read only the one that was written."
        ),
    ),
)
