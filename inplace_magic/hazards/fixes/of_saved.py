"""Fixes for a value that autograd saved and somebody wrote: which of the ways fits what was written."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from inplace_magic.hazards.fixes import clone, reorder
from inplace_magic.hazards.fixes.binding import can_bind_anew, keeps_its_history
from inplace_magic.hazards.fixes.inplace_false import flag_turned_off
from inplace_magic.hazards.fixes.new_tensor import bound_anew, from_the_hook, made_out_of_place, value_given
from inplace_magic.hazards.fixes.target import Fix, Written, leaves_a_write
from inplace_magic.language import _


def version_moved(write: Written) -> Fix | None:
    """For a write that PyTorch counts, so that backward raises."""
    meta, saved, site = write.meta, write.hazard.saved, write.site
    here = saved is not None and (saved.line, saved.cell, saved.file) == (site.line, site.cell, site.file)
    if here and site.direct:
        return clone.in_the_same_statement(write) or _anew_in_the_same_statement(write)
    leaf = meta is not None and meta.is_leaf
    ways: tuple[Callable[[Written], Fix | None], ...] = (flag_turned_off, value_given, bound_anew)
    if leaf and meta is not None and meta.requires_grad:
        ways = (reorder.reordered,)
    elif leaf and write.path is not None and "." in write.path:
        ways = (clone.where_it_was_saved, *ways)
    ways = (*ways, reorder.reordered) if leaf else ways
    if not (leaf and ".step(" in write.site.statement):
        ways = (*ways, clone.where_it_was_saved, from_the_hook)
    return next((fix for way in ways if (fix := way(write)) is not None and not leaves_a_write(write, fix)), None)


def version_kept(write: Written) -> Fix | None:
    """For a write that PyTorch does not count, so that backward uses the new values in silence."""
    if write.call is None and _read_again(write):
        return None
    meta = write.meta
    if write.call is not None and write.call.does("takes memory"):
        return clone.where_it_was_saved_unseen(write)
    if meta is not None and meta.is_leaf and not meta.requires_grad and write.path is not None and "." in write.path:
        return clone.where_it_was_saved_unseen(write)  # a state, which is to be written
    return bound_anew(write) or reorder.reordered(write)


def _anew_in_the_same_statement(write: Written) -> Fix | None:
    """``x = x + mlp(norm(x))`` for ``x += mlp(norm(x))``, whose right-hand side saves what it then writes."""
    if not isinstance(write.statement, ast.AugAssign) or not can_bind_anew(write) or not keeps_its_history(write):
        return None
    fix = made_out_of_place(write)
    sentence = _("Let the line make a new tensor: the old one stays as its own right-hand side saved it.")
    return replace(fix, sentence=sentence) if fix is not None else None


def _read_again(write: Written) -> bool:
    """True if torch reads the memory that NumPy wrote after that: then the write was meant for it as well."""
    story = write.story
    storages = {m.storage for c in story.trace.calls for m in c.inputs if m.tensor == write.hazard.tensor}
    noticed = max((f.noticed for f in story.trace.foreign if f.storage in storages), default=len(story.trace.calls))
    later = (c for c in story.trace.calls if c.index >= noticed and c.index not in story.backwards)
    return any(m.storage in storages for c in later for m in c.inputs)
