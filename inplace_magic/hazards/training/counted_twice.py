"""One memory was scaled or stepped twice in one run of a line, since the list that the line goes through has it twice.

``[*embed.parameters(), *head.parameters()]`` has a tied weight twice, where ``model.parameters()`` has each parameter
once (https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.parameters). Clipping then
counts its gradient twice in the norm, and scales it twice. Where two parameters were laid on one memory by ``.data``,
even ``model.parameters()`` has both: an optimizer keeps a state for each, of half of the gradient, and moves the memory
by both.

Bad::

    head.weight = embed.weight
    params = [*embed.parameters(), *head.parameters()]
    head(embed(words)).square().sum().backward()
    nn.utils.clip_grad_norm_(params, 1.0)

Good::

    head.weight = embed.weight
    params = list(dict.fromkeys([*embed.parameters(), *head.parameters()]))
    head(embed(words)).square().sum().backward()
    nn.utils.clip_grad_norm_(params, 1.0)

Told from the record alone: library code scaled one gradient twice by one factor in one run of a line, and nothing read
the gradient in between; or library code that steps leaves moved two of them that have elements in common
in one run of a line, by a quotient, as Adam does, or with a decay. Silent for steps that only add what is proportional
to the gradients, as plain SGD does: two of those are the step by their sum. Silent where parts of one memory have
nothing in common.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, Region, TensorMetadata
from inplace_magic.record.places import Callsite

CODE = "counted-twice"

_MOST = 16
"""Leaves of one memory that are held against each other."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that does so."""
    yield from _scaled(story)
    yield from _stepped(story)


def _scaled(story: Story) -> Iterator[Hazard]:
    last: dict[tuple[int, Region | None, tuple[int, ...]], CallEvent] = {}
    seen: set[Callsite] = set()
    for call in story.doing("scales"):
        site = call.callsite
        if site is None or site.direct or site in seen or call.error is not None:
            continue
        written = {mutation.tensor for mutation in call.mutations}
        factors = tuple(meta.tensor for meta in call.inputs if meta.tensor not in written)
        for mutation in call.mutations:
            if mutation.storage is None or not story.is_gradient(mutation) or _stays(mutation):
                continue
            key = mutation.storage, reach_of_write(call, mutation), factors
            before = last.get(key) if factors else None
            listed = call.does("of lists") and sum(given.tensor == mutation.tensor for given in call.inputs) > 1
            if listed or (before is not None and _is_one_run(story, before, call, mutation.storage)):
                seen.add(site)
                yield _scaled_hazard(story, call, mutation.tensor)
                break
            last[key] = call


def _stays(mutation: Mutation) -> bool:
    """Whether the values are known to be what they were."""
    return mutation.values_before is not None and mutation.values_before == mutation.values_after


def _is_one_run(story: Story, before: CallEvent, call: CallEvent, storage: int) -> bool:
    """Whether library code came to a gradient again in one run of a line, and nobody read or wrote it meanwhile."""
    tensors = story.bindings.by_storage.get(storage, ())
    if any(next(story.given_between(tensor, before.index, call.index), None) is not None for tensor in tensors):
        return False
    between = story.calls_between(before.index, call.index)
    return before.callsite == call.callsite and all(each.callsite == call.callsite for each in between)


def _stepped(story: Story) -> Iterator[Hazard]:
    if not story.doing("adds a quotient") and not story.doing("scales"):
        return
    seen: set[Callsite] = set()
    moved: dict[int, dict[int, TensorMetadata]] = {}
    bent: set[int] = set()
    at: Callsite | None = None
    for call in story.trace.calls:
        if call.callsite is not at and call.callsite != at:
            at, moved, bent = call.callsite, {}, set()
        if not call.mutated or at is None or at in seen or at not in story.stepping or call.does("overwrites"):
            continue
        for meta in call.mutated:
            if not meta.is_trainable or meta.storage is None:
                continue
            if call.does("adds a quotient") or call.does("scales"):
                bent.add(meta.tensor)
            others = moved.setdefault(meta.storage, {})
            other = next((o for o in others.values() if o.tensor != meta.tensor and _meet(o, meta)), None)
            if other is not None and bent.issuperset((meta.tensor, other.tensor)):
                seen.add(at)
                yield _stepped_hazard(story, call, other, meta)
                break
            if len(others) < _MOST:
                others[meta.tensor] = meta


def _meet(one: TensorMetadata, other: TensorMetadata) -> bool:
    """Whether two leaves have elements in common. Where all are, ``copy-shares-parameters`` says so."""
    return region_of(one) != region_of(other) and may_meet(region_of(one), region_of(other))


def _scaled_hazard(story: Story, call: CallEvent, gradient: int) -> Hazard:
    name = story.bindings.name(gradient)
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{line} scales one gradient twice ({gradient}): what it goes through has the parameter twice, so the "
            "gradient counts twice, and is scaled by the square of the factor. PyTorch gives no error."
        ).format(line=wording.spot(call.callsite), gradient=f"`{name}`" if name else _("of a parameter")),
        fix=_("Hand over each parameter once: `model.parameters()`, or `dict.fromkeys(params)` of your list."),
        variable=name,
        mutation=call.callsite,
        badges=Badges(wrote=_("counts it twice here")),
        tensor=gradient,
        call=call.index,
    )


def _stepped_hazard(story: Story, call: CallEvent, one: TensorMetadata, other: TensorMetadata) -> Hazard:
    names = [story.bindings.name(meta.tensor) for meta in (one, other)]
    named = [f"`{name}`" if name else _("a parameter") for name in names]
    laid = [setter.callsite for meta in (other, one) for setter in story.data_setters.get(meta.tensor, ())]
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{one} and {other} are two parameters on one memory, and {line} steps both: each has a state of its own, "
            "made of a part of the gradient, and the memory is moved by the one and by the other. That is no step of "
            "one shared parameter. PyTorch gives no error."
        ).format(one=named[0], other=named[1], line=wording.spot(call.callsite)),
        fix=_(
            "Tie the parameters themselves, as in `decoder.weight = encoder.weight`: then there is one, stepped once."
        ),
        variable=names[1] or names[0],
        mutation=call.callsite,
        badges=Badges(wrote=_("counts it twice here"), origin=_("laid on one memory here")),
        origin=laid[-1] if laid else None,
        tensor=other.tensor,
        call=call.index,
    )


RULE = Rule(check)
