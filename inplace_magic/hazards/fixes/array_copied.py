"""A fix that gives NumPy a copy: ``history.append(w.detach().numpy().copy())``."""

from __future__ import annotations

from inplace_magic.hazards.fixes.clone import edits_of
from inplace_magic.hazards.fixes.target import Fix, Written


def array_copied(write: Written) -> Fix | None:
    """A copy where the array was taken, which is the finding's origin."""
    listing, origin = write.listing, write.hazard.origin
    node = listing.expression_at(origin) if origin is not None else None
    edits = edits_of(listing, [(node, f"{listing.text(node)}.copy()")]) if node is not None else ()
    return Fix(write.site, listing, edits) if edits else None
