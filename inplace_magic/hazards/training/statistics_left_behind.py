"""A model that takes its weights from another one normalises by statistics that it did not take.

BatchNorm's running statistics are buffers, and ``parameters()`` gives none of them
(https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html). A copy whose weights follow another model's,
an average of them or a target network, keeps the statistics with which it was made.

Bad::

    for p, q in zip(average.parameters(), model.parameters()):
        p.data.lerp_(q.data, 0.1)
    average.eval()(x)                       # normalises by what the copy was made with

Good::

    for p, q in zip(average.parameters(), model.parameters()):
        p.data.lerp_(q.data, 0.1)
    for p, q in zip(average.buffers(), model.buffers()):
        p.copy_(q)
    average.eval()(x)

Told from the record alone: the scale or the shift of a layer was written with what a step had left in another layer's,
the statistics of that other layer took in batches meanwhile, and a call normalised by statistics that had been written
or made for the last time before all of that. Silent where anything has written them since: a copy, a forward in
training mode, ``torch.optim.swa_utils.update_bn``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inplace_magic.analysis.story import Story
from inplace_magic.analysis.training.blends import Blend, blends
from inplace_magic.analysis.training.statistics import Normalised, normalising_calls
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent

CODE = "statistics-left-behind"
_BATCHES = 2


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that takes the weights alone."""
    normalised = normalising_calls(story)
    taken_in: dict[int, list[Normalised]] = {}
    for one in normalised:
        if one.takes_in and any(meta.requires_grad for meta in one.call.outputs):
            for weight in one.weights:
                taken_in.setdefault(weight, []).append(one)
    looks = [one for one in normalised if not one.takes_in and one.weights]
    if not taken_in or not looks:
        return
    taken = _taken(story, {weight for one in looks for weight in one.weights})
    seen = set()
    for look in looks:
        for at, weight in enumerate(look.weights):
            blend = _without_statistics(story, taken.get(weight, ()), taken_in, look, at)
            if blend is not None and blend.call.callsite not in seen:
                seen.add(blend.call.callsite)
                yield _hazard(story, blend, look)


def _taken(story: Story, weights: set[int]) -> dict[int, list[Blend]]:
    """The writes that gave weights what a step had left in others, by the memory written."""
    found: dict[int, list[Blend]] = {}
    for blend in blends(story):
        weight = blend.memory
        if weight in weights and any(_trained(story, blend)):
            found.setdefault(weight, []).append(blend)
    return found


def _trained(story: Story, blend: Blend) -> Iterator[int]:
    """The memories of other weights that had been stepped when they were taken."""
    for source, states in blend.states.items():
        stepped = (state >= 0 and story.calls[state].callsite in story.stepping for state in states)
        if source != blend.memory and any(stepped):
            yield source


def _without_statistics(
    story: Story, taken: Sequence[Blend], taken_in: dict[int, list[Normalised]], look: Normalised, at: int
) -> Blend | None:
    """The last write before a call that took the weights of a layer whose statistics had moved, where all such writes
    came after the statistics of that call were written, or made, for the last time."""
    since, writer = _last_written(story, look)
    place = writer.callsite if writer is not None else None
    fresh = writer is not None and {meta.storage for meta in writer.inputs} <= set(look.statistics)
    before = [blend for blend in taken if blend.call.index < look.call.index]
    apart = [blend for blend in before if blend.call.callsite is None or not blend.call.callsite.same_line(place)]
    if not apart or apart[0].call.index < since:
        return None
    last = apart[-1]
    for source in _trained(story, last):
        layers = [one for one in taken_in.get(source, ()) if len(one.weights) == len(look.weights)]
        begun = -1 if fresh else since
        batches = [one for one in layers if begun < one.call.index < last.call.index and one.weights[at] == source]
        if len(batches) >= _BATCHES and not set(batches[0].statistics) & set(look.statistics):
            return last
    return None


def _last_written(story: Story, look: Normalised) -> tuple[int, CallEvent | None]:
    """When any of the statistics by which a call normalises was written or made last, and by which call."""
    found: tuple[int, CallEvent | None] = (-1, None)
    for memory in look.statistics:
        made = story.maker_of_storage(memory)
        writes = [(write.at, write.call) for write in story.writes_to_memory(memory) if write.at < look.call.index]
        whens = [*writes, *([(made.index, made)] if made is not None else [])]
        found = max([found, *whens], key=lambda entry: entry[0])
    return found


def _hazard(story: Story, blend: Blend, look: Normalised) -> Hazard:
    name = story.bindings.written_name(blend.call, blend.tensor)
    place = next(meta for meta in look.call.inputs if meta.storage == look.statistics[0])
    statistics = story.bindings.name(place.tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{copy} takes the weights of a layer that is trained, and not the statistics by which it normalises: "
            "{read} normalises by {statistics}, into which the batches of that training have not gone. PyTorch gives "
            "no error."
        ).format(
            copy=wording.spot(blend.call.callsite),
            read=wording.spot(look.call.callsite),
            statistics=f"`{statistics}`" if statistics else _("running statistics"),
        ),
        fix=_("Take the buffers as well (`buffers()`, `state_dict()`), or let the copy see batches in training mode."),
        variable=statistics or name,
        read=look.call,
        tensor=blend.tensor,
        write=blend.call,
        badges=Badges(read=_("normalises by older ones here")),
    )


RULE = Rule(check)
