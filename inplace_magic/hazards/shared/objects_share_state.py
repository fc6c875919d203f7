"""Two objects of one class count in one tensor: each continues from what the other has counted."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.new_tensor import slot_bound_anew
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.objects.copies import PastAnother, written_past_another
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.references.owners import object_of
from inplace_magic.hazards.rule import row
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Edit, Listing


def made_for_each_object(write: Written) -> Fix | None:
    """The line of the class moves into an ``__init__``; a dataclass gets a ``default_factory``."""
    listing, attribute = write.listing, (write.hazard.variable or "").rpartition(".")[2]
    method = listing.scope_of(write.statement)
    owner = listing.parents.get(method)
    if not listing.whole or not isinstance(owner, ast.ClassDef):
        return None
    for entry in owner.body:
        if not isinstance(entry, (ast.Assign, ast.AnnAssign)):
            continue
        targets = entry.targets if isinstance(entry, ast.Assign) else [entry.target]
        if [expressions.path_text(target) for target in targets] == [attribute]:
            if owner.decorator_list:
                edits, said = _by_factory(listing, owner, entry), _("Let the dataclass make a tensor for each object.")
            else:
                edits, said = _in_init(listing, owner, entry, attribute), _("Make the tensor once for each object.")
            return Fix(write.site, listing, edits, sentence=said) if edits else None
    return None


def _in_init(listing: Listing, owner: ast.ClassDef, entry: ast.Assign | ast.AnnAssign, name: str) -> tuple[Edit, ...]:
    plain = not owner.bases and isinstance(entry, ast.Assign) and entry.lineno == entry.end_lineno
    if not plain or entry.value is None or any(getattr(node, "name", "") == "__init__" for node in owner.body):
        return ()
    indent = listing.indent(entry)
    rows = (f"{indent}def __init__(self):", f"{indent}    self.{name} = {listing.text(entry.value)}")
    return (Edit(entry.lineno, entry.lineno, rows),)


def _by_factory(listing: Listing, owner: ast.ClassDef, entry: ast.Assign | ast.AnnAssign) -> tuple[Edit, ...]:
    imported = next(
        (node for node in listing.nodes if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"),
        None,
    )
    decorated = any("dataclass" in listing.text(node) for node in owner.decorator_list)
    if imported is None or not decorated or entry.value is None or imported.lineno != imported.end_lineno:
        return ()
    made = listing.substitute([(entry.value, f"field(default_factory=lambda: {listing.text(entry.value)})")])
    known = any(alias.name == "field" and alias.asname is None for alias in imported.names)
    head = () if known else (listing.replace(imported, f"{listing.text(imported)}, field"),)
    edits = (*head, made)
    return tuple(edit for edit in edits if edit is not None) if all(edits) else ()


CODE = "objects-share-state"
OF_A_CLASS = "class-attribute-written"


def objects_share_state(story: Story) -> Iterator[Hazard]:
    """Yield one finding for each line that writes a tensor of two objects."""
    told: set[Callsite | None] = set()
    for call, site, tensor, in_turn in _written_for_two(story):
        if site not in told:
            told.add(site)
            of_class = _of_the_class(story, call, tensor, site) is not None
            if not of_class or (in_turn and not _keeps_both(story, site)):
                yield _of_two_objects(story, call, tensor)
    for past in written_past_another(story):
        if past.call.callsite not in told:
            told.add(past.call.callsite)
            yield _of_another_holder(story, past)


def class_attribute_written(story: Story) -> Iterator[Hazard]:
    """Yield one finding for each line that writes a tensor of the class for two objects, as if each had its own."""
    told: set[tuple[object, ...]] = set()
    for call, site, tensor, in_turn in _written_for_two(story):
        shared = _of_the_class(story, call, tensor, site)
        line = site.cell, site.file, site.line
        if shared is not None and not in_turn and line not in told and not _keeps_both(story, site):
            told.add(line)
            yield _of_class(story, call, tensor, shared)


def _written_for_two(story: Story) -> Iterator[tuple[CallEvent, Callsite, int, bool]]:
    """Yield the writes that a method makes of an attribute for one object, on top of what it has left for another, and
    whether one line called it for both."""
    first: dict[tuple[object, ...], tuple[int, str | None]] = {}
    for entry in story.trace.methods:
        call = story.calls.get(entry.call)
        site = call.callsite if call is not None else None
        if call is None or site is None or call.error is not None:
            continue
        for mutation in call.mutations if all(builds_on_itself(story, call, each) for each in call.mutations) else ():
            now = entry.object, object_of(site.caller)
            before = first.setdefault((site.cell, site.file, site.line, mutation.tensor), now)
            if before[0] != now[0] and _is_its_own(story, call, site, mutation.tensor):
                yield call, site, mutation.tensor, before[1] == now[1]


def _of_the_class(story: Story, call: CallEvent, tensor: int, site: Callsite) -> str | None:
    """Return ``Histogram.counts`` for a write of ``self.counts`` in a method of that class, if both are one tensor."""
    attribute = _attribute(story, call, tensor, site)
    shared = f"{site.function.rpartition('.')[0]}.{attribute}"
    return shared if attribute is not None and shared in story.names.get(tensor, ()) else None


def _keeps_both(story: Story, site: Callsite) -> bool:
    """True if the method of a place also writes a tensor that the object has of its own, as in ``self.total +=
    day; self.everywhere += day``: who has one of each means the one of the class for all."""
    return any(
        _attribute(story, call, mutation.tensor, here) is not None
        and _of_the_class(story, call, mutation.tensor, here) is None
        for here, call in story.writing_in.get((site.function, site.cell, site.file), ())
        for mutation in call.mutations
    )


def _attribute(story: Story, call: CallEvent, tensor: int, site: Callsite) -> str | None:
    """Return `counts` for a write of ``self.counts`` in a method."""
    owner, _dot, attribute = (story.bindings.written_path(call, tensor) or "").partition(".")
    plain = owner in site.parameters[:1] and attribute and "." not in attribute and "[" not in attribute
    return attribute if plain else None


def _is_its_own(story: Story, call: CallEvent, site: Callsite, tensor: int) -> bool:
    """True if a written tensor is an attribute that nobody handed to the object, as ``self.total = total`` and
    ``copy.total = meter.total`` do: objects that share such a one may be meant to."""
    attribute, meta = _attribute(story, call, tensor, site), story.observations.get(tensor)
    if attribute is None or meta is None or meta.is_trainable or story.is_gradient(call.mutations[0]):
        return False
    given = (alias.target.partition(".") for alias in story.aliases.statements)
    return all(entry[2] != attribute for entry in given)


def _of_a_copy(story: Story, call: CallEvent, tensor: int, written: str, original: str) -> Hazard:
    named = _(
        "{line} writes `{original}` as well: the owner of `{written}` is a shallow copy, which holds the "
        "very tensors of the original. PyTorch gives no error."
    )
    nameless = _(
        "{line} writes the original as well: the owner of `{written}` is a shallow copy, which holds the very tensors "
        "of the object it was copied from. PyTorch gives no error."
    )
    return finding(
        CODE,
        "warning",
        message=(nameless if written == original else named).format(
            line=wording.spot(call.callsite), written=written, original=original
        ),
        fix=_("Copy the tensors as well: `copy.deepcopy`, or `.clone()` the written tensor."),
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
            "{line} wrote `{original}` as `{written}` before {read} reads it: two objects of the class `{kind}` "
            "hold one tensor, so a write to one changes both. PyTorch gives no error."
        ).format(
            read=wording.spot(past.read.callsite),
            line=wording.spot(past.call.callsite),
            written=written,
            original=original,
            kind=past.copy.kind,
        ),
        fix=_("Copy the tensors as well: `copy.deepcopy`, or `.clone()` the written tensor."),
        variable=story.bindings.written_path(past.call, past.call.mutations[0].tensor) or written,
        read=past.read,
        tensor=past.tensor,
        write=past.call,
    )


def _of_two_objects(story: Story, call: CallEvent, tensor: int) -> Hazard:
    path = story.bindings.written_path(call, tensor) or ""
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes `{path}` for one object on top of what it wrote for another one: both hold one "
            "tensor. PyTorch gives no error."
        ).format(line=wording.spot(call.callsite), path=path),
        fix=_("Give each object a tensor of its own: `copy.deepcopy`, or make it in `__init__`."),
        variable=path,
        tensor=tensor,
        write=call,
    )


def _of_class(story: Story, call: CallEvent, tensor: int, shared: str) -> Hazard:
    path = story.bindings.written_path(call, tensor) or ""
    return finding(
        OF_A_CLASS,
        "warning",
        message=_(
            "{line} writes `{path}` for one object on top of what it wrote for another one, and both times the "
            "tensor is `{shared}`: a tensor made in a class body is one tensor for all objects. PyTorch gives "
            "no error."
        ).format(line=wording.spot(call.callsite), path=path, shared=shared),
        fix=_(
            "Make the tensor in `__init__`, once for each object; in a dataclass write "
            "`field(default_factory=lambda: …)`."
        ),
        variable=path,
        tensor=tensor,
        write=call,
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


RULES = (
    row(CODE, "warning", objects_share_state, _slot_of_its_own),
    row(OF_A_CLASS, "warning", class_attribute_written, made_for_each_object),
)
