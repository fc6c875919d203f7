"""A buffer was updated by a forward and once more by its recomputation.

Checkpointing throws the activations away and runs the function again when backward needs them
(https://docs.pytorch.org/docs/stable/checkpoint.html). What the function writes besides its result, it writes twice:
a counter counts double, an average takes each batch in twice.

Bad::

    def block(x):
        seen.add_(len(x))
        return net(x).relu()


    checkpoint(block, x, use_reentrant=False).sum().backward()  # seen has grown by 2 * len(x)

Good::

    seen.add_(len(x))               # outside of what is checkpointed
    checkpoint(net, x, use_reentrant=False).sum().backward()

Told from the record: inside a backward, a line wrote a tensor as it had written the same one before that backward, by
way of the same functions, and each write built on the values before it. Silent for gradients, for leaves that are
trained, and for writes that leave the same whether done once or twice. The same is told of what a function that
autograd calls, as the unpacking one of ``saved_tensors_hooks``, writes and returns in one backward after another.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite

CODE = "updated-again"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    before: dict[tuple[int | None, str], CallEvent] = {}
    returned: dict[tuple[Callsite, int], int] = {}
    seen = set()
    for call in story.writing:
        site = call.callsite
        if call.error is not None or site is None or call.does("repeatable"):
            continue
        for mutation in call.mutations:
            key = mutation.storage, call.name
            if call.parent not in story.backwards:
                before[key] = call
                continue
            first = before.get(key)
            line = (site.cell, site.file, site.line)
            if call.parent is not None and line not in seen and _is_returned(story, call, mutation):
                if returned.setdefault((site, mutation.tensor), call.parent) != call.parent:
                    seen.add(line)
                    yield _of_each_backward(story, call, mutation)
                continue
            again = first is not None and line not in seen and _is_again(story, first, call)
            if first is not None and again and _is_state(story, mutation) and _matters(story, call, mutation):
                seen.add(line)
                yield _hazard(story, call, mutation, first, _blamed(story, first, call))


def _is_returned(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """Whether a function that autograd called wrote a tensor, and returns it."""
    site = call.callsite
    return site is not None and site.direct and site.targets == ("return",) and _is_state(story, mutation)


def _of_each_backward(story: Story, call: CallEvent, mutation: Mutation) -> Hazard:
    name = story.bindings.written_name(call, mutation.tensor)
    return finding(
        CODE,
        "silent",
        message=_(
            "{line} writes {tensor} in each backward, on top of what the one before has left, and hands it to "
            "autograd: only the first one gets the values that were kept. PyTorch gives no error."
        ).format(line=wording.spot(call.callsite), tensor=f"`{name}`" if name else _("a tensor")),
        fix=_("Give autograd a new tensor: the ordinary operation in place of the one that writes."),
        variable=name,
        tensor=mutation.tensor,
        write=call,
    )


def _matters(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """Whether the line itself made the update; or the library did, and somebody reads what it updated, as BatchNorm
    does in evaluation."""
    if call.callsite is not None and call.callsite.direct:
        return True
    tensors = story.bindings.by_storage.get(mutation.storage, ()) if mutation.storage is not None else ()
    reads = (read for tensor in tensors for read in story.given_to.get(tensor, ()) if read.index > call.index)
    looks = (read for read in reads if read.kind != "query")
    return any(all(other.storage != mutation.storage for other in read.mutations) for read in looks)


def _blamed(story: Story, first: CallEvent, call: CallEvent) -> Callsite | None:
    """The line that made the update; where the library did, the one that had it recomputed, if that is told."""
    site = first.callsite
    backward = story.calls.get(call.parent) if call.parent is not None else None
    if site is None or site.direct or backward is None:
        return site
    inner = len(_places(call.callsite)) - len(_places(backward.callsite))
    for _step in range(inner):
        site = site.caller if site is not None and site.caller is not None else site
    return site


def _is_again(story: Story, first: CallEvent, call: CallEvent) -> bool:
    """Whether a call in a backward came by the same places and modules as one in the forward, below the line that began
    the backward."""
    backward = story.calls.get(call.parent) if call.parent is not None else None
    if backward is None or first.modules[len(first.modules) - len(call.modules) :] != call.modules:
        return False
    inner = _places(call.callsite)[len(_places(backward.callsite)) :]
    return _places(first.callsite)[-len(inner) :] == inner if inner else bool(call.modules)


def _places(site: Callsite | None) -> list[tuple[object, ...]]:
    return [(place.cell, place.file, place.function, place.line) for place in site.chain] if site is not None else []


def _is_state(story: Story, mutation: Mutation) -> bool:
    """Whether the written tensor is neither trained nor a gradient, and was there before the function ran."""
    meta = story.observations.get(mutation.tensor)
    trained = meta is not None and meta.is_trainable
    return not trained and not story.is_gradient(mutation)


def _hazard(story: Story, call: CallEvent, mutation: Mutation, first: CallEvent, blamed: Callsite | None) -> Hazard:
    name = story.bindings.name(mutation.tensor) or story.bindings.written_name(call, mutation.tensor)
    backward = story.calls.get(call.parent) if call.parent is not None else None
    return Hazard(
        code=CODE,
        severity="silent",
        message=_(
            "{line} updates {tensor} in the forward, and once more when {backward} runs the function again to have its "
            "activations: each batch counts twice. PyTorch gives no error."
        ).format(
            line=wording.spot(blamed),
            tensor=f"`{name}`" if name else _("a buffer"),
            backward=wording.spot(backward.callsite if backward is not None else None),
        ),
        fix=_("Take the update out of what is checkpointed: do it before or after the call of `checkpoint`."),
        variable=name,
        mutation=blamed,
        mutations=tuple(place for place in (first.callsite, call.callsite) if place is not None),
        tensor=mutation.tensor,
        call=first.index,
    )


RULE = Rule(check)
