"""Objects add in place to a tensor that belongs to their class, so each goes on with what the others have left."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.engine import Again, written_again
from inplace_magic.hazards.references.objects.class_state import keeps_both, of_the_class
from inplace_magic.hazards.references.objects.shared_containers import SharedContainer, shared_by_objects
from inplace_magic.hazards.references.owners import object_of
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Edit, Listing

CODE = "class-attribute-written"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    for again in written_again(story, partial(_for_object, story)):
        if not keeps_both(story, again.site):
            yield _hazard(again, of_the_class(story, again.call, again.tensor, again.site) or "")
    for shared in shared_by_objects(story):
        if shared.kind == "class" and not keeps_both(story, shared.site):
            yield _of_an_entry(shared)


def _for_object(story: Story, call: CallEvent, site: Callsite, tensor: int) -> str | None:
    """The object for which a method writes the tensor of its class."""
    return object_of(site.caller) if of_the_class(story, call, tensor, site) is not None else None


def _hazard(again: Again[str], shared: str) -> Hazard:
    attribute = shared.rpartition(".")[2]
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes `self.{attribute}` for `{other}` after it wrote it for `{one}`, and both times it is "
            "`{shared}`: a tensor that is made in the body of a class is one tensor for all its objects. PyTorch gives "
            "no error."
        ).format(line=wording.spot(again.site), attribute=attribute, one=again.before, other=again.now, shared=shared),
        fix=_(
            "Make the tensor in `__init__`, once for each object; in a dataclass write "
            "`field(default_factory=lambda: …)`."
        ),
        variable=f"self.{attribute}",
        tensor=again.tensor,
        write=again.call,
    )


def _of_an_entry(shared: SharedContainer) -> Hazard:
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes an entry of `self.{attribute}` for one object on top of what it wrote for another one: what "
            "the body of the class `{owner}` makes is one for all its objects, and so is each tensor in it. PyTorch "
            "gives no error."
        ).format(line=wording.spot(shared.site), attribute=shared.attribute, owner=shared.owner),
        fix=_("Make `self.{attribute}` in `__init__`, once for each object.").format(attribute=shared.attribute),
        variable=f"self.{shared.attribute}",
        tensor=shared.tensor,
        write=shared.call,
    )


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


RULE = Rule(check, {CODE: Cures((made_for_each_object,))})
