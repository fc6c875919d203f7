"""Values put into a parameter on purpose were overwritten before anybody read them.

Initialising a whole model goes over every layer, those included that were loaded or set up a moment ago. So does a
first ``forward`` that takes its scale from the data, where the flag that says "done" is no part of what is loaded.

Bad::

    model.emb.weight.data.copy_(vectors)
    model.apply(init_weights)       # draws random numbers over them

    nn.init.constant_(head.bias, -4)
    for layer in layers:
        nn.init.zeros_(layer.bias)  # the head's too

Good::

    model.apply(init_weights)
    model.emb.weight.data.copy_(vectors)

    for layer in layers:
        nn.init.zeros_(layer.bias)
    nn.init.constant_(head.bias, -4)

Told from the record alone: a line wrote a parameter, no call read it, and another line overwrote all of it, with other
values. Found where the later line went over more parameters than the earlier one, all of the earlier ones among them;
where it drew random numbers over what had been copied into the same parameters, or into all the matrices among them; or
where it ran inside ``forward`` and the earlier one did not. What a layer's own constructor puts there counts for
nothing, and neither do random numbers: to initialise first and load afterwards, or to draw a new head for a loaded
model, is the right order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite

CODE = "overwritten-unread"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that overwrote such values."""
    if not any(call.kind == "in-place" for call in story.doing("overwrites")):
        return
    written = {storage: story.writes_to_storage.get(storage, []) for storage in _parameters(story)}
    reach: dict[object, set[int]] = {}
    for storage, writes in written.items():
        for site in {call.callsite for call, _mutation in writes}:
            if site is not None:
                reach.setdefault(site, set()).add(storage)
                reach.setdefault(_run(site), set()).add(storage)
    seen = set()
    for storage, writes in written.items():
        for place, ((first, before), (second, mutation)) in enumerate(pairwise(writes)):
            one, other = first.callsite, second.callsite
            if one is None or other is None or other in seen or one == other:
                continue
            on_purpose, equal = _is_purpose(story, first, before, second), _equal(first, before, second, mutation)
            on_purpose = on_purpose and not _comes_of_a_draw(writes[: place + 1])
            if on_purpose and _replaces(second, mutation) and not equal:
                by_maker = _by_its_maker(story, first, before)
                wide = reach[one] < reach[other] or reach[_run(one)] < reach[_run(other)] or by_maker
                loaded = first.does("assigns") and not second.does("assigns") and _run(one) != _run(other)
                wide = wide or (loaded and reach[one] < reach[_run(other)])
                drawn = first.does("assigns") and second.does("draws")
                drawn = drawn and (reach[one] == reach[other] or _matrices(story, reach[one]) <= reach[other])
                inside = bool(second.modules) and not first.modules and first.does("copies in")
                third = writes[place + 2][0] if place + 2 < len(writes) else None
                if third is not None and not _read_between(story, storage, second.index, third.index):
                    continue  # not the last word either: the row of zeros, say, is put back
                if (wide or drawn or inside) and not _read_between(story, storage, first.index, second.index):
                    seen.add(other)
                    yield _hazard(story, first, second, mutation)


def _parameters(story: Story) -> list[int]:
    """The memory of leaves that are trained, in the order in which it was met."""
    met = chain.from_iterable([group for call in story.trace.calls for group in (call.inputs, call.outputs)])
    found = dict.fromkeys([meta.storage for meta in met if meta.requires_grad and meta.is_leaf])
    return [storage for storage in found if storage is not None]


def _matrices(story: Story, memories: set[int]) -> set[int]:
    """Those of several memories that hold parameters of two dimensions and more, which an initialiser draws while it
    leaves the others alone; all of the memories where there is but one such."""
    found = {
        meta.storage
        for meta in story.observations.values()
        if meta.storage in memories and meta.is_trainable and len(meta.shape or ()) > 1
    }
    return {memory for memory in found if memory is not None} if len(found) > 1 else memories


def _run(site: Callsite) -> tuple[object, ...]:
    """Stands for the runs of a function that one line began."""
    return site.function, site.cell, site.file, site.caller


def _is_purpose(story: Story, call: CallEvent, mutation: Mutation, later: CallEvent) -> bool:
    """Whether a write put something there that is worth keeping: not random numbers, and of what the line that made the
    memory put there only a part, such as the row of zeros for padding, where random numbers were drawn over it."""
    if call.error is not None or call.does("draws"):
        return False
    return not _by_its_maker(story, call, mutation) or (later.does("draws") and _is_part(story, call, mutation))


def _comes_of_a_draw(writes: Sequence[tuple[CallEvent, Mutation]]) -> bool:
    """Whether what lies in a memory are random numbers that were only scaled, shifted or bounded since, as a truncated
    normal is made: ``x.uniform_(-1, 1).erfinv_().mul_(0.03).clamp_(-2, 2)``."""
    for call, mutation in reversed(writes):
        if call.does("draws"):
            return True
        if call.does("overwrites") or len(call.inputs) > 1 or mutation.region is not None:
            return False
    return False


def _by_its_maker(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    maker = story.maker_of_storage(mutation.storage)
    return maker is not None and maker.callsite == call.callsite


def _is_part(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """Whether a write went to some elements of the memory alone, as the row of zeros for padding in an embedding."""
    maker = story.maker_of_storage(mutation.storage)
    whole = next((meta.nbytes for meta in maker.outputs if meta.storage == mutation.storage), None) if maker else None
    part = next((meta.nbytes for meta in call.mutated if meta.tensor == mutation.tensor), None)
    return None not in (whole, part) and part < whole  # type: ignore[operator]


def _replaces(call: CallEvent, mutation: Mutation) -> bool:
    return call.error is None and call.does("overwrites") and mutation.region is None


def _equal(first: CallEvent, before: Mutation, second: CallEvent, mutation: Mutation) -> bool:
    """Whether the later write left what the earlier one had written, as far as is known; large tensors are not read,
    and two writes of one value may have written the same."""
    if mutation.values_before is not None:
        return mutation.values_before == mutation.values_after
    return not second.does("draws") and not first.does("assigns") and before.values_after is None


def _read_between(story: Story, storage: int, since: int, until: int) -> bool:
    for tensor in story.bindings.by_storage.get(storage, ()):
        for call in story.given_to.get(tensor, ()):
            if since < call.index < until and call.kind not in ("query", "view"):
                return True
            if call.index == until and [m.storage for m in call.inputs].count(storage) > 1:
                return True  # computed from itself
    return False


def _hazard(story: Story, first: CallEvent, second: CallEvent, mutation: Mutation) -> Hazard:
    site = second.callsite
    name = story.bindings.written_name(second, mutation.tensor) or story.bindings.name(mutation.tensor)
    whole = story.bindings.name(mutation.tensor) or name
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} overwrote {tensor} before anybody had read what {earlier} had put there, so those values are lost. "
            "PyTorch gives no error."
        ).format(
            line=wording.spot(site),
            tensor=f"`{whole}`" if whole else _("a parameter"),
            earlier=wording.spot(first.callsite),
        ),
        fix=_(
            "Keep the flag that says whether it was initialised in a buffer (`register_buffer`), so that loading "
            "brings it along."
        )
        if second.modules and not first.modules
        else _("Initialise the model first, and load or set single parameters afterwards."),
        variable=name,
        origin=first.callsite,
        tensor=mutation.tensor,
        write=second,
        badges=Badges(origin=_("set here")),
    )


RULE = Rule(check)
