"""Fixes that bind the written name to a new tensor: ``y = y + 1``, or ``x = x.clone()`` before the write.

A hook, a custom ``backward`` or a parametrization is called by torch, which uses what it returns: there the new tensor
is returned. A helper that the user calls for its effect is another matter: there every call would have to change, so
there is advice and no diff.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.binding import can_bind_anew, keeps_its_history, seen_by_others
from inplace_magic.hazards.fixes.target import Fix, Written, above, below, written
from inplace_magic.language import _
from inplace_magic.source.expressions import mentions, path_text, variables_bound
from inplace_magic.source.out_of_place import chain_base, new_value, out_of_place, seen_by_autograd


def bound_anew(write: Written) -> Fix | None:
    """``y = y + 1`` for ``y += 1``, or ``x = x.clone()`` before the write."""
    if not can_bind_anew(write) or not keeps_its_history(write):
        return None
    return made_out_of_place(write) or cloned_first(write)


def made_out_of_place(write: Written, sentence: str = "") -> Fix | None:
    """``y = y + 1`` for ``y += 1``."""
    if write.path is None or _would_promote(write):
        return None
    free = write.call is not None and write.call.does("detaches itself")
    text = out_of_place(write.listing, write.statement, write.path)
    return write.rewritten(text, None if free else write.nbytes, sentence)


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
    sentence = _("Let the line put a new tensor into `{path}`: other holders of the old one keep its values.")
    return made_out_of_place(write, sentence.format(path=path)) if fits and keeps_its_history(write) else None


def cloned_first(write: Written) -> Fix | None:
    """``x = x.clone()`` above the write."""
    if write.path is None or not isinstance(write.statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)):
        return None
    array = is_array(write)
    if write.call.does("detaches itself") if write.call is not None else not array:
        return None  # what no torch call wrote may be a tensor or an array: `clone` or `copy`
    if _writes_more(write) or any(isinstance(n, (ast.Lambda, ast.comprehension)) for n in ast.walk(write.statement)):
        return None
    copy = "copy" if array else "clone"
    own = seen_by_autograd(write.listing, write.statement)
    edit = write.listing.replace(write.statement, f"{write.path} = {write.path}.{copy}()", own) if own else None
    return write.fix(edit, write.nbytes)


def _writes_more(write: Written) -> bool:
    """True if the statement writes other variables as well: ``i.sigmoid_(), f.sigmoid_()``."""
    calls = (node for node in ast.walk(write.statement) if isinstance(node, ast.Call))
    bases = {path_text(base) for node in calls if (base := chain_base(node)) is not node}
    return bool(bases - {write.path, None})


def _would_promote(write: Written) -> bool:
    """True if the out-of-place twin gives another dtype: ``half += single`` stays half, ``half + single`` does not."""
    call, meta = write.call, write.meta
    if call is None or meta is None or not (call.does("shifts") or call.does("scales")):
        return False
    return any(other.dtype != meta.dtype and "float" in other.dtype and other.shape != () for other in call.inputs)


def value_given(write: Written) -> Fix | None:
    """``return t * 2`` for ``return t.mul_(2)``: the line uses what the write gives."""
    listing, statement, node = write.listing, write.statement, write.expression
    while node is not None and isinstance(method := listing.parents.get(node), ast.Attribute):
        call = listing.parents.get(method)
        if not method.attr.endswith("_") or not isinstance(call, ast.Call):
            break
        node = call
    if node is None or isinstance(statement, ast.Expr) or not isinstance(base := chain_base(node), ast.Name):
        return None
    if not isinstance(statement, (ast.Assign, ast.Return)) or write.path != base.id or write.is_of_a_leaf:
        return None
    bound = [path_text(target) for target in statement.targets] if isinstance(statement, ast.Assign) else []
    if base.id not in bound and not write.another_name_sees_it and write.is_read_after(base.id):
        return None
    fits = not seen_by_others(write) and not _would_promote(write) and keeps_its_history(write)
    return _given(write, node) if fits else None


def _given(write: Written, node: ast.expr) -> Fix | None:
    """``t * 2`` in the place of ``t.mul_(2)``; None where its text has no certain twin."""
    value = new_value(write.listing, node)
    return write.substituted([(node, value)] if value is not None else (), write.nbytes)


def is_array(write: Written) -> bool:
    """True if the line writes an array on a tensor's memory: it does so by no call of torch."""
    named = (write.path in foreign.names for foreign in write.story.trace.foreign if write.path is not None)
    return write.call is None and (write.hazard.call is None or any(named))


def new_gradient(write: Written) -> Fix | None:
    """A hook, or ``backward``, gives a new gradient instead of writing the one that it was handed: a lambda by ``grad *
    0.1`` for ``grad.mul_(0.1)``, a function by ``return grad * 0.1`` for that as its last line."""
    listing, statement, node = write.listing, write.statement, write.expression
    around = listing.parents.get(node) if node is not None else None
    if node is None or write.site.parameters != (path_text(chain_base(node)),):
        return None
    if isinstance(around, ast.Lambda):
        return _given(write, node)
    scope = listing.scope_of(statement)
    if not isinstance(statement, ast.Expr) or not isinstance(scope, ast.FunctionDef) or scope.body[-1] is not statement:
        return None
    value = new_value(listing, statement.value)
    returns = any(isinstance(each, (ast.Return, ast.Yield)) for each in ast.walk(scope))
    return write.rewritten(f"return {value}", write.nbytes) if value is not None and not returns else None


def new_value_returned(write: Written) -> Fix | None:
    """``return weight.relu()`` for ``return weight.relu_()``."""
    node = write.statement.value if isinstance(write.statement, ast.Return) else None
    return _given(write, node) if node is not None and node is write.expression else None


def from_the_hook(write: Written) -> Fix | None:
    """A forward hook that wrote its ``output`` writes a copy and returns it."""
    listing, statement, path = write.listing, write.statement, write.path
    scope = listing.scope_of(statement)
    if not isinstance(scope, ast.FunctionDef) or not listing.whole or not listing.alone(statement):
        return None
    names = [argument.arg for argument in scope.args.args]
    returns = any(isinstance(node, (ast.Return, ast.Yield)) for node in ast.walk(scope))
    if len(names) != 3 or path != names[2] or returns or statement not in scope.body or not _is_hook(write, scope):
        return None
    indent = listing.indent(statement)
    edits = above(statement, f"{indent}{path} = {path}.clone()"), below(scope.body[-1], f"{indent}return {path}")
    sentence = _("Let the hook write a copy and return it: the module then gives that instead of its output.")
    return Fix(write.site, listing, edits, write.nbytes, sentence)


def _is_hook(write: Written, scope: ast.FunctionDef) -> bool:
    """True if a function is handed to ``register_forward_hook``, itself or by the function that makes it, and is
    called nowhere."""
    outer = write.listing.scope_of(scope)
    makers = {scope.name, outer.name} if isinstance(outer, ast.FunctionDef) else {scope.name}
    calls = [node for node in write.listing.nodes if isinstance(node, ast.Call)]
    handed = [
        node.args[0]
        for node in calls
        if isinstance(node.func, ast.Attribute) and node.func.attr == "register_forward_hook" and node.args
    ]
    hooked = any(path_text(hook.func if isinstance(hook, ast.Call) else hook) in makers for hook in handed)
    return hooked and all(path_text(node.func) != scope.name for node in calls)


def advice(story: Story, hazard: Hazard) -> str:
    """What to do where no diff is certain and a copy before the write would be lost; empty where it would not."""
    write = written(story, hazard)
    if write is None:
        return ""
    path, scope = write.path, write.listing.scope_of(write.statement)
    if path is None or write.is_of_a_leaf or not write.site.direct:
        return ""
    loops = (node for node in write.listing.around(write.statement) if isinstance(node, ast.For))
    read_later = write.is_read_after(path)
    if not read_later and any(mentions(loop.target, path) for loop in loops):
        return _(
            "`{name}` is an entry of the collection that the loop goes through: build a new list or dict of new "
            "tensors instead of writing these."
        ).format(name=path)
    assigned = [target for node in ast.walk(scope) if isinstance(node, ast.Assign) for target in node.targets]
    bound = any(path in variables_bound(target) for target in assigned)
    if path in write.site.parameters and path != "self" and not bound and not read_later:
        text = _("`{function}` writes its argument: let it make a new tensor and return that, and use what it gives.")
        return text.format(function=write.site.function.rpartition(".")[2])
    return ""
