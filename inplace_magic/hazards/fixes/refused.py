"""Which fix fits a write that PyTorch refuses: into a leaf, into a view, or into a value that autograd saved; the last
also where PyTorch does not notice.

An update of a leaf's values goes under ``no_grad``; what is part of the computation goes into a new tensor.

``for channel in image: channel.mul_(std)`` writes `image`, and whoever wrote it wants that. A new tensor in the place
of `channel` would be lost, and `image` would stay as it was, without an error: such a write gets no diff.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from inplace_magic.analysis.overlap import repeats_elements
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.fixes import clone, reorder
from inplace_magic.hazards.fixes.binding import can_bind_anew, keeps_its_history, leaves_a_write
from inplace_magic.hazards.fixes.inplace_false import flag_turned_off
from inplace_magic.hazards.fixes.new_tensor import (
    bound_anew,
    from_the_hook,
    made_out_of_place,
    new_value_returned,
    value_given,
)
from inplace_magic.hazards.fixes.target import Fix, Written, indented
from inplace_magic.language import _, spelled
from inplace_magic.record.events import CallEvent
from inplace_magic.record.paths import before_first_step
from inplace_magic.source import expressions
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import FUNCTIONS, LOOPS, Edit
from inplace_magic.source.out_of_place import target_of


def for_a_leaf(write: Written) -> Fix | None:
    """Under ``no_grad`` what updates values, into a new tensor what is part of the computation."""
    way = _to_a_new_tensor(write)
    if way is None:
        return _under_no_grad(write)
    fix = way(write)
    sentence = _("Let the line give a new tensor: the leaf then keeps its values, and gets its gradient.")
    return replace(fix, sentence=sentence) if fix is not None else None


def _to_a_new_tensor(write: Written) -> Callable[[Written], Fix | None] | None:
    """Return how a write that is part of the computation gives a new tensor; None for an update of the values."""
    call, meta = write.call, write.meta
    if not write.site.direct or call is None or meta is None:
        return flag_turned_off
    if isinstance(write.statement, ast.Return):
        return new_value_returned
    if repeats_elements(meta):
        return bound_anew  # without recording, too, PyTorch refuses the write
    if is_update(call):
        return None
    computed = is_computed(write.story.innermost_new(meta.tensor, call.index)) and not meta.is_view
    if computed or any(given.requires_grad for given in call.inputs if given.tensor != meta.tensor):
        return _bound_anew_where_the_leaf_may_go
    goes_on = meta.is_view and write.path is not None and write.path.isidentifier() and _goes_on(write, write.path)
    return bound_anew if goes_on else None  # without recording, the leaf would get a gradient of what is gone


def _goes_on(write: Written, path: str) -> bool:
    """True if a written view is computed with afterwards: ``flat = leaf.view(-1, 4)`` is, ``row = leaf[0]``, through
    which values are set, is not."""
    calls = ([each for each in write.listing.around(n) if isinstance(each, ast.Call)] for n in write.loads_after(path))
    return any(all(path_text(call.func) != "print" for call in around) for around in calls)


def _bound_anew_where_the_leaf_may_go(write: Written) -> Fix | None:
    parameter = write.meta is not None and write.meta.cls == "Parameter"
    return None if parameter or _leaf_is_needed(write) else bound_anew(write)


def _leaf_is_needed(write: Written) -> bool:
    """True if the name must go on to mean the leaf: its gradient is read, or a loop comes back to the line with it."""
    if not write.listing.whole or write.is_read_after(f"{write.path}.grad"):
        return True
    for node in write.listing.around(write.statement):
        if isinstance(node, FUNCTIONS) or (isinstance(node, LOOPS) and write.path in expressions.variables_bound(node)):
            return False
        if isinstance(node, LOOPS):
            return True
    return False


def _under_no_grad(write: Written) -> Fix | None:
    """The statement, and those right below it that write the same, under ``with torch.no_grad():``."""
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
    head = spelled(f"{listing.indent(first)}with torch.no_grad():")
    lines = indented(listing, group, listing.deeper(first))
    sentence = _("Put the update of the values under `with torch.no_grad():`.")
    return write.fix(Edit(first.lineno, group[-1].lineno, (head, *lines)), None, sentence)


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


def base_name(story: Story, made: CallEvent | None) -> str | None:
    """Return the variable, if there is one, that reaches the tensor of which a call took views."""
    if made is None or made.callsite is None or not made.inputs:
        return None
    node = expressions.parse(made.callsite.statement)
    if isinstance(node, ast.For):
        listed = [*node.iter.args] if isinstance(node.iter, ast.Call) else [node.iter]
    else:
        listed = expressions.operands(made.callsite.expression, method=made.does("method"))[:1]
    paths = {path for entry in listed if (path := path_text(entry)) is not None}
    if len(paths) == 1:
        return paths.pop()
    base: CallEvent | None = made
    while base is not None and base.kind == "view" and base.inputs:
        name = story.bindings.name(base.inputs[0].tensor)
        if name is not None:
            return name
        base = story.innermost_new(base.inputs[0].tensor, base.index)
    return None


def is_seen_through_its_base(write: Written) -> bool:
    """True if somebody may read the tensor behind the written view afterwards, and is to see the write there."""
    tensor = write.hazard.tensor
    made = write.story.innermost_new(tensor, write.hazard.call or 0) if tensor is not None else None
    name = base_name(write.story, made) if made is not None and made.kind == "view" else None
    if name is None:
        return False
    root = before_first_step(name)[0]
    if not write.listing.whole or root in write.site.parameters or "." in name:
        return True
    return write.is_read_after(root)


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
    sentence = _("Let the line make a new tensor: the old one stays as its own right-hand side saved it.")
    return made_out_of_place(write, sentence)


def _read_again(write: Written) -> bool:
    """True if torch reads the memory that NumPy wrote after that: then the write was meant for it as well."""
    story = write.story
    storages = {m.storage for c in story.trace.calls for m in c.inputs if m.tensor == write.hazard.tensor}
    noticed = max((f.noticed for f in story.trace.foreign if f.storage in storages), default=len(story.trace.calls))
    later = (c for c in story.trace.calls if c.index >= noticed and c.index not in story.backwards)
    return any(m.storage in storages for c in later for m in c.inputs)
