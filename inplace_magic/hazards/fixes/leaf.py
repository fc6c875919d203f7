"""Fixes of refused writes into leaves: under ``no_grad`` what updates values, into a new tensor what is part of the
computation."""

from __future__ import annotations

import ast
from dataclasses import replace

from inplace_magic.hazards.fixes.inplace_false import flag_turned_off
from inplace_magic.hazards.fixes.new_tensor import bound_anew, new_value_returned
from inplace_magic.hazards.fixes.out_of_place import target_of
from inplace_magic.hazards.fixes.target import Fix, Written, loads_after
from inplace_magic.hazards.repeated import repeats_elements
from inplace_magic.language import _, spelled
from inplace_magic.record.events import CallEvent
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import FUNCTIONS, LOOPS, Edit
from inplace_magic.source.variables import variables_bound


def for_a_leaf(write: Written) -> Fix | None:
    """Under ``no_grad`` what updates values, into a new tensor what is part of the computation."""
    computed = _("Let the line give a new tensor: the leaf then keeps its values, and gets its gradient.")
    if not write.site.direct or write.call is None or write.meta is None:
        return _saying(flag_turned_off(write), computed)
    if isinstance(write.statement, ast.Return):
        return _saying(new_value_returned(write), computed)
    if repeats_elements(write.meta):  # without recording, too, PyTorch refuses the write
        return _saying(bound_anew(write), computed)
    if is_update(write.call):
        return _under_no_grad(write)
    others = [meta for meta in write.call.inputs if meta.tensor != write.meta.tensor]
    made = write.story.innermost_new(write.meta.tensor, write.call.index)
    if any(meta.requires_grad for meta in others) or (is_computed(made) and not write.meta.is_view):
        parameter = write.meta.cls == "Parameter"
        return None if parameter or _leaf_is_needed(write) else _saying(bound_anew(write), computed)
    if write.meta.is_view and write.path is not None and write.path.isidentifier() and _goes_on(write, write.path):
        return _saying(bound_anew(write), computed)  # without recording, the leaf would get a gradient of what is gone
    return _under_no_grad(write)


def _goes_on(write: Written, path: str) -> bool:
    """True if a written view is computed with afterwards: ``flat = leaf.view(-1, 4)`` is, ``row = leaf[0]``, through
    which values are set, is not."""
    return any(not _is_printed(write, node) for node in loads_after(write.listing, write.statement, path))


def _is_printed(write: Written, node: ast.expr) -> bool:
    calls = (above for above in write.listing.around(node) if isinstance(above, ast.Call))
    return any(path_text(call.func) == "print" for call in calls)


def _saying(fix: Fix | None, sentence: str) -> Fix | None:
    return replace(fix, sentence=sentence) if fix is not None else None


def _leaf_is_needed(write: Written) -> bool:
    """True if the name must go on to mean the leaf: its gradient is read, or a loop comes back to the line with it."""
    listing, statement = write.listing, write.statement
    if not listing.whole or any(True for _ in loads_after(listing, statement, f"{write.path}.grad")):
        return True
    for node in listing.around(statement):
        if isinstance(node, FUNCTIONS) or (isinstance(node, LOOPS) and write.path in variables_bound(node)):
            return False
        if isinstance(node, LOOPS):
            return True
    return False


def _under_no_grad(write: Written) -> Fix | None:
    return _under(write, "no_grad", _("Put the update of the values under `with torch.no_grad():`."))


def under_inference_mode(write: Written) -> Fix | None:
    """A state that an object keeps, made under ``inference_mode``, is written under it as well: a copy under its name
    would leave the tensor that others were given as it was."""
    others = any(meta.requires_grad for meta in write.call.inputs) if write.call is not None else True
    if others or write.path is None or write.path.isidentifier() or not write.site.direct:
        return None
    return _under(write, "inference_mode", _("Write it under `with torch.inference_mode():`, as it was made."))


def _under(write: Written, mode: str, sentence: str) -> Fix | None:
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
    deeper, indent = listing.deeper(first), listing.indent(first)
    rows = [f"{deeper}{line[len(indent) :]}" for entry in group for line in listing.whole_lines(entry)]
    head = spelled(f"{indent}with torch.{mode}():")
    return write.fix(Edit(first.lineno, group[-1].lineno, (head, *rows)), None, sentence)


def _updates(statement: ast.stmt, path: str | None) -> bool:
    """True if a statement plainly writes a variable in place, or another one of the same module: ``m.bias`` beside
    ``m.weight``."""
    owner = path.rpartition(".")[0] if path is not None else ""
    target = target_of(statement)
    if isinstance(target, ast.Subscript) and path_text(target) != path:
        target = target.value
    wrote = path_text(target)
    return path is not None and (wrote == path or (bool(owner) and (wrote or "").rpartition(".")[0] == owner))


def is_update(call: CallEvent) -> bool:
    """True if a refused write plainly meant a parameter's values: its result is dropped, and no gradient can flow
    through what it reads. A parameter must stay the object that its module and the optimizer know."""
    site = call.callsite
    if site is None or not site.direct or not call.inputs or call.inputs[0].cls != "Parameter":
        return False
    dropped = site.statement.strip() == site.expression.strip() or call.does("sets item")
    others = any(meta.requires_grad for meta in call.inputs[1:]) and not call.does("copies in")
    return dropped and not others and call.inputs[0].is_leaf


def is_computed(made: CallEvent | None) -> bool:
    """True if a call computed the leaf from other tensors; what it gave was made to require grad afterwards. A copy of
    data, or new memory, is rather the beginning of something that is to be learned."""
    if made is None or made.callsite is None or made.kind == "view" or not made.inputs:
        return False
    if made.outputs[0].cls == "Parameter" or made.does("copy"):
        return False
    return bool(made.callsite.expression) and "requires_grad" not in made.callsite.expression
