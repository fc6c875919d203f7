"""The statement that a finding blames, together with what is known of the lines around it.

Whether its variable may be bound to a new tensor is decided here. ``x = x.clone()`` before a write changes the meaning
of the program where somebody else is to see the write: the caller of a helper, the tensor behind a view, the list that
a loop goes through. Only where none of them can be there, the name may be bound anew.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from inplace_magic.analysis.overlap import may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.holders import is_read_by_another_name
from inplace_magic.hazards.fixes.out_of_place import target_of
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import paths_read
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Edit, Listing, listing_of
from inplace_magic.source.variables import variables_bound, variables_in

Change = tuple[ast.expr, str]
"""An expression, and the text that takes its place."""


@dataclass(frozen=True)
class Fix:
    """A change of the user's lines that cures one finding."""

    site: Callsite
    """Any place in the text that is changed."""
    listing: Listing
    edits: tuple[Edit, ...]
    price_bytes: int | None = None
    sentence: str = ""
    """Says what the change does; empty where the rule's own advice says it."""


@dataclass(frozen=True)
class Written:
    """A write, its statement and its variable."""

    story: Story
    hazard: Hazard
    site: Callsite
    listing: Listing
    statement: ast.stmt
    call: CallEvent | None
    path: str | None
    """The written variable as the line says it: ``x``, ``self.memory``, ``maps[1]``; None where it says none."""
    meta: TensorMetadata | None = None
    """The written tensor when the write began."""
    mutation: Mutation | None = None
    another_name_sees_it: bool = False
    """That is what the finding is about; so only the writing name shall have the new values."""

    @property
    def nbytes(self) -> int | None:
        """Of the written tensor, which a copy of it costs."""
        return self.meta.nbytes if self.meta is not None else None

    @property
    def is_of_a_leaf(self) -> bool:
        """Whether the written tensor is a leaf that requires grad."""
        return self.meta is not None and self.meta.is_trainable

    def fix(self, edit: Edit | None, price: int | None = None, sentence: str = "") -> Fix | None:
        """The fix of one edit in the text of the write; None where it could not be made."""
        return Fix(self.site, self.listing, (edit,), price, sentence) if edit is not None else None

    def text_at(self, site: Callsite | None) -> tuple[Callsite, Listing, ast.expr] | None:
        """A place, the text around it and the expression that made its call."""
        listing = listing_of(self.story.trace, site)
        node = listing.expression_at(site) if listing is not None and site is not None else None
        return (site, listing, node) if site is not None and listing is not None and node is not None else None


def fix_of(
    site: Callsite, listing: Listing, changes: Iterable[Change], price: int | None = None, sentence: str = ""
) -> Fix | None:
    """The fix that replaces some expressions, by one edit for each line; None where there is none, or one of them
    cannot be made, such as a copy of what a line unpacks: ``first, second = results()`` gives no tensor to clone."""
    by_line: dict[int, dict[int, Change]] = {}
    for node, new in changes:
        parent = listing.parents.get(node)
        if (
            new.endswith(".clone()")
            and isinstance(parent, ast.Assign)
            and isinstance(parent.targets[0], (ast.Tuple, ast.List))
        ):
            return None
        by_line.setdefault(node.lineno, {})[node.col_offset] = (node, new)
    edits = [listing.substitute(line.values()) for line in by_line.values()]
    made = tuple(edit for edit in edits if edit is not None)
    return Fix(site, listing, made, price, sentence) if made and all(edits) else None


def written(story: Story, hazard: Hazard, *, another_name_sees_it: bool = False) -> Written | None:
    """What is known of the write of a finding; None where its statement is not known."""
    site = hazard.mutation
    listing = listing_of(story.trace, site)
    statement = listing.statement_at(site) if listing is not None and site is not None else None
    if site is None or listing is None or statement is None:
        return None
    call = story.calls.get(hazard.call) if hazard.call is not None else None
    if call is None or hazard.tensor is None:
        return Written(story, hazard, site, listing, statement, None, _path_of(statement))
    node = story.bindings.written_operand(call, hazard.tensor)
    meta = next((m for m in (*call.inputs, *call.mutated) if m.tensor == hazard.tensor), None)
    mutation = next((m for m in call.mutations if m.tensor == hazard.tensor), None)
    path = path_text(node) if site.direct and not call.does("of lists") else None  # there the line names a list
    if path is None and site.direct and call.does("sets item"):
        path = _path_of(statement)
    return Written(story, hazard, site, listing, statement, call, path, meta, mutation, another_name_sees_it)


def _path_of(statement: ast.stmt) -> str | None:
    target = target_of(statement)
    return path_text(
        target.value if isinstance(statement, ast.Assign) and isinstance(target, ast.Subscript) else target
    )


def can_bind_anew(write: Written) -> bool:
    """Whether the written variable may name a new tensor from here on, and nobody misses the write."""
    path, statement, listing = write.path, write.statement, write.listing
    if path is None or not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)):
        return False
    leaf = write.is_of_a_leaf
    if leaf and write.call is not None and write.call.was_refused("view of a custom function written"):
        leaf = False  # seen before the function gave it its history
    refused = write.call.refusal.kind if write.call is not None and write.call.refusal is not None else None
    may_go = refused in ("leaf written", "view of a leaf written") and path.isidentifier()
    if leaf and not may_go:
        return False  # a parameter must stay the object that the optimizer knows
    if not _assignable(write, path) or seen_by_others(write):
        return False
    if not path.isidentifier():
        return True
    return _read_later(write, path) and not _meant_for_the_caller(write, path) and listing.alone(statement)


def _assignable(write: Written, path: str) -> bool:
    """Whether ``path = …`` on this line binds what the line reads as ``path``."""
    listing, statement = write.listing, write.statement
    root = path.split(".")[0].split("[")[0]
    scope = listing.scope_of(statement)
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
    return isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) and path in _bound_in(scope)


def _can_be_set(listing: Listing, owner: str, attribute: str) -> bool:
    """Whether an attribute is one that a line may bind: not so in a named tuple, such as ``x.topk(2)`` gives, or a
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
    """Whether the name before the first bracket is only ever bound to a list or a dict."""
    if path.count("[") != 1 or "." in path:
        return False
    values = [
        node.value
        for node in listing.nodes
        if isinstance(node, ast.Assign) and any(path_text(target) == root for target in node.targets)
    ]
    literal = (ast.List, ast.ListComp, ast.Dict, ast.DictComp)
    return bool(values) and all(isinstance(value, literal) or copies_entries(value) for value in values)


def copies_entries(value: ast.expr) -> bool:
    """Whether an expression gives a new dict or list of the old entries: ``dict(d)``, ``list(l)``, ``copy.copy(d)``,
    ``d.copy()`` and ``{**d}``."""
    if isinstance(value, ast.Dict):
        return value.keys == [None]
    if not isinstance(value, ast.Call) or value.keywords:
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr == "copy":
        return len(value.args) <= 1
    return isinstance(value.func, ast.Name) and value.func.id in ("dict", "list", "copy") and len(value.args) == 1


def copied_from(value: ast.expr) -> str | None:
    """`state` of ``copy.copy(state)``, ``dataclasses.replace(state, time=0)``, ``state._replace(…)``, ``dict(state)``
    and ``{**state}``, which give a new object around the old entries."""
    if isinstance(value, ast.Dict):
        spread = [entry for key, entry in zip(value.keys, value.values, strict=True) if key is None]
        return path_text(spread[0]) if len(spread) == 1 else None
    if not isinstance(value, ast.Call):
        return None
    called = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    if called in ("copy", "_replace") and isinstance(value.func, ast.Attribute) and not value.args:
        return path_text(value.func.value)
    return path_text(value.args[0]) if called in ("copy", "replace", "dict", "list") and value.args else None


def _bound_in(scope: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    arguments = scope.args
    names = {arg.arg for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return names | variables_bound(scope)


def loads_after(listing: Listing, statement: ast.stmt, path: str) -> Iterator[ast.expr]:
    """The places that read a variable once a statement has run, in its function or, outside of one, in the cell."""
    scope = listing.scope_of(statement)
    loop = next((n for n in listing.around(statement) if isinstance(n, (ast.For, ast.AsyncFor, ast.While))), None)
    in_loop = loop is not None and listing.scope_of(loop) is scope and not _targets(loop) & {path.split("[")[0]}
    inside = set(ast.walk(loop)) if loop is not None else set()
    own = set(ast.walk(statement))
    for node in _loads(scope).get(path, ()):
        if node in own:
            continue
        later = (node.lineno, node.col_offset) > (statement.lineno, statement.col_offset)
        if loop is not None and not in_loop and _targets(loop) & {path}:
            later = later and node in inside
        if later or (in_loop and node in inside):
            yield node


@lru_cache(maxsize=8)
def _loads(scope: ast.AST) -> dict[str, list[ast.Name | ast.Attribute | ast.Subscript]]:
    """The places of a function that read variables, by path: of a long cell each finding asks."""
    found: dict[str, list[ast.Name | ast.Attribute | ast.Subscript]] = {}
    for node in ast.walk(scope):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load):
            path = path_text(node)
            if path is not None:
                found.setdefault(path, []).append(node)
    return found


def _targets(loop: ast.AST) -> set[str]:
    target = loop.target if isinstance(loop, (ast.For, ast.AsyncFor)) else None
    return variables_in(target)


def _read_later(write: Written, path: str) -> bool:
    """Whether the new tensor would be used: a name that nobody reads again was written for somebody else's eyes."""
    listing, statement = write.listing, write.statement
    if not listing.whole:
        return isinstance(statement, ast.AugAssign) or _read_by_a_later_call(write, path)
    if any(True for _ in loads_after(listing, statement, path)):
        return True
    loop = next((node for node in listing.around(statement) if isinstance(node, ast.For)), None)
    return isinstance(listing.scope_of(statement), ast.Module) and (loop is None or path not in _targets(loop))


def _read_by_a_later_call(write: Written, path: str) -> bool:
    after = write.call.index if write.call is not None else len(write.story.trace.calls)
    return any(path in paths_read(call.callsite, write.site) for call in write.story.trace.calls if call.index > after)


def _meant_for_the_caller(write: Written, path: str) -> bool:
    """Whether a helper wrote its argument and was called for nothing else."""
    caller = write.site.caller
    if path not in write.site.parameters or caller is None or write.another_name_sees_it:
        return False
    return bool(caller.expression) and caller.statement.strip() == caller.expression.strip()


def seen_by_others(write: Written) -> bool:
    """Whether the written memory is read afterwards by way of another tensor that existed before the write."""
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
    if any(True for name in names for _ in loads_after(write.listing, write.statement, name)):
        return True
    for call in story.trace.calls:
        if call.index > write.call.index and any(m.tensor in others for m in call.inputs):
            site = call.callsite
            same_statement = site is not None and (site.line, site.function) == (write.site.line, write.site.function)
            if not same_statement and path not in paths_read(call.callsite, write.site):
                return True
    refused = write.hazard.raised or write.hazard.saved is not None  # else that others see it is the finding
    return refused and is_read_by_another_name(story, write.call, path, meta.tensor)


def _is_snapshot(write: Written) -> bool:
    """Whether the written tensor was taken with ``detach()``, as a thing to look at, or is only cut off its history."""
    if write.call is None or write.meta is None:
        return False
    if write.call.does("detaches itself"):
        return True
    made = write.story.innermost_new(write.meta.tensor, write.call.index)
    return made is not None and made.does("detached")


def keeps_its_history(write: Written) -> bool:
    """Whether a new tensor made on this line is still part of the graph where it is needed: one made under
    ``no_grad`` is not, though the written one was."""
    call, meta = write.call, write.meta
    if call is None or meta is None or call.grad_enabled or not meta.requires_grad:
        return True
    later = (c for c in write.story.trace.calls if c.index > call.index and c.grad_enabled and c.parent is None)
    return not any(m.storage == meta.storage for c in later for m in c.inputs)
