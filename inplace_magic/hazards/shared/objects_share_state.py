"""Two objects of one class count in one tensor: each goes on from what the other has counted."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.new_tensor import slot_bound_anew
from inplace_magic.hazards.fixes.target import Fix, Written, copied_from
from inplace_magic.hazards.references.engine import Again, written_again
from inplace_magic.hazards.references.objects.class_state import keeps_both, of_the_class
from inplace_magic.hazards.references.objects.copies import PastAnother, comes_by_copies, written_past_another
from inplace_magic.hazards.references.objects.ways import is_in_a_loop
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.references.owners import Owned, object_of, owners_of
from inplace_magic.hazards.references.second_names import taken_for_the_write
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.paths import is_entry
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import whole_listing

CODE = "objects-share-state"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    one_object = {frozenset((alias.target, alias.source)) for alias in story.trace.aliases}
    told: set[Callsite | None] = set()
    for again in written_again(story, partial(_for_object, story, _Named.of(story))):
        if frozenset((_holder(again.before), _holder(again.now))) not in one_object:
            told.add(again.site)
            yield _hazard(again)
    for other in _written_for_two(story):
        if other.site not in told:
            told.add(other.site)
            if of_the_class(story, other.call, other.tensor, other.site) is None or not keeps_both(story, other.site):
                yield _of_two_objects(story, other)
    for past in written_past_another(story):
        if past.call.callsite not in told:
            told.add(past.call.callsite)
            yield _of_another_holder(story, past)
    for call, mutation, earlier in story.writes_counted:
        if earlier or call.callsite in told:
            continue  # most writes of a loop end here
        pair = _copy_and_original(story, call, mutation)
        if pair is not None and _is_used_again(story, call, mutation.tensor, pair[0].site):
            told.add(call.callsite)
            yield _of_a_copy(story, call, mutation.tensor, pair[0].path, pair[1])


@dataclass(frozen=True)
class _Named:
    """The objects whose methods wrote, and what the first caller called each."""

    objects: dict[int, int]
    """By index of the call."""
    names: dict[tuple[int, str], str] = field(default_factory=dict)
    """By object and attribute."""

    @classmethod
    def of(cls, story: Story) -> _Named:
        return cls({entry.call: entry.object for entry in story.trace.methods})

    def name(self, call: CallEvent, path: str) -> str:
        """``meter.total``, also where a function that was handed the meter called it ``one.total``."""
        known = self.objects.get(call.index)
        return path if known is None else self.names.setdefault((known, path.rpartition(".")[2]), path)


def _holder(path: str) -> str:
    return path.rpartition(".")[0]


def _for_object(story: Story, named: _Named, call: CallEvent, site: Callsite, tensor: int) -> str | None:
    """The object of the user's, and its attribute, for which a method writes, or what a method called."""
    mutation = next(each for each in call.mutations if each.tensor == tensor)
    for held in (tensor, *taken_for_the_write(story, call, mutation)):
        meta = story.observations.get(held)
        if meta is None or meta.is_trainable or of_the_class(story, call, held, site) is not None:
            return None  # of a class see `class-attribute-written`
        names = story.names.get(held, ())
        for place in site.chain[-2::-1] if names else ():
            holder = object_of(place)
            if holder is None or holder in place.parameters[:1]:
                continue
            found = next((name for name in names if _holder(name) == holder and not is_entry(name)), None)
            if found is not None:
                return named.name(call, found)
    return None


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


def _copy_and_original(story: Story, call: CallEvent, mutation: Mutation) -> tuple[Owned, str] | None:
    """``branch.speed``, where it is written or handed to what writes it, and ``state.speed``, where ``branch =
    replace(state, …)`` and both were seen to be the tensor."""
    tensor = mutation.tensor
    meta = story.observations.get(tensor)
    if meta is None or meta.is_trainable:
        return None
    for owned in owners_of(story, call, mutation, story.bindings.written_path(call, tensor)):
        original = _original(story, owned.path, owned.site, tensor)
        if original is not None:
            return owned, original
    return None


def _original(story: Story, path: str, site: Callsite, tensor: int) -> str | None:
    """The same entry of what the holder of a path is a shallow copy of."""
    node = expressions.parse(path)
    root = expressions.root_name(node) if isinstance(node, ast.expr) else None
    held = (*story.local_names.get((site.function, site.cell, site.file, tensor), ()), *story.names.get(tensor, ()))
    if root is None or root == path or path not in held:
        return None
    listing = whole_listing(story.trace, site)
    statement = listing.statement_at(site) if listing is not None else None
    for stored in listing.stores.get(root, ()) if listing is not None and statement is not None else ():
        assert listing is not None
        assert statement is not None
        bound = listing.parents.get(stored)
        here = isinstance(bound, ast.Assign) and listing.scope_of(bound) is listing.scope_of(statement)
        original = copied_from(bound.value) if here and isinstance(bound, ast.Assign) else None
        if original is not None and f"{original}{path[len(root) :]}" in held:
            return f"{original}{path[len(root) :]}"
    return None


def _is_used_again(story: Story, call: CallEvent, tensor: int, site: Callsite) -> bool:
    """Whether others than the function that has the copy read a tensor, or the line writes it for another copy."""
    for later in story.given_to.get(tensor, ()):
        if later.index <= call.index or later.callsite is None or later.error is not None:
            continue
        if comes_by_copies(story, call, later, tensor):
            continue
        if later.callsite == call.callsite:
            return not is_in_a_loop(story, site)
        if not later.callsite.is_below_function(site):
            return True
    return False


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


def _hazard(again: Again[str]) -> Hazard:
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes `{now}.{attribute}` on top of what it had written for `{before}`: both objects hold one "
            "tensor. PyTorch gives no error."
        ).format(
            line=wording.spot(again.site),
            attribute=again.now.rpartition(".")[2],
            before=_holder(again.before),
            now=_holder(again.now),
        ),
        fix=_("Give each object a tensor of its own: `copy.deepcopy`, or make it in `__init__`."),
        variable=again.now,
        tensor=again.tensor,
        write=again.call,
    )


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
