"""A tensor that autograd saved for backward was overwritten before backward used it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes import inplace_false, new_tensor, refused, step_advice
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.hazards.rules.overwritten_words import (
    CODE,
    Stale,
    of_a_known_save,
    of_an_unseen_save,
    of_another_thread,
)
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.record.refusal import Refusal


def check(story: Story) -> Iterator[Hazard]:
    """Yields the saver that backward failed on, then those on which a backward still to come will fail."""
    named: set[tuple[int, int]] = set()
    for call, refusal in story.refusals():
        if refusal.kind != "saved tensor changed":
            continue
        if call is None:  # every backward of this thread is a recorded call
            yield of_another_thread()
            continue
        stale = _failing(story, call, refusal)
        if stale is None:
            yield of_an_unseen_save(story, call, _only_write(story, call.index, refusal), refusal)
        elif stale.key not in named:  # else the same backward tried again
            named.add(stale.key)
            yield of_a_known_save(story, stale, refusal.found, raised=True)
    yield from _will_raise(story, named)


def _failing(story: Story, call: CallEvent, refusal: Refusal) -> Stale | None:
    """Return the saved tensor that the message speaks of: reached by this backward, at these versions, of this shape;
    of several, the one that the engine comes to first, since it goes from the youngest node to the oldest."""
    end, expected, found = call.index, refusal.expected, refusal.found
    reached = story.reached_by(end) if end in story.backwards else None
    met = (stale for stale in _all_stale(story, end, expected) if reached is None or stale.node.node in reached)
    fitting = [stale for stale in met if found is None or stale.writes[-1].after == found]
    if fitting:
        return max(fitting, key=lambda it: (it.saved.shape == refusal.shape, it.node.sequence or 0, -it.saved.node))
    unseen = (*_wrapped_stale(story, end, expected, found), *_changed_unseen(story, end, expected, found))
    hidden = [stale for stale in unseen if reached is None or stale.node.node in reached]
    return hidden[0] if len(hidden) == 1 else None


def _only_write(story: Story, end: int, refusal: Refusal) -> Write | None:
    """For an error without a known saver: the write that made a tensor leave the expected version. It counts only if it
    is the only one for a tensor of the size, and then of the node, in PyTorch's message."""
    fitting, exactly = [], []
    expected, shape = refusal.expected, refusal.shape
    for counter, writes in story.writes.items():
        before = [write for write in writes if write.at < end]
        if not before or before[-1].after != refusal.found or expected is None or shape is None:
            continue
        if not _may_be_output_of(story, before[-1], refusal.node):
            continue
        sizes = [story.observations[tensor].shape for tensor in story.tensors_counted_by.get(counter, ())]
        first = [write for write in before if write.before == expected]
        if any(math.prod(size) >= math.prod(shape) for size in sizes if size is not None):
            fitting += first
        if shape in sizes:
            exactly += first
    likely = exactly or fitting
    return likely[0] if len(likely) == 1 else None


def _may_be_output_of(story: Story, write: Write, node: str | None) -> bool:
    """True if the tensor can be what the message calls ``output 0 of Add``; of a tensor without a node it says no such
    thing."""
    if write.call is None or write.mutation is None:
        return True
    after = next((meta for meta in write.call.mutated if meta.tensor == write.mutation.tensor), None)
    if after is None or after.is_view:
        return True
    if after.node is None:
        return node is None or not after.is_leaf
    made = story.nodes.get(after.node)
    return made is None or (node is not None and wording.forward_name(made.name) == wording.forward_name(node))


def _wrapped_stale(story: Story, end: int, expected: int | None, found: int | None) -> Iterator[Stale]:
    """Savers that torch hides: an in-place op on a view becomes a ``CopySlices`` node around the op's own node, whose
    saved tensors cannot be read. What it saved is what it wrote, at the version that the write made."""
    for node in story.trace.nodes:
        call = story.calls.get(node.call) if node.does("writes a part") else None
        if call is not None and call.does("saves nothing"):
            continue
        for mutation in call.mutations if call is not None else ():
            if expected not in (mutation.version_before, mutation.version_after):
                continue
            saved = SavedTensor(node.node, "", mutation.storage, mutation.counter, expected, mutation.tensor)
            writes = story.writes_after(saved, expected, end)
            if expected is not None and writes and writes[-1].after == found:
                yield Stale(saved, node, expected, writes)


def _changed_unseen(story: Story, end: int, expected: int | None, found: int | None) -> Iterator[Stale]:
    """Saved at the version that the message names, and of another content when this backward began: somebody wrote it
    whom the watch does not see, such as another thread."""
    for saved in story.saved:
        if expected is None or saved.version != expected or saved.changed != end:
            continue
        if not story.writes_after(saved, expected, end):
            yield Stale(saved, story.nodes[saved.node], expected, [Write(expected, found, end)])


def _all_stale(story: Story, end: int, expected: int | None = None, *, pending: bool = False) -> Iterator[Stale]:
    """Yield what was saved at a known version (or, from before the watch, at the version that the message names) and
    written before call `end` began; with `pending`, by nodes that a backward could still use."""
    for saved in story.saved:
        if not saved.guarded or saved.counter not in story.writes or (pending and not story.nodes[saved.node].pending):
            continue
        version = saved.version if saved.version is not None else (None if saved.hooked else expected)
        if version is None or (expected is not None and version != expected):
            continue
        writes = story.writes_after(saved, version, end)
        if writes:
            yield Stale(saved, story.nodes[saved.node], version, writes)


def _will_raise(story: Story, named: set[tuple[int, int]]) -> Iterator[Hazard]:
    groups: dict[tuple[Callsite | None, bool], list[Stale]] = {}
    for stale in _all_stale(story, len(story.trace.calls), pending=True):
        if stale.key in named:
            continue
        written = stale.written(story)  # a leaf: a parameter, a buffer, data; not an activation of this forward pass
        if written is not None and written.is_leaf and not story.has_live_scalar(stale.node):
            continue  # no loss in sight: a forward pass to look at, or to let BatchNorm collect its statistics
        is_parameter = written is not None and written.is_trainable
        if story.another_backward_is_meant(stale.node, stale.culprit.at, is_parameter=is_parameter):
            groups.setdefault((stale.culprit.site, is_parameter), []).append(stale)
    raised_at = {story.calls[at].callsite for _, at in named if at in story.calls}
    failed = _reached_by_the_failed(story)
    for (site, is_parameter), group in groups.items():
        if is_parameter and site in raised_at:
            continue  # the same step() that already failed: its other parameters are the same mistake
        first = max(group, key=lambda stale: stale.node.sequence or 0)
        hazard = of_a_known_save(story, first, first.writes[-1].after, raised=False)
        # A backward will come to a loss; to a sample perhaps, and where the program ended, to no graph but its own.
        meant = story.has_live_scalar(first.node) and (failed is None or first.node.node in failed)
        yield hazard if meant else replace(hazard, severity="warning")


def _reached_by_the_failed(story: Story) -> set[int] | None:
    """Return the nodes to which the backwards that raised would have come; None where none raised."""
    failed = [call.index for call, _ in story.refusals() if call is not None and call.index in story.backwards]
    return set().union(*map(story.reached_by, failed)) if failed else None


_CURES = Cures(ways=(refused.version_moved,), advice=(step_advice.advice, inplace_false.advice, new_tensor.advice))
RULE = Rule(CODE, "error", check, {CODE: _CURES})
