"""A tensor that autograd saved for backward was overwritten before backward used it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.analysis.tree.behind import module_behind
from inplace_magic.hazards import unseen, wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes import inplace_false, new_tensor, of_saved, step_advice
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.record.refusal import Refusal

CODE = "saved-tensor-overwritten"


@dataclass(frozen=True)
class _Stale:
    """Something saved at one version and written since."""

    saved: SavedTensor
    node: AutogradNode
    expected: int
    writes: Sequence[Write]

    @property
    def culprit(self) -> Write:
        return self.writes[0]


def check(story: Story) -> Iterator[Hazard]:
    """Yields the saver that backward failed on, then those on which a backward still to come will fail."""
    named: set[tuple[int, int]] = set()
    for call, refusal in story.refusals():
        if refusal.kind != "saved tensor changed":
            continue
        if call is None:  # every backward of this thread is a recorded call
            yield unseen.elsewhere(CODE)
            continue
        hazard, stale = _raised(story, call, refusal)
        if stale is not None:
            key = (stale.saved.counter or 0, stale.culprit.at)
            if key in named:
                continue  # the same backward tried again
            named.add(key)
        yield hazard
    yield from _will_raise(story, named)


def _raised(story: Story, call: CallEvent, refusal: Refusal) -> tuple[Hazard, _Stale | None]:
    expected, found = refusal.expected, refusal.found
    stale = _failing(story, call, refusal)
    if stale is None:
        write = _only_write(story, call.index, refusal)
        return unseen.hazard(CODE, story, call, write, expected, found), None
    return _hazard(story, stale, expected, found, raised=True), stale


def _failing(story: Story, call: CallEvent, refusal: Refusal) -> _Stale | None:
    """Return the saved tensor that the message speaks of: reached by this backward, at these versions, of this shape;
    of several, the one that the engine comes to first, since it goes from the youngest node to the oldest."""
    end, expected, found = call.index, refusal.expected, refusal.found
    backward = story.backwards.get(end)
    reached = story.reached(backward.roots) if backward is not None else None
    candidates = []
    for stale in _all_stale(story, end, expected):
        if reached is not None and stale.node.node not in reached:
            continue
        if found is not None and stale.writes[-1].after != found:
            continue
        candidates.append((stale.saved.shape == refusal.shape, stale.node.sequence or 0, -stale.saved.node, stale))
    if candidates:
        return max(candidates, key=lambda entry: entry[:3])[3]
    hidden = [
        stale
        for stale in (*_wrapped_stale(story, end, expected, found), *_changed_unseen(story, end, expected, found))
        if reached is None or stale.node.node in reached
    ]
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


def _wrapped_stale(story: Story, end: int, expected: int | None, found: int | None) -> Iterator[_Stale]:
    """Savers that torch hides: an in-place op on a view becomes a ``CopySlices`` node around the op's own node, whose
    saved tensors cannot be read. What it saved is what it wrote, at the version that the write made."""
    for node in story.trace.nodes:
        call = story.calls.get(node.call) if node.does("writes a part") and node.call is not None else None
        if call is not None and call.does("saves nothing"):
            continue
        for mutation in call.mutations if call is not None else ():
            if expected not in (mutation.version_before, mutation.version_after):
                continue
            saved = SavedTensor(node.node, "", mutation.storage, mutation.counter, expected, mutation.tensor)
            writes = story.writes_after(saved, expected, end)
            if expected is not None and writes and writes[-1].after == found:
                yield _Stale(saved, node, expected, writes)


def _changed_unseen(story: Story, end: int, expected: int | None, found: int | None) -> Iterator[_Stale]:
    """Saved at the version that the message names, and of another content when this backward began: somebody wrote it
    whom the watch does not see, such as another thread."""
    for saved in story.saved:
        if expected is None or saved.version != expected or saved.changed != end:
            continue
        if not story.writes_after(saved, expected, end):
            yield _Stale(saved, story.nodes[saved.node], expected, [Write(expected, found, end)])


def _all_stale(story: Story, end: int, expected: int | None = None, *, pending: bool = False) -> Iterator[_Stale]:
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
            yield _Stale(saved, story.nodes[saved.node], version, writes)


def _will_raise(story: Story, named: set[tuple[int, int]]) -> Iterator[Hazard]:
    groups: dict[tuple[Callsite | None, bool], list[_Stale]] = {}
    for stale in _all_stale(story, len(story.trace.calls), pending=True):
        if (stale.saved.counter or 0, stale.culprit.at) in named:
            continue
        saved_at = stale.node.call if stale.node.call is not None else -1
        parameter = saved_at if _is_parameter(story, stale) else None
        if _is_state(story, stale) and not story.has_live_scalar(stale.node):
            continue  # no loss in sight: a forward pass to look at, or to let BatchNorm collect its statistics
        if story.another_backward_is_meant(stale.node, stale.culprit.at, parameter):
            groups.setdefault((stale.culprit.site, _is_parameter(story, stale)), []).append(stale)
    raised_at = {story.calls[at].callsite for _, at in named if at in story.calls}
    for (site, is_parameter), group in groups.items():
        if is_parameter and site in raised_at:
            continue  # the same step() that already failed: its other parameters are the same mistake
        first = max(group, key=lambda stale: stale.node.sequence or 0)
        hazard = _hazard(story, first, first.expected, first.writes[-1].after, raised=False)
        yield hazard if story.has_live_scalar(first.node) else replace(hazard, severity="warning")  # such as a sample


def _is_parameter(story: Story, stale: _Stale) -> bool:
    mutation = stale.culprit.mutation
    meta = story.observations.get(mutation.tensor) if mutation is not None else None
    return meta is not None and meta.is_trainable


def _is_state(story: Story, stale: _Stale) -> bool:
    """True if the written tensor is a leaf: a parameter, a buffer, data; not an activation of this forward pass."""
    mutation = stale.culprit.mutation
    meta = story.observations.get(mutation.tensor) if mutation is not None else None
    return meta is not None and meta.is_leaf


def _is_intact(stale: _Stale) -> bool:
    """True if every write is known to have gone to other elements than those saved."""
    saved = region_of(stale.saved)
    for write in stale.writes:
        if saved is None or write.call is None or write.mutation is None:
            return False
        if may_meet(reach_of_write(write.call, write.mutation), saved):
            return False
    return bool(stale.writes)


def _hazard(story: Story, stale: _Stale, expected: int | None, found: int | None, *, raised: bool) -> Hazard:
    saver, saved_site = story.saver_site(stale.node)
    culprit = stale.culprit
    call, mutation = culprit.call, culprit.mutation
    written = mutation.tensor if mutation is not None else stale.saved.tensor
    writes_alone = story.trace.level == "writes"
    variable = None
    if call is not None and written is not None:
        variable = story.bindings.written_name(call, written)
    else:
        variable = story.name_of_saved(stale.saved)
    sites = tuple(write.site for write in stale.writes if write.site is not None)
    return Hazard(
        code=CODE,
        severity="error",
        message=wording.overwritten(
            variable=variable,
            saved_name=story.bindings.name(stale.saved.tensor) if stale.saved.tensor is not None else None,
            saver=stale.node.name,
            saved_site=saved_site,
            site=culprit.site,
            writes=len(stale.writes),
            expected=expected,
            found=found,
            raised=raised,
            intact=_is_intact(stale),
            writes_alone=writes_alone,
            module=module_behind(story.trace, stale.node) if writes_alone else None,
        ),
        fix=wording.overwritten_fix(
            variable=variable,
            saved_site=saved_site,
            site=culprit.site,
            writer=call,
            parameter=_is_parameter(story, stale),
        ),
        variable=variable,
        mutation=culprit.site,
        saved=saved_site,
        mutations=sites,
        saved_by=stale.node.name,
        expected_version=expected,
        found_version=found,
        tensor=written,
        call=call.index if call is not None else None,
        saved_call=saver.index if saver is not None else None,
        raised=raised,
    )


RULE = Rule(
    check, {CODE: Cures((of_saved.version_moved,), (step_advice.advice, inplace_false.advice, new_tensor.advice))}
)
