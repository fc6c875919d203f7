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

from inplace_magic.analysis.expressions import path_text
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import (
    array_shares_memory,
    class_attribute_written,
    copies,
    copy_shares_parameters,
    default_argument_written,
    initial_value_written,
    operand_overwritten_first,
    reordering,
    results_share_memory,
    returning,
    swapped_through_views,
)
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.listing import Edit, diff
from inplace_magic.hazards.modules import flag_turned_off
from inplace_magic.hazards.rewriting import chain_base, new_value, out_of_place
from inplace_magic.hazards.snapshots import snapshot_taken
from inplace_magic.hazards.written import (
    Fix,
    Written,
    can_bind_anew,
    keeps_its_history,
    loads_after,
    seen_by_others,
    written,
)
from inplace_magic.language import _

_PROMOTING = ("add_", "sub_", "mul_", "div_", "__iadd__", "__isub__", "__imul__", "__itruediv__")


def with_fix(story: Story, hazard: Hazard) -> Hazard:
    """The finding with its diff and the price of it; as it was where no fix can be derived."""
    write = written(story, hazard) if hazard.code in FIXES else None
    if write is None:
        return hazard
    for way in FIXES[hazard.code]:
        fix = way(write)
        if fix is not None:
            text = diff(fix.site, fix.listing, fix.edits)
            return replace(hazard, diff=text, price_bytes=fix.price_bytes, fix=fix.sentence or hazard.fix)
    return replace(hazard, fix=returning.advice(write) or hazard.fix)


def _saved_overwritten(write: Written) -> Fix | None:
    meta, saved = write.meta, write.hazard.saved
    here = saved is not None and (saved.line, saved.cell, saved.file) == (
        write.site.line,
        write.site.cell,
        write.site.file,
    )
    if here and write.site.direct:
        return copies.in_the_same_statement(write) or _anew_in_the_same_statement(write)
    leaf = meta is not None and meta.is_leaf
    ways: tuple[Callable[[Written], Fix | None], ...] = (
        flag_turned_off,
        _value_given,
        _bound_anew,
        _cloned_before_return,
    )
    if leaf and meta is not None and meta.requires_grad:
        ways = (reordering.reordered,)
    elif leaf and write.path is not None and "." in write.path:
        ways = (copies.where_it_was_saved, *ways)
    ways = (*ways, reordering.reordered) if leaf else ways
    if not (leaf and ".step(" in write.site.statement):
        ways = (*ways, copies.where_it_was_saved, returning.from_the_hook)
    return next((fix for way in ways if (fix := way(write)) is not None), None)


def _anew_in_the_same_statement(write: Written) -> Fix | None:
    """``x = x + mlp(norm(x))`` for ``x += mlp(norm(x))``, whose right-hand side saves what it then writes."""
    if not isinstance(write.statement, ast.AugAssign) or not can_bind_anew(write) or not keeps_its_history(write):
        return None
    fix = _out_of_place(write)
    sentence = _("Let the line make a new tensor: the old one stays as its own right-hand side saved it.")
    return replace(fix, sentence=sentence) if fix is not None else None


def _cloned_before_return(write: Written) -> Fix | None:
    """``x = x.clone()`` above ``return y + act_(x)``, where ``x`` is the function's own."""
    scope, path = write.listing.scope_of(write.statement), write.path
    if not isinstance(write.statement, ast.Return) or path is None or not path.isidentifier():
        return None
    own = path in returning.bound_in(scope) and write.listing.alone(write.statement)
    leaf = write.meta is not None and write.meta.is_leaf and write.meta.requires_grad
    if not own or leaf or seen_by_others(write) or not keeps_its_history(write):
        return None
    return _cloned_first(write)


def _bound_anew(write: Written) -> Fix | None:
    """``y = y + 1`` for ``y += 1``, or ``x = x.clone()`` before the write."""
    if not can_bind_anew(write) or not keeps_its_history(write):
        return None
    return _out_of_place(write) or _cloned_first(write)


def _out_of_place(write: Written) -> Fix | None:
    text = None
    if write.path is not None and not _would_promote(write):
        text = out_of_place(write.listing, write.statement, write.path)
    edit = write.listing.replace(write.statement, text) if text is not None else None
    free = write.call is not None and write.call.name.endswith("detach_")
    return Fix(write.site, write.listing, (edit,), None if free else _nbytes(write)) if edit is not None else None


def _cloned_first(write: Written) -> Fix | None:
    if write.call is not None and write.call.name.endswith("detach_"):
        return None
    if any(isinstance(node, (ast.Lambda, ast.comprehension)) for node in ast.walk(write.statement)):
        return None
    if _writes_more(write):
        return None
    copy = "copy" if _is_array(write) else "clone"
    lines = (f"{write.path} = {write.path}.{copy}()", write.listing.text(write.statement))
    edit = write.listing.replace(write.statement, *lines)
    return Fix(write.site, write.listing, (edit,), _nbytes(write)) if edit is not None else None


def _writes_more(write: Written) -> bool:
    """Whether the statement writes other variables as well: ``i.sigmoid_(), f.sigmoid_()``."""
    calls = (node for node in ast.walk(write.statement) if isinstance(node, ast.Call))
    bases = {path_text(base) for node in calls if (base := chain_base(node)) is not node}
    return bool(bases - {write.path, None})


def _would_promote(write: Written) -> bool:
    """Whether the out-of-place twin gives another dtype: ``half += single`` stays half, ``half + single`` does not."""
    call, meta = write.call, write.meta
    if call is None or meta is None or not call.name.endswith(_PROMOTING):
        return False
    return any(other.dtype != meta.dtype and "float" in other.dtype and other.shape != () for other in call.inputs)


def _value_given(write: Written) -> Fix | None:
    """``return t * 2`` for ``return t.mul_(2)``: the line uses what the write gives."""
    listing, statement = write.listing, write.statement
    node = listing.expression_at(write.site)
    while node is not None and isinstance(method := listing.parents.get(node), ast.Attribute):
        call = listing.parents.get(method)
        if not method.attr.endswith("_") or not isinstance(call, ast.Call):
            break
        node = call
    if node is None or isinstance(statement, ast.Expr) or not isinstance(base := chain_base(node), ast.Name):
        return None
    bound = [path_text(target) for target in statement.targets] if isinstance(statement, ast.Assign) else []
    again = any(True for _ in loads_after(listing, statement, base.id))
    if (again and base.id not in bound and not write.wanted) or write.path != base.id:
        return None
    leaf = write.meta is not None and write.meta.is_leaf and write.meta.requires_grad
    if not isinstance(statement, (ast.Assign, ast.Return)) or leaf or seen_by_others(write):
        return None
    value = new_value(listing, node) if not _would_promote(write) and keeps_its_history(write) else None
    edit = listing.substitute([(node, value)]) if value is not None else None
    return Fix(write.site, listing, (edit,), _nbytes(write)) if edit is not None else None


def _values_changed(write: Written) -> Fix | None:
    if write.call is None and _read_again(write):
        return None
    return _bound_anew(write) or reordering.reordered(write)


def _recomputed(write: Written) -> Fix | None:
    """Inside the checkpointed function a new tensor; outside of it the write after backward."""
    return _bound_anew(write) if write.hazard.saved is not None else reordering.reordered(write)


def _is_array(write: Written) -> bool:
    return write.call is None and any(
        write.path in foreign.names for foreign in write.story.trace.foreign if write.path is not None
    )


def _read_again(write: Written) -> bool:
    """Whether torch reads the memory that NumPy wrote after that: then the write was meant for it as well."""
    story = write.story
    storages = {m.storage for c in story.trace.calls for m in c.inputs if m.tensor == write.hazard.tensor}
    noticed = max((f.noticed for f in story.trace.foreign if f.storage in storages), default=len(story.trace.calls))
    later = (c for c in story.trace.calls if c.index >= noticed and c.index not in story.backwards)
    return any(m.storage in storages for c in later for m in c.inputs)


def _overlapping(write: Written) -> Fix | None:
    if isinstance(write.statement, ast.AugAssign) and can_bind_anew(write):
        fix = _out_of_place(write)
        if fix is not None:
            return fix
    return copies.of_what_is_read(write)


def _leaf(write: Written) -> Fix | None:
    """Under ``no_grad`` what updates values, into a new tensor what is part of the computation."""
    if not write.site.direct or write.call is None or write.meta is None:
        return flag_turned_off(write)
    if isinstance(write.statement, ast.Return):
        return returning.new_value_returned(write)
    if _goes_through_parameters(write):
        return _under_no_grad(write)
    others = [meta for meta in write.call.inputs if meta.tensor != write.meta.tensor]
    origin = write.hazard.origin
    made = origin is not None and bool(origin.expression) and "requires_grad" not in origin.expression
    if any(meta.requires_grad for meta in others) or (made and not write.meta.is_view):
        return None if _leaf_is_needed(write) else _bound_anew(write)
    return _under_no_grad(write)


def _goes_through_parameters(write: Written) -> bool:
    """Whether the write is to the variable of ``for p in net.parameters():``, which is there to be written."""
    loop = next((node for node in write.listing.around(write.statement) if isinstance(node, ast.For)), None)
    targets = [] if loop is None else [n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)]
    names = [] if loop is None else [n.attr for n in ast.walk(loop.iter) if isinstance(n, ast.Attribute)]
    return write.path in targets and bool({"parameters", "named_parameters"} & set(names))


def _leaf_is_needed(write: Written) -> bool:
    """Whether the name must go on to mean the leaf: its gradient is read, or a loop comes back to the line with it."""
    listing, statement = write.listing, write.statement
    if not listing.whole or any(True for _ in loads_after(listing, statement, f"{write.path}.grad")):
        return True
    loop = next((node for node in listing.around(statement) if isinstance(node, (ast.For, ast.While))), None)
    bound = [] if loop is None else [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == write.path]
    return loop is not None and not any(isinstance(node.ctx, ast.Store) for node in bound)


def _under_no_grad(write: Written) -> Fix | None:
    listing, first = write.listing, write.statement
    if not isinstance(first, (ast.Assign, ast.AugAssign, ast.Expr)):
        return None
    block = listing.block_of(first)
    group: list[ast.stmt] = [first]
    for entry in block[block.index(first) + 1 :]:
        if entry.lineno != group[-1].lineno + 1 or not _updates(entry, write.path):
            break
        group.append(entry)
    if any(not listing.alone(entry) or entry.lineno != entry.end_lineno for entry in group):
        return None
    rows = [f"    {line}" for entry in group for line in listing.whole_lines(entry)]
    edit = Edit(first.lineno, group[-1].lineno, (f"{listing.indent(first)}with torch.no_grad():", *rows))
    return Fix(write.site, listing, (edit,))


def _updates(statement: ast.stmt, path: str | None) -> bool:
    """Whether a statement plainly writes a variable in place, or another one of the same module: ``m.bias`` beside
    ``m.weight``."""
    owner = path.rpartition(".")[0] if path is not None else ""
    target = _written_by(statement, path)
    return path is not None and (target == path or (bool(owner) and (target or "").rpartition(".")[0] == owner))


def _written_by(statement: ast.stmt, path: str | None) -> str | None:
    """The variable that a statement plainly writes in place; of ``x[0] = …`` it is ``x``, unless ``x[0]`` is `path`."""
    target: ast.expr | None = None
    if isinstance(statement, ast.AugAssign):
        target = statement.target
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        target = statement.targets[0]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        target = chain_base(statement.value) if chain_base(statement.value) is not statement.value else None
    if isinstance(target, ast.Subscript) and path_text(target) != path:
        target = target.value
    return path_text(target)


def _nbytes(write: Written) -> int | None:
    return write.meta.nbytes if write.meta is not None else None


FIXES: dict[str, tuple[Callable[[Written], Fix | None], ...]] = {
    "saved-tensor-overwritten": (_saved_overwritten,),
    "recomputed-with-other-values": (_recomputed,),
    "saved-values-changed": (_values_changed,),
    "overlapping-write": (_overlapping,),
    "operand-overwritten-first": (operand_overwritten_first.argument_first,),
    "swapped-through-views": (swapped_through_views.kept_as_a_copy,),
    "expanded-tensor-written": (copies.where_it_was_made,),
    "shared-gradient-edited": (_value_given, returning.new_gradient),
    "alias-written": (flag_turned_off, copies.at_the_second_name, _value_given, _bound_anew),
    "kept-activation-overwritten": (copies.where_it_was_kept, flag_turned_off),
    "one-tensor-many-slots": (copies.in_each_slot,),
    "results-share-memory": (results_share_memory.first_one_copied,),
    "dataset-item-edited": (_value_given, _bound_anew),
    "default-argument-written": (default_argument_written.made_in_the_function,),
    "class-attribute-written": (class_attribute_written.made_for_each_object,),
    "copy-shares-parameters": (copy_shares_parameters.data_copied, copy_shares_parameters.deeply_copied),
    "array-shares-memory": (array_shares_memory.array_copied,),
    "same-memory-compared": (snapshot_taken,),
    "initial-value-written": (initial_value_written.begun_with_a_copy,),
    "leaf-written": (_leaf,),
    "multi-output-view-written": (flag_turned_off, _value_given, _bound_anew),
    "base-of-multi-output-view-written": (reordering.taken_after_the_write,),
    "view-detached-in-place": (_bound_anew,),
    "inference-tensor-written": (flag_turned_off, _value_given, _bound_anew),
    "no-grad-view-written": (flag_turned_off, _value_given, _bound_anew),
    "custom-function-view-written": (flag_turned_off, _value_given, _bound_anew),
}
"""Code of a rule -> the ways to cure its findings, in the order in which they are tried."""
