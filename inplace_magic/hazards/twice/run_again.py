"""A write that a forward made ran once more in its recomputation, on top of what it had left."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.rule import row
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite


def updated_again(story: Story) -> Iterator[Hazard]:
    """Yield one finding for each line that a backward ran again, and that builds on what it wrote in the forward."""
    before: dict[tuple[int | None, str], CallEvent] = {}
    seen = set()
    for call in story.writing:
        if call.error is not None or call.callsite is None or call.does("repeatable"):
            continue
        for mutation in call.mutations:
            key, line = (mutation.storage, call.name), (call.callsite.cell, call.callsite.file, call.callsite.line)
            recomputed = call.parent is not None and call.parent in story.backwards
            backward = story.calls.get(call.parent) if recomputed and call.parent is not None else None
            if backward is None:
                before[key] = call
                continue
            first = before.get(key)
            if first is None or line in seen or not _is_again(first, call, backward):
                continue
            if _is_state(story, mutation) and _matters(story, call, mutation):
                seen.add(line)
                yield _hazard(story, first, call, mutation, backward)


def _is_again(first: CallEvent, call: CallEvent, backward: CallEvent) -> bool:
    """True if a call in a backward came by the same places and modules as one in the forward, below the line that began
    the backward."""
    if first.modules[len(first.modules) - len(call.modules) :] != call.modules:
        return False
    inner = _places(call.callsite)[len(_places(backward.callsite)) :]
    return _places(first.callsite)[-len(inner) :] == inner if inner else bool(call.modules)


def _places(site: Callsite | None) -> list[tuple[object, ...]]:
    return [(place.cell, place.file, place.function, place.line) for place in site.chain] if site is not None else []


def _is_state(story: Story, mutation: Mutation) -> bool:
    """True if the written tensor is neither trained nor a gradient."""
    meta = story.observations.get(mutation.tensor)
    return not (meta is not None and meta.is_trainable) and not story.is_gradient(mutation)


def _matters(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """True if the line itself made the update; or the library did, and somebody reads what it updated, as BatchNorm
    does in evaluation."""
    if call.callsite is not None and call.callsite.direct:
        return True
    reads = (
        read
        for tensor in story.bindings.by_storage.get(mutation.storage or -1, ())
        for read in story.given_between(tensor, call.index, len(story.calls))
        if read.kind != "query"
    )
    return any(all(other.storage != mutation.storage for other in read.mutations) for read in reads)


def _blamed(first: CallEvent, call: CallEvent, backward: CallEvent) -> Callsite | None:
    """The line that made the update; where the library did, the one that had it recomputed."""
    site = first.callsite
    steps = len(_places(call.callsite)) - len(_places(backward.callsite)) if site and not site.direct else 0
    for _step in range(steps):
        site = site.caller if site is not None and site.caller is not None else site
    return site


def _hazard(story: Story, first: CallEvent, call: CallEvent, mutation: Mutation, backward: CallEvent) -> Hazard:
    name = story.bindings.name(mutation.tensor) or story.bindings.written_name(call, mutation.tensor)
    blamed = _blamed(first, call, backward)
    return Hazard(
        code="updated-again",
        severity="silent",
        message=_(
            "{line} updates {tensor} in the forward, and again when {backward} recomputes the function for its "
            "activations: each batch counts twice. PyTorch gives no error."
        ).format(
            line=wording.spot(blamed),
            tensor=f"`{name}`" if name else _("a buffer"),
            backward=wording.spot(backward.callsite),
        ),
        fix=_("Move the update out of the checkpointed function: do it before or after the call of `checkpoint`."),
        variable=name,
        mutation=blamed,
        mutations=tuple(place for place in (first.callsite, call.callsite) if place is not None),
        tensor=mutation.tensor,
        call=first.index,
    )


RULES = (row("updated-again", "silent", updated_again),)
