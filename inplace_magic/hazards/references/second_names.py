"""What ``b = f(a)`` made: the same tensor, another tensor on the same memory, or a copy."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.owners import Owned
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.paths import is_entry
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import paths_in
from inplace_magic.source.listing import LOOPS, whole_listing
from inplace_magic.source.statements import spans

_FIRST_WRITES = 100
"""Writes among which the first one under another name is looked for."""
_VIEWS_OF_VIEWS = 4
"""Steps of ``x.view(-1)[0]`` that are followed back."""


def are_taken_for_two(story: Story, alias: AliasStatement, mutation: Mutation) -> bool:
    """True if the program takes a buffer's two names for two tensors."""
    return names_given_at_once(alias) or _both_are_written(story, alias, mutation) or is_noted(story, alias, mutation)


def is_noted(story: Story, alias: AliasStatement, mutation: Mutation) -> bool:
    """True if ``before = self.mean`` notes a value and is no short name for the state: ``self.mean += x - before``
    writes by the one and reads by the other, and no line of the function writes by ``before``."""
    if alias.source.isidentifier() or not alias.target.isidentifier():
        return False
    written = story.written_first(mutation.storage).get((alias.function, alias.cell, alias.file))
    if written is None or alias.source not in written.paths or alias.target in written.paths:
        return False
    return any(alias.target in paths_in(statement) for statement in written.statements)


def _both_are_written(story: Story, alias: AliasStatement, mutation: Mutation) -> bool:
    """Of ``update = exp_avg``, whether the tensor had been written under its old name before: ``exp_avg.mul_(0.9)``.
    Whoever then writes `update` takes the two for different."""
    if not alias.source.isidentifier() or not alias.target.isidentifier():
        return False
    for call, _mutation in story.writes_to_tensor.get(mutation.tensor, ())[:_FIRST_WRITES]:
        site = call.callsite
        here = site is not None and (site.function, site.cell, site.file) == (alias.function, alias.cell, alias.file)
        if here and site is not None and site.line < alias.line:
            return story.bindings.written_path(call, mutation.tensor) == alias.source
    return False


def on_the_same_memory(story: Story, mutation: Mutation, aliases: Iterable[AliasStatement | None]) -> list[int]:
    """Return the tensor behind ``picture = pred.detach()``, where `picture` is written, or the other way round; not
    that of a parameter, whose values one may well set that way."""
    tensors = story.bindings.by_storage.get(mutation.storage, ()) if mutation.storage is not None else ()
    if any(story.observations[tensor].is_trainable for tensor in tensors):
        return []
    found = []
    for alias in aliases:
        for pair in story.aliases.pairs(alias) if alias is not None else ():
            if mutation.tensor in pair:
                found += [tensor for tensor in pair if tensor != mutation.tensor]
    return found


def taken_for_the_write(story: Story, call: CallEvent, mutation: Mutation) -> list[int]:
    """`x` of ``x[0].fill_(9)`` and ``x.data.sub_(1)``: the statement itself took what it wrote from it."""
    found: list[int] = []
    tensor = mutation.tensor
    while call.kind == "in-place" and len(found) < _VIEWS_OF_VIEWS:
        made = story.innermost_new(tensor, call.index)
        if made is None or made.kind != "view" or made.callsite is None or not made.inputs:
            break
        if not made.callsite.same_statement(call.callsite) or made.inputs[0].storage != mutation.storage:
            break
        tensor = made.inputs[0].tensor
        found.append(tensor)
    return found


def names_given_at_once(alias: AliasStatement) -> bool:
    """``m = v = torch.zeros(3)``, which many take for two tensors."""
    node = expressions.parse(alias.text)
    return isinstance(node, ast.Assign) and len(node.targets) > 1 and all(isinstance(t, ast.Name) for t in node.targets)


def goes_on_as_two(story: Story, alias: AliasStatement, name: str, at: Callsite) -> bool:
    """True if a name that was given at once with another one is used after a read of that: in ``d = r = f()`` one may
    work by `r` and hand on `d`, as long as the first is then done with."""
    listing = whole_listing(story.trace, at) if names_given_at_once(alias) else None
    statement = listing.statement_at(at) if listing is not None else None
    if listing is None or statement is None:
        return True
    scope, loops = listing.scope_of(statement), [n for n in listing.around(statement) if isinstance(n, LOOPS)]
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and node.id == name:
            again = any(spans(loop, node.lineno) and not spans(loop, alias.line) for loop in loops)
            if node.lineno >= statement.lineno or again:
                return True
    return False


def with_clone(statement: str) -> str:
    """Return an assignment, as text, that assigns a copy of its value."""
    node = expressions.parse(statement)
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.IfExp):
        return f"{statement}.clone()"
    value = ast.get_source_segment(statement, node.value) or ast.unparse(node.value)
    return statement.replace(value, f"({value}).clone()")


def sums_its_list(story: Story, owned: Owned, alias: AliasStatement) -> bool:
    """``fused = levels[0]`` above ``for level in levels[1:]: fused += level``: a sum over a list that begins with the
    list's own first entry."""
    listing = whole_listing(story.trace, owned.site)
    if listing is None or alias.target != owned.path or not is_entry(alias.source):
        return False
    statement = listing.statement_at(owned.site)
    if not isinstance(statement, ast.AugAssign):
        return False
    loops = (node for node in listing.around(statement) if isinstance(node, ast.For))
    return any(expressions.root_name(loop.iter) == alias.source.partition("[")[0] for loop in loops)


def hands_out_another_name(owned: Owned) -> bool:
    """True if the writing call looks as if it gave a new tensor: its result is used, and not bound to the same name."""
    site = owned.site
    node = expressions.parse(site.expression)
    if not isinstance(node, ast.Call):
        return False
    callee = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if "." in owned.path or callee.endswith("_") or any(given.arg == "out" for given in node.keywords):
        return False  # state that is there to be changed; a name or an argument that says what it does
    targets = site.bound
    if targets is not None:
        return owned.path not in targets
    statement = expressions.parse(site.statement)
    kinds = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Call)  # the last is `outs.append(mask(x))`
    return not _same(statement, node) and isinstance(statement, kinds)


def name_given_by_the_write(owned: Owned) -> str | None:
    """`probs` of ``probs = lprobs.exp_()``, which wrote `lprobs` and gave it that second name."""
    targets = owned.site.bound
    if "." in owned.path or targets is None or len(targets) != 1 or targets[0] is None:
        return None
    return targets[0] if targets[0].isidentifier() and targets[0] != owned.path else None


def _same(one: ast.AST | None, other: ast.AST) -> bool:
    return one is not None and ast.dump(one) == ast.dump(other)
