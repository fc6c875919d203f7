"""Fixes of writes into views that were meant for the tensor behind them.

``for channel in image: channel.mul_(std)`` writes `image`, and whoever wrote it wants that. A new tensor in the place
of `channel` would be lost, and `image` would stay as it was, without an error. What PyTorch refuses is only that all
views are taken at once; the same write goes through a view that is taken by its index.
"""

from __future__ import annotations

import ast

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.fixes.target import Fix, Written, loads_after
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.source import expressions
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Edit, Listing

_INDEXES = ("i", "j", "k", "index", "number", "position")


def taken_by_index(write: Written) -> Fix | None:
    """``for i, channel in enumerate(image):`` with ``channel = image[i]`` below it, for ``for channel in image:``."""
    listing, path, origin = write.listing, write.path, write.hazard.origin
    loop = next((node for node in listing.around(write.statement) if isinstance(node, ast.For)), None)
    if loop is None or path is None or origin is None or not listing.whole or origin.function != write.site.function:
        return None
    found = _iterated(loop.target, loop.iter, path)
    one_line = loop.lineno == loop.iter.end_lineno and loop.lineno < loop.body[0].lineno
    if found is None or origin.line != loop.lineno or not one_line or _is_leaf(write) or _is_kept_for_backward(write):
        return None
    tensor, counted = found
    used = {node.id for node in listing.nodes if isinstance(node, ast.Name)}
    index = counted or next((name for name in _INDEXES if name not in used), None)
    text = path_text(tensor)
    if index is None or text is None:
        return None
    header = (listing.lines[loop.lineno - 1],)
    edit = _counted(listing, loop, index) if counted is None else Edit(loop.lineno, loop.lineno, header)
    if edit is None:
        return None
    row = f"{listing.indent(loop.body[0])}{path} = {text}[{index}]"
    sentence = _(
        "Take each view by its index: such a view may be written, and `{tensor}` sees the write, as it would not see a "
        "new tensor."
    ).format(tensor=text)
    return write.fix(Edit(edit.first, edit.last, (*edit.new, row)), None, sentence)


def _counted(listing: Listing, loop: ast.For, index: str) -> Edit | None:
    """The loop's header with ``enumerate`` around what it goes through."""
    target = listing.text(loop.target)
    if isinstance(loop.target, ast.Tuple) and not target.startswith("("):
        target = f"({target})"
    return listing.substitute(
        [(loop.target, f"{index}, {target}"), (loop.iter, f"enumerate({listing.text(loop.iter)})")]
    )


def _iterated(target: ast.expr, iterable: ast.expr, name: str) -> tuple[ast.expr, str | None] | None:
    """What a variable of a loop's header goes through, and the variable that counts the passes, where there is one."""
    called = path_text(iterable.func) if isinstance(iterable, ast.Call) else None
    if isinstance(target, ast.Name):
        return (iterable, None) if target.id == name and path_text(iterable) is not None else None
    if not isinstance(target, ast.Tuple) or not isinstance(iterable, ast.Call) or iterable.keywords:
        return None
    if called == "enumerate" and len(target.elts) == 2 and len(iterable.args) == 1:
        inner, counter = _iterated(target.elts[1], iterable.args[0], name), target.elts[0]
        return (inner[0], counter.id) if inner is not None and isinstance(counter, ast.Name) else None
    if called == "zip" and len(target.elts) == len(iterable.args):
        for entry, given in zip(target.elts, iterable.args, strict=True):
            if isinstance(entry, ast.Name) and entry.id == name and path_text(given) is not None:
                return given, None
    return None


def _is_leaf(write: Written) -> bool:
    """True if the tensor behind the views is a leaf that requires grad, which may not be written at all."""
    made = write.story.innermost_new(write.hazard.tensor, write.hazard.call or 0) if write.hazard.tensor else None
    known = write.story.bindings.by_storage.get(made.inputs[0].storage or -1, ()) if made is not None else ()
    return any(write.story.observations[t].is_trainable for t in known)


def _is_kept_for_backward(write: Written) -> bool:
    """True if backward needs the values that the write is to change, as of ``row *= scale`` where `scale`
    requires grad: the next pass writes the same memory, and backward would refuse it then."""
    call = write.call
    if call is None or call.does("saves nothing") or call.does("overwrites"):
        return False
    return any(meta.requires_grad for meta in call.inputs if meta.tensor != write.hazard.tensor)


def base_name(story: Story, made: CallEvent | None) -> str | None:
    """Return the variable, if there is one, that reaches the tensor of which a call took views."""
    node = expressions.parse(made.callsite.statement) if made is not None and made.callsite is not None else None
    if made is None or made.callsite is None or not made.inputs:
        return None
    if isinstance(node, ast.For):
        entries = [*node.iter.args] if isinstance(node.iter, ast.Call) else [node.iter]
        paths = {path for entry in entries if (path := path_text(entry)) is not None}
    else:
        listed = expressions.operands(made.callsite.expression, method=made.does("method"))
        paths = {path for entry in listed[:1] if (path := path_text(entry)) is not None}
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
    root = name.split(".")[0].split("[")[0]
    if not write.listing.whole or root in write.site.parameters or "." in name:
        return True
    return any(True for _load in loads_after(write.listing, write.statement, root))
