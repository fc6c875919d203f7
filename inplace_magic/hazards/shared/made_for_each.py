"""The fix of a tensor that is made in the body of a class: it is made once for each object."""

from __future__ import annotations

import ast

from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.language import _
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
