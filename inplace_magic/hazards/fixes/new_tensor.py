"""Fixes that bind the written name to a new tensor: ``y = y + 1``, or ``x = x.clone()`` before the write."""

from __future__ import annotations

import ast
from dataclasses import replace

from inplace_magic.hazards.fixes.out_of_place import chain_base, new_value, out_of_place, seen_by_autograd
from inplace_magic.hazards.fixes.target import (
    Fix,
    Written,
    can_bind_anew,
    keeps_its_history,
    loads_after,
    seen_by_others,
)
from inplace_magic.language import _
from inplace_magic.source.expressions import path_text


def bound_anew(write: Written) -> Fix | None:
    """``y = y + 1`` for ``y += 1``, or ``x = x.clone()`` before the write."""
    if not can_bind_anew(write) or not keeps_its_history(write):
        return None
    return made_out_of_place(write) or cloned_first(write)


def made_out_of_place(write: Written) -> Fix | None:
    text = None
    if write.path is not None and not _would_promote(write):
        text = out_of_place(write.listing, write.statement, write.path)
    edit = write.listing.replace(write.statement, text) if text is not None else None
    free = write.call is not None and write.call.does("detaches itself")
    return Fix(write.site, write.listing, (edit,), None if free else _nbytes(write)) if edit is not None else None


def slot_bound_anew(write: Written) -> Fix | None:
    """``self.total = self.total + x`` for ``self.total += x``: the slot that the line writes gets a tensor of its own,
    and whoever holds the old one keeps its values."""
    path = write.path
    if path is None or path.isidentifier() or write.meta is None or write.meta.is_trainable:
        return None
    if "[" in path:
        made = write.story.innermost_new(write.meta.tensor, write.call.index) if write.call is not None else None
        taken_here = made is not None and made.callsite is not None and made.callsite.line == write.site.line
        fits = isinstance(write.statement, ast.AugAssign) and not taken_here  # a row of a tensor is no slot
    else:
        fits = can_bind_anew(replace(write, another_name_sees_it=True))
    fix = made_out_of_place(write) if fits and keeps_its_history(write) else None
    sentence = _("Let the line put a new tensor into `{path}`: whoever else holds the old one keeps its values.")
    return replace(fix, sentence=sentence.format(path=path)) if fix is not None else None


def cloned_first(write: Written) -> Fix | None:
    if write.call is not None and write.call.does("detaches itself"):
        return None
    if any(isinstance(node, (ast.Lambda, ast.comprehension)) for node in ast.walk(write.statement)):
        return None
    if _writes_more(write) or not (write.call is not None or is_array(write)):
        return None  # what no torch call wrote may be a tensor or an array: `clone` or `copy`
    copy = "copy" if is_array(write) else "clone"
    own = seen_by_autograd(write.listing, write.statement)
    if own is None:
        return None
    edit = write.listing.replace(write.statement, f"{write.path} = {write.path}.{copy}()", own)
    return Fix(write.site, write.listing, (edit,), _nbytes(write)) if edit is not None else None


def _writes_more(write: Written) -> bool:
    """Whether the statement writes other variables as well: ``i.sigmoid_(), f.sigmoid_()``."""
    calls = (node for node in ast.walk(write.statement) if isinstance(node, ast.Call))
    bases = {path_text(base) for node in calls if (base := chain_base(node)) is not node}
    return bool(bases - {write.path, None})


def _would_promote(write: Written) -> bool:
    """Whether the out-of-place twin gives another dtype: ``half += single`` stays half, ``half + single`` does not."""
    call, meta = write.call, write.meta
    if call is None or meta is None or not (call.does("shifts") or call.does("scales")):
        return False
    return any(other.dtype != meta.dtype and "float" in other.dtype and other.shape != () for other in call.inputs)


def value_given(write: Written) -> Fix | None:
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
    if (again and base.id not in bound and not write.another_name_sees_it) or write.path != base.id:
        return None
    leaf = write.meta is not None and write.meta.is_trainable
    if not isinstance(statement, (ast.Assign, ast.Return)) or leaf or seen_by_others(write):
        return None
    value = new_value(listing, node) if not _would_promote(write) and keeps_its_history(write) else None
    edit = listing.substitute([(node, value)]) if value is not None else None
    return Fix(write.site, listing, (edit,), _nbytes(write)) if edit is not None else None


def is_array(write: Written) -> bool:
    """Whether the line writes an array on a tensor's memory: it does so by no call of torch."""
    named = (write.path in foreign.names for foreign in write.story.trace.foreign if write.path is not None)
    return write.call is None and (write.hazard.call is None or any(named))


def _nbytes(write: Written) -> int | None:
    return write.meta.nbytes if write.meta is not None else None
