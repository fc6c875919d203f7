"""Parameters took the memory of a tensor, were trained, and then others took it again, as if it still held the start.

``vector_to_parameters`` makes each parameter a view of the vector, and ``nn.Parameter(x)`` and
``nn.Embedding.from_pretrained(x)`` copy nothing
(https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html): a step of the optimizer writes the tensor that
they were given.

Bad::

    for rate in rates:
        vector_to_parameters(start, model.parameters())
        fit(model, rate)            # moves start as well

Good::

    for rate in rates:
        vector_to_parameters(start.clone(), model.parameters())
        fit(model, rate)

Told from the record alone: a trained leaf lay on memory that an older tensor held already; library code, an
optimizer's, wrote it; and after that the same memory was given to a leaf once more, with the older tensor still in use.
Silent for parameters that are taken from other parameters, as for tied weights, and for one that is used in two places.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent

CODE = "taken-memory-trained"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that trained such memory."""
    seen = set()
    for storage, ties in _ties(story).items():
        writes = [call for call, _m in story.writes_to_storage.get(storage, ()) if call.callsite in story.stepping]
        step = next((call for call in writes if ties[0] < call.index < ties[-1]), None)
        if step is None or step.callsite in seen:
            continue
        again = next(at for at in ties if at > step.index)
        source = _older(story, storage, ties[0], step.index)
        if source is not None:
            seen.add(step.callsite)
            yield _hazard(story, source, step, story.calls[again])


def _ties(story: Story) -> dict[int, list[int]]:
    """The calls at which a trained leaf was given a memory, or first met on it, by memory with more than one; in
    order."""
    found: dict[int, list[int]] = {}
    met: set[tuple[int, int | None]] = set()
    for call in story.trace.calls:
        if call.does("takes memory") and len(call.inputs) > 1 and call.inputs[1].storage is not None:
            found.setdefault(call.inputs[1].storage, []).append(call.index)
            met.add((call.inputs[0].tensor, call.inputs[1].storage))
        for meta in call.inputs:
            key = meta.tensor, meta.storage
            if meta.is_leaf and meta.requires_grad and meta.storage is not None and key not in met:
                met.add(key)
                found.setdefault(meta.storage, []).append(call.index)
    return {storage: ties for storage, ties in found.items() if len(ties) > 1}


def _older(story: Story, storage: int, before: int, step: int) -> int | None:
    """A tensor on a memory that is no trained leaf, was met before the first of them, and is in use after a step."""
    for tensor in story.bindings.by_storage.get(storage, ()):
        meta = story.observations[tensor]
        used = story.given_to.get(tensor, ())
        if story.first_seen(tensor) < before and not meta.requires_grad and used and used[-1].index > step:
            return tensor
    return None


def _hazard(story: Story, source: int, step: CallEvent, again: CallEvent) -> Hazard:
    site = step.callsite
    name = story.bindings.name(source)
    named = f"`{name}`" if name else _("the tensor that they were made of")
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{step} trains parameters that lie in the memory of {source}, so it writes {source}; {again} then takes "
            "that memory again, as if it still held the start. PyTorch gives no error."
        ).format(step=wording.spot(site), source=named, again=wording.spot(again.callsite)),
        fix=_("Give the parameters memory of their own: hand over a copy (`.clone()`)."),
        variable=name,
        mutation=site,
        mutations=(site,) if site is not None else (),
        read=again.callsite,
        read_call=again.index,
        tensor=source,
        call=step.index,
    )


RULE = Rule(check)
