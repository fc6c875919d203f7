"""A tensor was written by way of a view of it, or of what it is a view of, and the gradient of what was read from it
afterwards knows nothing of the write. Paddle only.

When a view is written in place, PyTorch writes that into the history of the tensor behind it and of its other views.
Paddle does not: each tensor object keeps the ``grad_fn`` that it had, although all of them show the new values. So a
backward through the other object goes past the write, and the gradient is wrong without an error
(https://www.paddlepaddle.org.cn/documentation/docs/en/guides/beginner/tensor_en.html#view; Paddle issue 79146).

Bad::

    h = x * 1.5
    h[0:2].scale_(8.0)              # writes a view; `h` shows it, the history of `h` does not
    h.sum().backward()              # as if nobody had scaled

Good::

    h = x * 1.5
    h[0:2] = h[0:2] * 8.0           # writes `h` itself
    h.sum().backward()

``rows[0][1] = 0`` is the same: ``rows[0]`` is a view, and that view is written; ``rows[0, 1] = 0`` writes `rows`. A
view of a parameter that is written outside ``paddle.no_grad()`` belongs here too: Paddle refuses the write of a leaf,
and not that of its view.

Told from the record alone: a recorded write of one tensor, later a recorded read of those elements by another tensor on
the same memory whose own history is older than the write, and a backward through that read. Silent for writes that only
change a shape, for disjoint elements, under ``paddle.no_grad()``, and where a constant was added, which changes no
gradient.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.places import Callsite

CODE = "history-missed"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place."""
    if story.trace.framework != "paddle":
        return
    seen: set[Callsite | None] = set()
    for storage, every in story.writes_to_storage.items():
        writes = [(write, mutation) for write, mutation in every if _changes_gradients(write, mutation)]
        if not writes:
            continue
        reads = [call for call in story.trace.calls if any(given.storage == storage for given in call.inputs)]
        for write, mutation in writes:
            if write.callsite in seen:
                continue
            for read in reads:
                found = _misses(story, read, write, mutation) if read.index > write.index else None
                if found is not None:
                    seen.add(write.callsite)
                    yield _hazard(story, write, mutation, read, found)
                    break


def _changes_gradients(write: CallEvent, mutation: Mutation) -> bool:
    """Whether autograd recorded the write, and would give other gradients with it than without."""
    if write.kind != "in-place" or write.error is not None or not write.grad_enabled:
        return False
    after = next((meta for meta in write.mutated if meta.tensor == mutation.tensor), None)
    if after is None or after.node is None:
        return False
    others = (given for given in write.inputs if given.tensor != mutation.tensor)
    return not write.does("shifts") or any(given.requires_grad for given in others)


def _misses(story: Story, read: CallEvent, write: CallEvent, mutation: Mutation) -> TensorMetadata | None:
    """The input of a call by which it reads the written elements past the write, on the way of a backward."""
    if read.error is not None or read.kind == "metadata" or not _is_on_the_way(story, read):
        return None
    for given in read.inputs:
        if given.storage != mutation.storage or given.tensor == mutation.tensor or not given.requires_grad:
            continue
        node = story.nodes.get(given.node) if given.node is not None else None
        if not given.is_leaf and (node is None or (node.call is not None and node.call >= write.index)):
            continue
        if read.does("overwrites") and given is read.inputs[0]:
            continue
        part = read.outputs[0] if read.kind == "view" and read.outputs else given
        if may_meet(region_of(part), reach_of_write(write, mutation)):
            return given
    return None


def _is_on_the_way(story: Story, read: CallEvent) -> bool:
    """Whether a backward went through the node that the call made."""
    made = (meta.node for meta in (*read.outputs, *read.mutated) if meta.node is not None)
    return any(
        node.call == read.index and story.ran_through.get(node.node) for node in map(story.nodes.__getitem__, made)
    )


def _hazard(story: Story, write: CallEvent, mutation: Mutation, read: CallEvent, given: TensorMetadata) -> Hazard:
    name = story.bindings.name(given.tensor)
    written = story.bindings.written_name(write, mutation.tensor) or story.bindings.name(mutation.tensor)
    other = f"`{name}`" if name else _("another tensor on that memory")
    if written is None:
        wrote = _("a view without a name")
    elif written == name:
        wrote = _("a view of `{name}`").format(name=name)
    else:
        wrote = f"`{written}`"
    message = _(
        "{write} wrote {written}, and {read} then reads the new values by way of {other}, whose history is older: "
        "Paddle does not rewrite the history of a tensor when one of its views is written, or the other way round. So "
        "backward goes past that write, and the gradient is wrong. Paddle gives no error."
    )
    return Hazard(
        code=CODE,
        severity="silent",
        message=message.format(
            write=wording.spot(write.callsite),
            written=wrote,
            read=wording.spot(read.callsite),
            other=other,
        ),
        fix=_(
            "Write through the tensor that is read later, in one step (`h[0:2] = h[0:2] * 8` for `h[0:2].scale_(8)`, "
            "`rows[0, 1] = 0` for `rows[0][1] = 0`), or read only the one that was written."
        ),
        variable=name or written,
        mutation=write.callsite,
        read=read.callsite,
        read_call=read.index,
        tensor=mutation.tensor,
        call=write.index,
    )


RULE = Rule(check)
