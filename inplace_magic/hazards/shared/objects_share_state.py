"""Two objects of one class count in one tensor: each goes on from what the other has counted."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.new_tensor import slot_bound_anew
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.engine import Again
from inplace_magic.hazards.references.objects.class_state import keeps_both, of_the_class
from inplace_magic.hazards.references.objects.copies import PastAnother, written_past_another
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.references.owners import object_of
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

CODE = "objects-share-state"


def check(story: Story) -> Iterator[Hazard]:
    """Yield one finding for each writing line."""
    told: set[Callsite | None] = set()
    for other in _written_for_two(story):
        if other.site not in told:
            told.add(other.site)
            if of_the_class(story, other.call, other.tensor, other.site) is None or not keeps_both(story, other.site):
                yield _of_two_objects(story, other)
    for past in written_past_another(story):
        if past.call.callsite not in told:
            told.add(past.call.callsite)
            yield _of_another_holder(story, past)


def _written_for_two(story: Story) -> Iterator[Again[int]]:
    """Yields the writes that a method makes of an attribute for one object, on top of what it has left for another."""
    first: dict[tuple[object, ...], tuple[int, str | None]] = {}
    for entry in story.trace.methods:
        call = story.calls.get(entry.call)
        site = call.callsite if call is not None else None
        if call is None or site is None or call.error is not None:
            continue
        for mutation in call.mutations if all(builds_on_itself(story, call, each) for each in call.mutations) else ():
            now = entry.object, object_of(site.caller)
            before = first.setdefault((site.cell, site.file, site.line, mutation.tensor), now)
            if before[0] == now[0] or not _is_its_own(story, call, site, mutation.tensor):
                continue
            if before[1] == now[1] or of_the_class(story, call, mutation.tensor, site) is None:
                yield Again(call, site, mutation.tensor, before[0], now[0])


def _is_its_own(story: Story, call: CallEvent, site: Callsite, tensor: int) -> bool:
    """Whether a written tensor is an attribute that nobody handed to the object, as ``self.total = total`` and
    ``copy.total = meter.total`` do: objects that share such a one may be meant to."""
    path, meta = story.bindings.written_path(call, tensor), story.observations.get(tensor)
    holder, dot, attribute = (path or "").partition(".")
    own = holder in site.parameters[:1] and dot and "." not in attribute and "[" not in attribute
    if not own or meta is None or meta.is_trainable or story.is_gradient(call.mutations[0]):
        return False
    given = (alias.target.partition(".") for alias in story.aliases.statements)
    return all(entry[2] != attribute for entry in given)


def _of_a_copy(story: Story, call: CallEvent, tensor: int, written: str, original: str) -> Hazard:
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes `{original}`, too: what `{written}` belongs to is a shallow copy, which holds the very "
            "tensors of the original. PyTorch gives no error."
        ).format(line=wording.spot(call.callsite), written=written, original=original),
        fix=_("Copy the tensors as well: `copy.deepcopy`, or `.clone()` of what is written."),
        variable=written,
        tensor=tensor,
        write=call,
    )


def _of_another_holder(story: Story, past: PastAnother) -> Hazard:
    written, original = past.copy.path, past.original.path
    if past.read is None:
        return _of_a_copy(story, past.call, past.tensor, written, original)
    return finding(
        CODE,
        "warning",
        message=_(
            "{read} reads `{original}`, but {line} had written it as `{written}`: two objects of the class `{kind}` "
            "hold one tensor, and what is written to it is in both. PyTorch gives no error."
        ).format(
            read=wording.spot(past.read.callsite),
            line=wording.spot(past.call.callsite),
            written=written,
            original=original,
            kind=past.copy.kind,
        ),
        fix=_("Copy the tensors as well: `copy.deepcopy`, or `.clone()` of what is written."),
        variable=story.bindings.written_path(past.call, past.call.mutations[0].tensor) or written,
        read=past.read,
        tensor=past.tensor,
        write=past.call,
    )


def _of_two_objects(story: Story, again: Again[int]) -> Hazard:
    path = story.bindings.written_path(again.call, again.tensor) or ""
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes `{path}` for one object on top of what it had written for another one: both hold one "
            "tensor. PyTorch gives no error."
        ).format(line=wording.spot(again.site), path=path),
        fix=_("Give each object a tensor of its own: `copy.deepcopy`, or make it in `__init__`."),
        variable=path,
        tensor=again.tensor,
        write=again.call,
    )


def _holder(path: str) -> str:
    return path.rpartition(".")[0]


def _slot_of_its_own(write: Written) -> Fix | None:
    """``self.total = self.total + x``; not where another line writes this tensor in place, too, nor where another
    function writes other tensors of the objects."""
    story, tensor, site = write.story, write.hazard.tensor, write.site
    holders = {_holder(name) for name in (*story.names.get(tensor or -1, ()), write.path or "")} - {""}
    elsewhere: set[int] = set()
    for call, mutation, _earlier in story.writes_counted:
        if mutation.tensor == tensor and not site.same_line(call.callsite):
            return None
        if not site.same_function(call.callsite):
            elsewhere.add(mutation.tensor)
    others = (_holder(name) for held in elsewhere - {tensor} for name in story.names.get(held, ()))
    return slot_bound_anew(write) if holders.isdisjoint(others) else None


RULE = Rule(check, {CODE: Cures((_slot_of_its_own,))})
