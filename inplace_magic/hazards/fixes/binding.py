"""Whether a name may be bound to a new tensor, and who else would miss the write.

``x = x.clone()`` before a write changes the meaning of the program where somebody else is to see the write: the caller
of a helper, the tensor behind a view, the list that a loop goes through. ``keep = h`` above ``h += 1`` makes `keep` see
it, and with ``h = h + 1`` it would not. Only where nobody reads the tensor by a name that it had before, the name may
be bound anew::

    def act(h):
        h.mul_(2)
        return h

    z = act(y)                      # y + z: `y` has seen the write
    y = act(y)                      # y + 1: nobody has the old name any more
"""

from __future__ import annotations

import ast

from inplace_magic.analysis.overlap import may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.fixes.target import Fix, Written, targets_of
from inplace_magic.record.events import CallEvent
from inplace_magic.record.paths import before_first_step
from inplace_magic.record.places import Callsite, where_they_part
from inplace_magic.source.chains import is_called_by_autograd, paths_read
from inplace_magic.source.expressions import path_text, root_name, variables_bound
from inplace_magic.source.listing import FUNCTIONS, Listing, listing_of
from inplace_magic.source.out_of_place import target_of


def can_bind_anew(write: Written) -> bool:
    """True if the written variable may name a new tensor from here on, and nobody misses the write."""
    path, statement, listing = write.path, write.statement, write.listing
    if path is None or not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)):
        return False
    refused = write.call.refusal.kind if write.call is not None and write.call.refusal is not None else None
    leaf = write.is_of_a_leaf and refused != "view of a custom function written"  # seen before it got its history
    if leaf and not (refused in ("leaf written", "view of a leaf written") and path.isidentifier()):
        return False  # a parameter must stay the object that the optimizer knows
    if not _assignable(write, path) or seen_by_others(write) or _is_asked_for_its_gradient(write):
        return False
    if not path.isidentifier():
        return True
    return _read_later(write, path) and not _meant_for_the_caller(write, path) and listing.alone(statement)


def _is_asked_for_its_gradient(write: Written) -> bool:
    """True if a later ``torch.autograd.grad`` asks for gradients of the written tensor: no graph leads to a new one."""
    story, meta, after = write.story, write.meta, write.call
    if meta is None or meta.storage is None or after is None:
        return False
    for call in story.given_memory(meta.storage):
        backward = story.backwards.get(call.index)
        if call.index > after.index and backward is not None and call.does("gives gradients"):
            inputs = [each for each in call.inputs if each.node not in backward.roots]
            if any(each.storage == meta.storage for each in inputs):
                return True
    return False


def _assignable(write: Written, path: str) -> bool:
    """True if ``path = …`` on this line binds what the line reads as ``path``."""
    listing, statement = write.listing, write.statement
    root, scope = before_first_step(path)[0], listing.scope_of(statement)
    if "[" in path:
        return listing.whole and _is_container(listing, root, path)
    if isinstance(statement, ast.AugAssign) and path_text(statement.target) == path:
        return True
    if path != root:
        return _can_be_set(listing, root, path.rpartition(".")[2])
    if not listing.whole:
        return write.site.function == "<module>" or path in write.site.parameters
    if isinstance(scope, ast.Module):
        return True
    if not isinstance(scope, FUNCTIONS):
        return False
    return path in variables_bound(scope) or any(isinstance(n, ast.arg) and n.arg == path for n in ast.walk(scope.args))


def _can_be_set(listing: Listing, owner: str, attribute: str) -> bool:
    """True if an attribute is one that a line may bind: not so in a named tuple, such as ``x.topk(2)`` gives, or a
    frozen dataclass."""
    for node in listing.nodes:
        if isinstance(node, ast.ClassDef):
            fields = {path_text(entry.target) for entry in node.body if isinstance(entry, ast.AnnAssign)}
            if attribute in fields:
                head = [*node.bases, *node.decorator_list]
                return not any("NamedTuple" in (text := listing.text(part)) or "frozen=True" in text for part in head)
    if owner == "self":
        return True
    bound = [target for node in listing.nodes if isinstance(node, ast.Assign) for target in node.targets]
    return any(isinstance(target, ast.Attribute) and target.attr == attribute for target in bound)


def _is_container(listing: Listing, root: str, path: str) -> bool:
    """True if the name before the first bracket is only ever bound to a list or a dict."""
    if path.count("[") != 1 or "." in path:
        return False
    values = listing.values_of(root)
    literal = (ast.List, ast.ListComp, ast.Dict, ast.DictComp)
    return bool(values) and all(isinstance(value, literal) or copies_entries(value) for value in values)


def copies_entries(value: ast.expr) -> bool:
    """True if an expression gives a new dict or list of the old entries: ``dict(d)``, ``list(l)``, ``copy.copy(d)``,
    ``d.copy()`` and ``{**d}``."""
    if isinstance(value, ast.Dict):
        return value.keys == [None]
    if not isinstance(value, ast.Call) or value.keywords:
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr == "copy":
        return len(value.args) <= 1
    return isinstance(value.func, ast.Name) and value.func.id in ("dict", "list", "copy") and len(value.args) == 1


def _read_later(write: Written, path: str) -> bool:
    """True if the new tensor would be used: a name that nobody reads again was written for somebody else's eyes."""
    listing, statement = write.listing, write.statement
    if not listing.whole:
        after = write.call.index if write.call is not None else len(write.story.trace.calls)
        later = (call.callsite for call in write.story.trace.calls if call.index > after)
        return isinstance(statement, ast.AugAssign) or any(path in paths_read(site, write.site) for site in later)
    if write.is_read_after(path):
        return True
    loop = next((node for node in listing.around(statement) if isinstance(node, ast.For)), None)
    return isinstance(listing.scope_of(statement), ast.Module) and (loop is None or path not in targets_of(loop))


def _meant_for_the_caller(write: Written, path: str) -> bool:
    """True if a helper wrote its argument and was called for nothing else."""
    caller = write.site.caller
    if path not in write.site.parameters or caller is None or write.another_name_sees_it:
        return False
    if is_called_by_autograd(write.site):
        return False
    return bool(caller.expression) and caller.statement.strip() == caller.expression.strip()


def seen_by_others(write: Written) -> bool:
    """True if the written memory is read afterwards by way of another tensor that existed before the write."""
    story, path, meta = write.story, write.path, write.meta
    if meta is None or write.call is None or path is None or write.another_name_sees_it or _is_snapshot(write):
        return False
    others = {
        tensor
        for tensor in (story.bindings.by_storage.get(meta.storage, []) if meta.storage is not None else [])
        if tensor != meta.tensor
        and story.first_seen(tensor) < write.call.index
        and may_meet(region_of(meta), region_of(story.observations[tensor]))
    }
    names = {name for tensor in others if (name := story.bindings.name(tensor)) is not None and name != path}
    if any(write.is_read_after(name) for name in names):
        return True
    for call in story.trace.calls:
        if call.index > write.call.index and any(m.tensor in others for m in call.inputs):
            site = call.callsite
            here = site is not None and (site.line, site.function) == (write.site.line, write.site.function)
            if not here and path not in paths_read(site, write.site):
                return True
    refused = write.hazard.raised or write.hazard.saved is not None  # else that others see it is the finding
    return refused and _is_read_by_another_name(story, write.call, path, meta.tensor)


def leaves_a_write(write: Written, fix: Fix) -> bool:
    """True if a fix at the line that writes leaves another line writing what was saved, by a name of its own:
    ``a = a * 2`` in the place of ``a.mul_(2)`` cures nothing where ``b.mul_(2)`` writes another slice of it."""
    path, first = write.path, write.statement
    lines = {line for edit in fix.edits for line in range(edit.first, max(edit.last, edit.first) + 1)}
    if write.hazard.saved is None or path is None or first.lineno not in lines or write.mutation is None:
        return False
    root = path.partition(".")[0].partition("[")[0]
    after = write.story.writes.get(write.mutation.counter, ()) if write.mutation.counter is not None else ()
    for other in after:
        site, mutation = other.site, other.mutation
        if site is None or mutation is None or other.call is None or write.call is None:
            continue
        if other.call.index <= write.call.index or not site.same_function(write.site) or site.line in lines:
            continue
        made_later = write.story.first_seen(mutation.tensor) > write.call.index
        if not made_later and _root_written(write.listing, site) not in (root, None):
            return True
    return False


def _root_written(listing: Listing, site: Callsite) -> str | None:
    """Return the name before the first dot or bracket of what a line plainly writes."""
    target = target_of(listing.statement_at(site))
    while isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):
        target = target.func.value
    return root_name(target)


def _is_snapshot(write: Written) -> bool:
    """True if the written tensor was taken with ``detach()``, as a thing to look at, or is only cut off its history."""
    if write.call is None or write.meta is None:
        return False
    made = write.story.innermost_new(write.meta.tensor, write.call.index)
    return write.call.does("detaches itself") or (made is not None and made.does("detached"))


def keeps_its_history(write: Written) -> bool:
    """True if a new tensor made on this line is still part of the graph where it is needed: one made under
    ``no_grad`` is not, though the written one was."""
    call, meta = write.call, write.meta
    if call is None or meta is None or call.grad_enabled or not meta.requires_grad:
        return True
    later = (c for c in write.story.trace.calls if c.index > call.index and c.grad_enabled and c.parent is None)
    return not any(m.storage == meta.storage for c in later for m in c.inputs)


def _is_read_by_another_name(story: Story, wrote: CallEvent, path: str, tensor: int) -> bool:
    """True if a later call reads a tensor by a name that it had before the write of it by this path."""
    if wrote.callsite is None:
        return False
    for call in story.given_to.get(tensor, ()):
        site = call.callsite
        if call.index <= wrote.index or site is None:
            continue
        here, there = where_they_part(wrote.callsite.chain, site.chain)
        if not here.same_function(there):
            continue
        listing = listing_of(story.trace, there)
        own = path if here.same_function(wrote.callsite) else None
        for name in paths_read(site, there):
            last = name.rpartition(".")[2]
            same = name == own or ("." in name and last == path.rpartition(".")[2])
            held = not same and story.bindings.stood_for(there, name, call.index) == tensor
            if held and listing is not None and not _is_bound_between(listing, name, here, there):
                return True
    return False


def _is_bound_between(listing: Listing, name: str, here: Callsite, there: Callsite) -> bool:
    """True if a name gets its value from the line that leads to the write, or from one between that and the read."""
    stored: list[ast.Name] | list[ast.Attribute | ast.Subscript] = listing.stores.get(name, [])
    if not name.isidentifier():
        parts = (node for node in listing.nodes if isinstance(node, (ast.Attribute, ast.Subscript)))
        stored = [node for node in parts if isinstance(node.ctx, ast.Store) and path_text(node) == name]
    return not listing.whole or any(here.line <= node.lineno <= there.line for node in stored)
