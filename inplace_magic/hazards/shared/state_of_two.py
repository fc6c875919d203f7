"""One buffer of an optimizer's state serves two parameters: each step of the one moves the other's as well.

``load_state_dict`` of an optimizer keeps the tensors that it is given where nothing is to be converted
(https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.load_state_dict.html), so two optimizers then
share their momentum. ``[torch.zeros(n)] * k`` is one buffer, too.

Bad::

    follower.load_state_dict(leader.state_dict())       # two optimizers
    leader.step()
    follower.step()

Good::

    follower.load_state_dict(copy.deepcopy(leader.state_dict()))

Told from the record alone: library code that moves leaves wrote a tensor in place, and moved by it one leaf, and then
another one of the same shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Region

CODE = "state-of-two"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line whose step uses another parameter's state."""
    served: dict[tuple[int | None, Region | None], tuple[int, CallEvent]] = {}
    seen = set()
    is_state = cache(partial(_is_state, story))
    for call in story.writing:
        moved = call.mutated[0] if len(call.mutated) == 1 else None
        if moved is None or not moved.is_trainable or call.index not in story.stepping_calls:
            continue
        if call.does("overwrites"):
            continue
        for meta in call.inputs:
            if meta.storage not in story.writes_to_storage or meta.storage == moved.storage:
                continue  # as of nearly all gradients
            if meta.shape != moved.shape or not is_state(meta.storage):
                continue
            first = served.setdefault((meta.storage, region_of(meta)), (moved.tensor, call))
            if first[0] != moved.tensor and call.callsite not in seen:
                seen.add(call.callsite)
                yield _hazard(story, call, first[1])


def _is_state(story: Story, storage: int) -> bool:
    """Whether library code that moves leaves writes the memory, and no backward made it."""
    writes, maker = story.writes_to_storage[storage], story.maker_of_storage(storage)
    gradient = maker is not None and maker.index in story.backwards
    return not gradient and any(call.index in story.stepping_calls for call, _mutation in writes)


def _hazard(story: Story, call: CallEvent, first: CallEvent) -> Hazard:
    site = call.callsite
    one, other = (story.bindings.name(step.mutations[0].tensor) for step in (first, call))
    return Hazard(
        code=CODE,
        severity="silent",
        message=_(
            "{line} moves {other} by a buffer that moves {one} as well ({first}): the two share one state, and each "
            "step changes the other's. PyTorch gives no error."
        ).format(
            line=wording.spot(site),
            first=wording.spot(first.callsite),
            one=f"`{one}`" if one else _("one parameter"),
            other=f"`{other}`" if other else _("another parameter"),
        ),
        fix=_("Give each optimizer a state of its own: `load_state_dict(copy.deepcopy(other.state_dict()))`."),
        mutation=site,
        mutations=tuple(place for place in (site, first.callsite) if place is not None),
        origin=first.callsite,
        call=call.index,
    )


RULE = Rule(check)
