"""Gradients of the last batches of an epoch went into the first step of the next one.

Where a step is made every `n` batches of an epoch (``if (i + 1) % n == 0``) and the batches of an epoch are no multiple
of `n`, the gradients of the last ones are neither applied nor cleared
(https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation). They wait in ``.grad``, and the
first step of the next epoch goes along more gradients than each of the others.

Bad::

    for epoch in range(3):
        for i, x in enumerate(batches):         # seven of them
            (loss_of(x) / 4).backward()
            if (i + 1) % 4 == 0:
                opt.step()
                opt.zero_grad()

Good::

    for epoch in range(3):
        for i, x in enumerate(batches):
            (loss_of(x) / 4).backward()
            if (i + 1) % 4 == 0 or i + 1 == len(batches):
                opt.step()
                opt.zero_grad()

Told from the record alone: the steps of one line on a leaf went along the sums of `n` backwards each, but for some that
came at equal distances and went along `n + r`, and after the last step `r` backwards are left in the gradient. Silent
for sums of any other numbers, as where batches are gathered up to a number of tokens, for steps that are counted on
from epoch to epoch, which are all along equal sums, and where what is left is of another line than what is summed, as
of the loss of a generator that went through its judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.gradients import gradient_histories
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

CODE = "gradients-left-over"
_STEPS = 3
"""So few steps say nothing of how often there is one."""


@dataclass(frozen=True)
class _Step:
    call: CallEvent
    backwards: tuple[CallEvent, ...]
    """Those that had gone into the gradient."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that steps so."""
    seen: set[Callsite | None] = set()
    for leaf, steps in _steps(story).items():
        sites = {step.call.callsite for step in steps}
        if len(sites) != 1 or sites & seen or len(steps) < _STEPS:
            continue
        sizes = [len(step.backwards) for step in steps]
        places = [place for place, size in enumerate(sizes) if size != sizes[0]]
        if not places or len({sizes[place] for place in places}) != 1:
            continue
        extra = sizes[places[0]] - sizes[0]
        regular = places == list(range(places[0], len(sizes), places[0])) and len(sizes) % places[0] == 0
        larger = steps[places[0]]
        left = {call.callsite for call in larger.backwards[:extra]} if regular and 0 < extra < sizes[0] else set()
        if left and left <= {call.callsite for call in steps[0].backwards} and _nothing_else(story, leaf, steps, extra):
            seen |= sites
            yield _hazard(story, leaf, steps[0], larger, extra)


def _steps(story: Story) -> dict[int, list[_Step]]:
    """The steps by sums of several backwards, by leaf, in order."""
    found: dict[int, list[_Step]] = {}
    for leaf, events in gradient_histories(story):
        added: list[CallEvent] = []
        for event in events:
            if event.kind == "added":
                added.append(event.call)
            elif event.kind == "stepped" and added:
                found.setdefault(leaf, []).append(_Step(event.call, tuple(added)))
                added = []
            elif event.kind == "cleared":
                added = []
    return {leaf: sorted(steps, key=lambda step: step.call.index) for leaf, steps in found.items()}


def _nothing_else(story: Story, leaf: int, steps: list[_Step], extra: int) -> bool:
    """Whether all backwards that filled the gradient went into the steps, but for so many after the last one."""
    filled = [at for at in story.came_to_leaf(leaf) if not story.calls[at].does("gives gradients")]
    sums = [call.index for step in steps for call in step.backwards]
    left = [at for at in filled if at > steps[-1].call.index]
    return filled == sums + left and len(left) == extra


def _hazard(story: Story, leaf: int, usual: _Step, larger: _Step, extra: int) -> Hazard:
    name = story.bindings.name(leaf)
    site = larger.backwards[0].callsite
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{step} goes along the sum of {usual} backwards, and some passes later along {larger}: {backward} had left "
            "{extra} in {gradient} that no step was made by and nobody cleared. PyTorch gives no error."
        ).format(
            step=wording.spot(larger.call.callsite),
            usual=len(usual.backwards),
            larger=len(larger.backwards),
            extra=extra,
            backward=wording.spot(site),
            gradient=f"`{name}.grad`" if name else _("the gradients"),
        ),
        fix=_("Step and clear after the last batch of an epoch as well, or clear the gradients before the next one."),
        variable=f"{name}.grad" if name else None,
        mutation=site,
        read=larger.call.callsite,
        read_call=larger.call.index,
        call=larger.backwards[0].index,
        badges=Badges(wrote=_("left here"), read=_("steps by the sum here")),
    )


RULE = Rule(check)
