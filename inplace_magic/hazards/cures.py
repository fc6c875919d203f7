"""The fix of a finding as a diff of the user's own lines.

What cures a finding depends on its rule; :data:`FIXES` lists, rule by rule, the ways that are tried, the first that is
certain wins. Certain means: told from the syntax of the user's lines and from the trace, and the patched program means
what the program meant before, save for the overwritten values. Where no way is certain there is no diff, and the
finding's sentence must do.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes import clone, inplace_false, iterated, leaf, reorder, return_new, step_advice
from inplace_magic.hazards.fixes.deep_copy import snapshot_taken
from inplace_magic.hazards.fixes.inplace_false import flag_turned_off
from inplace_magic.hazards.fixes.new_tensor import bound_anew, cloned_first, made_out_of_place, value_given
from inplace_magic.hazards.fixes.target import (
    Fix,
    Written,
    can_bind_anew,
    keeps_its_history,
    seen_by_others,
    written,
)
from inplace_magic.hazards.rules import (
    array_shares_memory,
    class_attribute_written,
    copy_shares_parameters,
    default_argument_written,
    initial_value_written,
    operand_overwritten_first,
    results_share_memory,
    swapped_through_views,
)
from inplace_magic.language import _
from inplace_magic.source.listing import diff


def with_fix(story: Story, hazard: Hazard) -> Hazard:
    """The finding with its diff and the price of it; as it was where no fix can be derived."""
    write = written(story, hazard) if hazard.code in FIXES else None
    if write is None:
        return replace(hazard, fix=step_advice.advice(story, hazard) or _of_the_module(story, hazard) or hazard.fix)
    for way in FIXES[hazard.code]:
        fix = way(write)
        if fix is not None:
            text = diff(fix.site, fix.listing, fix.edits)
            return replace(hazard, diff=text, price_bytes=fix.price_bytes, fix=fix.sentence or hazard.fix)
    said = step_advice.advice(story, hazard) or _of_the_module(story, hazard) or return_new.advice(write)
    return replace(hazard, fix=said or hazard.fix)


def _of_the_module(story: Story, hazard: Hazard) -> str:
    turned_off = flag_turned_off in FIXES.get(hazard.code, ()) or hazard.code == "saved-tensor-overwritten"
    return inplace_false.advice(story, hazard) if turned_off else ""


def _saved_overwritten(write: Written) -> Fix | None:
    meta, saved = write.meta, write.hazard.saved
    here = saved is not None and (saved.line, saved.cell, saved.file) == (
        write.site.line,
        write.site.cell,
        write.site.file,
    )
    if here and write.site.direct:
        return clone.in_the_same_statement(write) or _anew_in_the_same_statement(write)
    leaf = meta is not None and meta.is_leaf
    ways: tuple[Callable[[Written], Fix | None], ...] = (
        flag_turned_off,
        value_given,
        bound_anew,
        _cloned_before_return,
    )
    if leaf and meta is not None and meta.requires_grad:
        ways = (reorder.reordered,)
    elif leaf and write.path is not None and "." in write.path:
        ways = (clone.where_it_was_saved, *ways)
    ways = (*ways, reorder.reordered) if leaf else ways
    if not (leaf and ".step(" in write.site.statement):
        ways = (*ways, clone.where_it_was_saved, return_new.from_the_hook)
    return next((fix for way in ways if (fix := way(write)) is not None), None)


def _anew_in_the_same_statement(write: Written) -> Fix | None:
    """``x = x + mlp(norm(x))`` for ``x += mlp(norm(x))``, whose right-hand side saves what it then writes."""
    if not isinstance(write.statement, ast.AugAssign) or not can_bind_anew(write) or not keeps_its_history(write):
        return None
    fix = made_out_of_place(write)
    sentence = _("Let the line make a new tensor: the old one stays as its own right-hand side saved it.")
    return replace(fix, sentence=sentence) if fix is not None else None


def _cloned_before_return(write: Written) -> Fix | None:
    """``x = x.clone()`` above ``return y + act_(x)``, where ``x`` is the function's own."""
    scope, path = write.listing.scope_of(write.statement), write.path
    if not isinstance(write.statement, ast.Return) or path is None or not path.isidentifier():
        return None
    own = path in return_new.bound_in(scope) and write.listing.alone(write.statement)
    leaf = write.meta is not None and write.meta.is_leaf and write.meta.requires_grad
    if not own or leaf or seen_by_others(write) or not keeps_its_history(write):
        return None
    return cloned_first(write)


def _values_changed(write: Written) -> Fix | None:
    if write.call is None and _read_again(write):
        return None
    meta = write.meta
    if write.call is not None and write.call.does("takes memory"):
        return clone.where_it_was_saved(write)
    if meta is not None and meta.is_leaf and not meta.requires_grad and write.path is not None and "." in write.path:
        return clone.where_it_was_saved(write)  # a state, which is to be written
    return bound_anew(write) or reorder.reordered(write)


def _view_not_written(write: Written) -> Fix | None:
    """A new tensor in the place of a view, where nobody is to see the write in the tensor behind it."""
    return None if iterated.is_seen_through_its_base(write) else value_given(write) or bound_anew(write)


def _recomputed(write: Written) -> Fix | None:
    """Inside the checkpointed function a new tensor; outside of it the write after backward."""
    return bound_anew(write) if write.hazard.saved is not None else reorder.reordered(write)


def _read_again(write: Written) -> bool:
    """Whether torch reads the memory that NumPy wrote after that: then the write was meant for it as well."""
    story = write.story
    storages = {m.storage for c in story.trace.calls for m in c.inputs if m.tensor == write.hazard.tensor}
    noticed = max((f.noticed for f in story.trace.foreign if f.storage in storages), default=len(story.trace.calls))
    later = (c for c in story.trace.calls if c.index >= noticed and c.index not in story.backwards)
    return any(m.storage in storages for c in later for m in c.inputs)


def _overlapping(write: Written) -> Fix | None:
    if isinstance(write.statement, ast.AugAssign) and can_bind_anew(write):
        fix = made_out_of_place(write)
        if fix is not None:
            return fix
    return clone.of_what_is_read(write)


FIXES: dict[str, tuple[Callable[[Written], Fix | None], ...]] = {
    "saved-tensor-overwritten": (_saved_overwritten,),
    "recomputed-with-other-values": (_recomputed,),
    "saved-values-changed": (_values_changed,),
    "overlapping-write": (_overlapping,),
    "operand-overwritten-first": (operand_overwritten_first.argument_first,),
    "swapped-through-views": (swapped_through_views.kept_as_a_copy,),
    "expanded-tensor-written": (clone.where_it_was_made,),
    "shared-gradient-edited": (value_given, return_new.new_gradient),
    "alias-written": (flag_turned_off, clone.at_the_second_name, value_given, bound_anew),
    "parameters-share-memory": (flag_turned_off, value_given, bound_anew),
    "kept-activation-overwritten": (clone.where_it_was_kept, flag_turned_off),
    "one-tensor-many-slots": (clone.in_each_slot,),
    "results-share-memory": (results_share_memory.first_one_copied,),
    "dataset-item-edited": (value_given, bound_anew),
    "default-argument-written": (default_argument_written.made_in_the_function,),
    "class-attribute-written": (class_attribute_written.made_for_each_object,),
    "copy-shares-parameters": (copy_shares_parameters.data_copied, copy_shares_parameters.deeply_copied),
    "array-shares-memory": (array_shares_memory.array_copied,),
    "same-memory-compared": (snapshot_taken,),
    "initial-value-written": (initial_value_written.begun_with_a_copy,),
    "leaf-written": (leaf.for_a_leaf,),
    "multi-output-view-written": (flag_turned_off, iterated.taken_by_index, _view_not_written),
    "base-of-multi-output-view-written": (reorder.taken_after_the_write,),
    "view-detached-in-place": (bound_anew,),
    "inference-tensor-written": (flag_turned_off, value_given, bound_anew),
    "no-grad-view-written": (flag_turned_off, _view_not_written),
    "custom-function-view-written": (flag_turned_off, value_given, bound_anew),
}
"""Code of a rule -> the ways to cure its findings, in the order in which they are tried."""
