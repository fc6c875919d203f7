"""Fixes of writes that PyTorch refuses: into leaves, and into views that were meant for the tensor behind them.

An update of a leaf's values goes under ``no_grad``; what is part of the computation goes into a new tensor.

``for channel in image: channel.mul_(std)`` writes `image`, and whoever wrote it wants that. A new tensor in the place
of `channel` would be lost, and `image` would stay as it was, without an error. What PyTorch refuses is only that all
views are taken at once; the same write goes through a view that is taken by its index.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from inplace_magic.analysis.overlap import repeats_elements
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.fixes.inplace_false import flag_turned_off
from inplace_magic.hazards.fixes.new_tensor import bound_anew, new_value_returned
from inplace_magic.hazards.fixes.target import Fix, Written, indented
from inplace_magic.language import _, spelled
from inplace_magic.record.events import CallEvent
from inplace_magic.record.paths import before_first_step
from inplace_magic.source import expressions
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import FUNCTIONS, LOOPS, Edit, Listing
from inplace_magic.source.out_of_place import target_of
from inplace_magic.source.variables import variables_bound, variables_in

_INDEXES = ("i", "j", "k", "index", "number", "position")


def for_a_leaf(write: Written) -> Fix | None:
    """Under ``no_grad`` what updates values, into a new tensor what is part of the computation."""
    way = _to_a_new_tensor(write)
    if way is None:
        return _under(write, "no_grad", _("Put the update of the values under `with torch.no_grad():`."))
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
    return any(not _is_printed(write.listing, node) for node in write.loads_after(path))


def _is_printed(listing: Listing, node: ast.expr) -> bool:
    calls = (above for above in listing.around(node) if isinstance(above, ast.Call))
    return any(path_text(call.func) == "print" for call in calls)


def _bound_anew_where_the_leaf_may_go(write: Written) -> Fix | None:
    parameter = write.meta is not None and write.meta.cls == "Parameter"
    return None if parameter or _leaf_is_needed(write) else bound_anew(write)


def _leaf_is_needed(write: Written) -> bool:
    """True if the name must go on to mean the leaf: its gradient is read, or a loop comes back to the line with it."""
    if not write.listing.whole or write.is_read_after(f"{write.path}.grad"):
        return True
    for node in write.listing.around(write.statement):
        if isinstance(node, FUNCTIONS) or (isinstance(node, LOOPS) and write.path in variables_bound(node)):
            return False
        if isinstance(node, LOOPS):
            return True
    return False


def under_inference_mode(write: Written) -> Fix | None:
    """A state that an object keeps, made under ``inference_mode``, is written under it as well: a copy under its name
    would leave the tensor that others were given as it was."""
    others = any(meta.requires_grad for meta in write.call.inputs) if write.call is not None else True
    if others or write.path is None or write.path.isidentifier() or not write.site.direct:
        return None
    return _under(write, "inference_mode", _("Write it under `with torch.inference_mode():`, as it was made."))


def _under(write: Written, mode: str, sentence: str) -> Fix | None:
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
    head = spelled(f"{listing.indent(first)}with torch.{mode}():")
    lines = indented(listing, group, listing.deeper(first))
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


def taken_by_index(write: Written) -> Fix | None:
    """``for i, channel in enumerate(image):`` with ``channel = image[i]`` below it, for ``for channel in image:``."""
    listing, path, origin = write.listing, write.path, write.hazard.origin
    loop = listing.loop_around(write.statement)
    if not isinstance(loop, ast.For) or path is None or not listing.whole:
        return None
    if origin is None or origin.line != loop.lineno or origin.function != write.site.function:
        return None
    found = _iterated(loop.target, loop.iter, path)
    one_line = loop.lineno == loop.iter.end_lineno and loop.lineno < loop.body[0].lineno
    if found is None or not one_line or _is_leaf(write) or _is_kept_for_backward(write):
        return None
    tensor, counted = found
    index = counted or next((name for name in _INDEXES if name not in variables_in(listing.tree)), None)
    header = Edit(loop.lineno, loop.lineno, (listing.lines[loop.lineno - 1],))
    edit = header if counted else _counted(listing, loop, index) if index else None
    if edit is None:
        return None
    row = f"{listing.indent(loop.body[0])}{path} = {tensor}[{index}]"
    sentence = _(
        "Take each view by its index: such a view may be written, and `{tensor}` sees the write, as it would not see a "
        "new tensor."
    ).format(tensor=tensor)
    return write.fix(Edit(edit.first, edit.last, (*edit.new, row)), None, sentence)


def _counted(listing: Listing, loop: ast.For, index: str) -> Edit | None:
    """The loop's header with ``enumerate`` around what it goes through."""
    target = listing.text(loop.target)
    if isinstance(loop.target, ast.Tuple) and not target.startswith("("):
        target = f"({target})"
    return listing.substitute(
        [(loop.target, f"{index}, {target}"), (loop.iter, f"enumerate({listing.text(loop.iter)})")]
    )


def _iterated(target: ast.expr, iterable: ast.expr, name: str) -> tuple[str, str | None] | None:
    """Return the path that a variable of a loop's header goes through, and the variable that counts the passes, if
    any."""
    if isinstance(target, ast.Name):
        path = path_text(iterable)
        return (path, None) if target.id == name and path is not None else None
    if not isinstance(target, ast.Tuple) or not isinstance(iterable, ast.Call) or iterable.keywords:
        return None
    called = path_text(iterable.func)
    if called == "enumerate" and len(target.elts) == 2 and len(iterable.args) == 1:
        inner, counter = _iterated(target.elts[1], iterable.args[0], name), target.elts[0]
        return (inner[0], counter.id) if inner is not None and isinstance(counter, ast.Name) else None
    pairs = zip(target.elts, iterable.args, strict=False) if called == "zip" else ()
    whole = len(target.elts) == len(iterable.args)
    entries = (_iterated(entry, given, name) for entry, given in pairs if isinstance(entry, ast.Name) and whole)
    return next((found for found in entries if found is not None), None)


def _is_leaf(write: Written) -> bool:
    """True if the tensor behind the views is a leaf that requires grad, which may not be written at all."""
    made = write.story.innermost_new(write.hazard.tensor, write.hazard.call or 0) if write.hazard.tensor else None
    return made is not None and made.inputs[0].storage in write.story.trained_memories


def _is_kept_for_backward(write: Written) -> bool:
    """True if backward needs the values that the write is to change, as of ``row *= scale`` where `scale`
    requires grad: the next pass writes the same memory, and backward would refuse it then."""
    call = write.call
    if call is None or call.does("saves nothing") or call.does("overwrites"):
        return False
    return any(meta.requires_grad for meta in call.inputs if meta.tensor != write.hazard.tensor)


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
