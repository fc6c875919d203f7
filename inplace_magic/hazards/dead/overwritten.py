"""Values that a line put into a parameter, and another line replaced before anybody had read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite

_Write = tuple[CallEvent, Mutation]


_Reach = dict[object, set[int]]
"""The parameters that one line, and the runs of a function that one line began, went over."""


def overwritten_unread(story: Story) -> Iterator[Found]:
    """Yield each write over such values."""
    if not any(call.kind == "in-place" for call in story.doing("overwrites")):
        return
    written = {storage: story.writes_to_storage.get(storage, []) for storage in _parameters(story)}
    reach: _Reach = {}
    for storage, writes in written.items():
        for site in {call.callsite for call, _mutation in writes} - {None}:
            for key in (site, _run(site)) if site is not None else ():
                reach.setdefault(key, set()).add(storage)
    for storage, writes in written.items():
        for place, (earlier, later) in enumerate(pairwise(writes)):
            first, second = earlier[0], later[0]
            if first.callsite == second.callsite or not _replaces(story, *earlier, *later):
                continue
            third = writes[place + 2][0].index if place + 2 < len(writes) else None
            if _comes_of_a_draw(story, writes[: place + 1]) or not _is_mistaken(story, reach, earlier, second):
                continue
            if third is not None and not _is_read(story, storage, second.index, third):
                continue  # not the last word either: the row of zeros, say, is put back
            if not _is_read(story, storage, first.index, second.index):
                tensor, late = later[1].tensor, second.modules and not first.modules
                whole = story.bindings.name(tensor)
                words = {"tensor": f"`{whole}`"} if whole else {}
                message, fix = _A_PART if _by_its_maker(story, *earlier) else ("", _INITIALISED if late else "")
                yield Found({"line": second, "earlier": first}, tensor, words=words, message=message, fix=fix)


def _parameters(story: Story) -> list[int]:
    """Return the memory of leaves that are trained, in the order in which it was met."""
    met = chain.from_iterable([group for call in story.trace.calls for group in (call.inputs, call.outputs)])
    found = dict.fromkeys([meta.storage for meta in met if meta.requires_grad and meta.is_leaf])
    return [storage for storage in found if storage is not None]


def _run(site: Callsite) -> tuple[object, ...]:
    """Stands for the runs of a function that one line began."""
    return site.whose, site.caller


def _replaces(story: Story, first: CallEvent, before: Mutation, second: CallEvent, mutation: Mutation) -> bool:
    """True if a write put something on purpose where a later one overwrote all of it with other values.

    Random numbers are not put there on purpose, nor what the constructor put there, unless that is a part, such as the
    row of zeros for padding, and random numbers were drawn over it.
    """
    if None in (first.callsite, second.callsite) or first.error is not None or second.error is not None:
        return False
    if first.does("draws") or not second.does("overwrites") or mutation.region is not None:
        return False
    if _by_its_maker(story, first, before) and not (second.does("draws") and _is_part(story, first, before)):
        return False
    if mutation.values_before is not None:
        return mutation.values_before != mutation.values_after
    # large tensors are not read, and two writes of one value may have written the same
    return second.does("draws") or first.does("assigns") or before.values_after is not None


def _is_mistaken(story: Story, reach: _Reach, earlier: _Write, second: CallEvent) -> bool:
    """True if the later line went over more than the earlier one, drew over what had been loaded, or ran inside a
    module's forward while the earlier one did not."""
    first, one, other = earlier[0], earlier[0].callsite, second.callsite
    if one is None or other is None:
        return False
    loaded = first.does("assigns")
    wide = reach[one] < reach[other] or reach[_run(one)] < reach[_run(other)] or _by_its_maker(story, *earlier)
    if loaded and not second.does("assigns") and _run(one) != _run(other):
        wide = wide or reach[one] < reach[_run(other)]
    covers = reach[one] == reach[other] or _matrices(story, reach[one]) <= reach[other]
    drawn = loaded and second.does("draws") and covers
    return wide or drawn or (bool(second.modules) and not first.modules and first.does("copies in"))


def _matrices(story: Story, memories: set[int]) -> set[int]:
    """Those of several memories that hold parameters of two dimensions and more, which an initialiser draws while it
    leaves the others alone; all of the memories where there is but one such."""
    trained = (meta for meta in story.observations.values() if meta.is_trainable and meta.storage in memories)
    found = {meta.storage for meta in trained if len(meta.shape or ()) > 1}
    return {memory for memory in found if memory is not None} if len(found) > 1 else memories


def _comes_of_a_draw(story: Story, writes: Sequence[_Write]) -> bool:
    """True if what lies in a memory are random numbers that were only scaled, shifted or bounded since, as a truncated
    normal is made: ``x.uniform_(-1, 1).erfinv_().mul_(0.03).clamp_(-2, 2)``; or that a library's initialiser drew
    and copied in, as ``nn.init.orthogonal_`` does."""
    for call, mutation in reversed(writes):
        inside = call.callsite is not None and not call.callsite.direct and call.does("copies in")
        if call.does("draws") or (inside and any(each.callsite == call.callsite for each in story.doing("draws"))):
            return True
        if call.does("overwrites") or len(call.inputs) > 1 or mutation.region is not None:
            return False
    return False


def _by_its_maker(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    maker = story.maker_of_storage(mutation.storage)
    return maker is not None and maker.callsite == call.callsite


def _is_part(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """True if a write went to some elements of the memory alone."""
    maker = story.maker_of_storage(mutation.storage)
    whole = next((meta.nbytes for meta in maker.outputs if meta.storage == mutation.storage), None) if maker else None
    part = next((meta.nbytes for meta in call.mutated if meta.tensor == mutation.tensor), None)
    return whole is not None and part is not None and part < whole


def _is_read(story: Story, storage: int, since: int, until: int) -> bool:
    """True if a call between two writes reads the memory, or the later write is computed from it."""
    for tensor in story.bindings.by_storage.get(storage, ()):
        for call in story.given_between(tensor, since, until + 1):
            if call.index < until and call.kind not in ("query", "view"):
                return True
            if call.index == until and [meta.storage for meta in call.inputs].count(storage) > 1:
                return True
    return False


_A_PART = (
    N_(
        "{line} draws all of {tensor} anew, also the part that {earlier} had set, such as the zeros of a row for "
        "padding. PyTorch gives no error."
    ),
    N_("Set that part again below {line_code}, under `torch.no_grad()`: for padding `weight[padding_idx] = 0`."),
)
_INITIALISED = N_('Keep the flag for "initialised" in a buffer (`register_buffer`), so that loading restores the flag.')

RULES = rules_of(
    Row(
        "overwritten-unread",
        "warning",
        overwritten_unread,
        Calls(origin="earlier"),
        message=N_(
            "{line} overwrote {tensor} before anything read the values that {earlier} wrote, so those values "
            "are lost. PyTorch gives no error."
        ),
        fix=N_("Initialise the model first, and load or set single parameters afterwards."),
        nameless=N_("a parameter"),
        badges=Badges(origin=N_("set here")),
    ),
    every_call=True,
)
