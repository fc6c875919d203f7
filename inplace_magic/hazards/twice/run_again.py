"""A write that a forward made ran once more in its recomputation, on top of what it had left."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite


def updated_again(story: Story) -> Iterator[Found]:
    """Yield the writes that a backward ran again, and that build on what they wrote in the forward."""
    before: dict[tuple[int | None, str], CallEvent] = {}
    for call in story.writing:
        if call.error is not None or call.callsite is None or call.does("repeatable"):
            continue
        for mutation in call.mutations:
            key = mutation.storage, call.name
            recomputed = call.parent is not None and call.parent in story.backwards
            backward = story.calls.get(call.parent) if recomputed and call.parent is not None else None
            if backward is None:
                before[key] = call
                continue
            first = before.get(key)
            if first is None or not _is_again(first, call, backward):
                continue
            if _is_state(story, mutation) and _matters(story, call, mutation):
                blamed = Write(None, None, first.index, first, None, _blamed(first, call, backward))
                name = story.bindings.name(mutation.tensor) or story.bindings.written_name(call, mutation.tensor)
                yield Found({"line": blamed, "again": call, "backward": backward}, mutation.tensor, name)


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
    later = (read for read in story.given_memory(mutation.storage) if read.index > call.index and read.kind != "query")
    return any(all(other.storage != mutation.storage for other in read.mutations) for read in later)


def _blamed(first: CallEvent, call: CallEvent, backward: CallEvent) -> Callsite | None:
    """Return the line that made the update; where the library did, the one that had it recomputed."""
    site = first.callsite
    steps = len(_places(call.callsite)) - len(_places(backward.callsite)) if site and not site.direct else 0
    for _step in range(steps):
        site = site.caller if site is not None and site.caller is not None else site
    return site


RULES = rules_of(
    Row(
        "updated-again",
        "silent",
        updated_again,
        Calls(also="again"),
        message=N_(
            "{line} updates {tensor} in the forward, and again when {backward} recomputes the function for its "
            "activations: each batch counts twice. PyTorch gives no error."
        ),
        fix=N_("Move the update out of the checkpointed function: do it before or after the call of `checkpoint`."),
        nameless=N_("a buffer"),
    ),
    every_call=True,
)
