"""Averaged weights were copied over the live ones to be looked at, and training went on from there.

An average of weights is made for evaluation: the optimizer goes on from the weights that it stepped to
(https://docs.pytorch.org/docs/stable/optim.html#weight-averaging-swa-and-ema). Where the average is copied into the
model and the weights are not put back, the next step starts at the average, and the average is then one of averages.

Bad::

    for p, s in zip(model.parameters(), shadow):
        p.data.copy_(s)                     # for the validation
    validate(model)
    train(model)                            # goes on from the average

Good::

    kept = [p.detach().clone() for p in model.parameters()]
    for p, s in zip(model.parameters(), shadow):
        p.data.copy_(s)
    validate(model)
    for p, k in zip(model.parameters(), kept):
        p.data.copy_(k)
    train(model)

Told from the record alone: all of a weight was overwritten by values, or it was given a memory (``p.data = average``),
into which three or more of its own states had gone, each left by a step since the weight was overwritten last; the
weight was read without gradients after that; and the next that wrote it was a step of the optimizer again. Silent where
the old weights, or any others, are put back first, and for slow weights that take one state of the fast ones each time,
as Lookahead and Reptile have them.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.analysis.training.blends import Blend, blends
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent

CODE = "averages-trained-on"
_STATES = 3


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that copies averages over weights."""
    if not _overwrites_what_was_stepped(story):
        return
    overwritten: dict[int, int] = {}
    seen = set()
    for blend in blends(story):
        if not blend.whole:
            continue
        since, site = overwritten.get(blend.storage, -1), blend.call.callsite
        overwritten[blend.memory] = blend.call.index
        if site is None or site in seen or not _is_average(story, blend, since):
            continue
        step = next((write for write in story.writes_to_memory(blend.memory) if write.at > blend.call.index), None)
        if step is None or step.call is None or step.site not in story.stepping or step.call.does("overwrites"):
            continue
        read = _looked_at(story, blend, step.at) if not _is_put_back(story, blend, step.at) else None
        if read is not None:
            seen.add(site)
            yield _hazard(story, blend, read, step)


def _overwrites_what_was_stepped(story: Story) -> bool:
    """Whether all of a weight was ever overwritten, or replaced, after a step: else there is nothing to follow."""
    taking, stepped = story.doing("takes memory"), set()
    if not taking and not any(len(call.inputs) > 1 for call in story.doing("overwrites")):
        return False
    for call in story.trace.calls if taking else story.writing:
        if call.does("takes memory") and call.inputs and call.inputs[0].storage in stepped:
            return True
        for mutation in call.mutations:
            if call.callsite in story.stepping:
                stepped.add(mutation.storage)
            elif mutation.storage in stepped and call.does("overwrites") and len(call.inputs) > 1:
                return True
    return False


def _is_average(story: Story, blend: Blend, since: int) -> bool:
    """Whether several states of the weight went into what was copied, each left by a step since a call."""
    states = blend.states.get(blend.storage, ())
    stepped = [at for at in states if at > since and story.calls[at].callsite in story.stepping]
    return len(stepped) >= _STATES


def _is_put_back(story: Story, blend: Blend, until: int) -> bool:
    """Whether the weight was given another memory once more."""
    return any(blend.call.index < call.index < until for call in story.data_setters.get(blend.tensor, ()))


def _looked_at(story: Story, blend: Blend, until: int) -> CallEvent | None:
    """The first call that read the overwritten weight without gradients."""
    tensors = story.bindings.by_storage.get(blend.memory, ())
    reads = (call for tensor in tensors for call in story.given_between(tensor, blend.call.index, until))
    computing = (call for call in reads if call.kind == "ordinary" and not any(m.requires_grad for m in call.outputs))
    return min(computing, key=lambda call: call.index, default=None)


def _hazard(story: Story, blend: Blend, read: CallEvent, step: Write) -> Hazard:
    name = story.bindings.written_name(blend.call, blend.tensor) or story.bindings.name(blend.tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{copy} puts an average of several states of {weight} over {weight} itself, {read} reads that without "
            "gradients, and {step} then trains on from the average: the weights of the last step are not put back. "
            "PyTorch gives no error."
        ).format(
            copy=wording.spot(blend.call.callsite),
            weight=f"`{name}`" if name else _("a weight"),
            read=wording.line_of(read.callsite),
            step=wording.spot(step.site),
        ),
        fix=_(
            "Look at a copy of the model that has the averages, or keep a copy of the weights and put it back before "
            "training goes on."
        ),
        variable=name,
        read=step.call,
        tensor=blend.tensor,
        write=blend.call,
        badges=Badges(read=_("trains on from it here")),
    )


RULE = Rule(check)
