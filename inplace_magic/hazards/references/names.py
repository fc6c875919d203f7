"""The names of a written tensor: in each function that led to the write, and the other ones that statements gave it.

In ``y = block(x)`` with ``def forward(self, x): return x + self.body(x)`` the body writes a tensor that both functions
call `x`. Each of them owns a name of it, and may read it again. ``before = x`` above the write gives it a second name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile

from inplace_magic.analysis.ledger import Owned
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.paths import before_last_step, is_entry, is_some_entry
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import level, paths_in
from inplace_magic.source.spots import spot_of
from inplace_magic.source.statements import spans

_FIRST_WRITES = 100
"""Writes among which the first one under another name is looked for."""
_VIEWS_OF_VIEWS = 4
"""Steps of ``x.view(-1)[0]`` that are followed back."""


def second_names(story: Story, owned: Owned, mutation: Mutation) -> dict[str, AliasStatement]:
    """Return the other names that statements above the write, in the same function, gave the tensor; and the lists
    that got it by one of those, as ``raw.append(logits)`` above ``scores = logits`` does."""
    above = [alias for alias in story.aliases.beside(owned.site) if alias.line < owned.site.line]
    found: dict[str, AliasStatement] = {}
    for alias in above:
        if owned.path not in (alias.source, alias.target):
            continue
        is_written = alias.source == owned.path
        # `cache = self.cache` is a short name for state that is there to be changed
        short = not alias.source.isidentifier() and not _sums_its_list(story, owned, alias)
        if not short or (is_written and is_noted(story, alias, mutation)):
            found[alias.target if is_written else alias.source] = alias
    variables = {name for name in found if name.isidentifier()}
    found |= {alias.target: alias for alias in above if is_some_entry(alias.target) and alias.source in variables}
    found.pop(owned.path, None)
    return found


def stands_for_another(
    story: Story, owned: Owned, call: CallEvent, mutation: Mutation, name: str, alias: AliasStatement
) -> bool:
    """True if a name was bound to other memory after the statement that gave it the tensor, which has not run again:
    ``h = c = zeros`` above the loop in which ``h, c = cell(x, (h, c))``."""
    held = story.bindings.bound_last(owned.site.function, name, call.index)
    if held is None or held[1] not in story.observations or is_on(story, held[1], mutation):
        return False
    at, spot = level(story.calls[held[0]].callsite, owned.site), spot_of(story.trace, owned.site)
    once = spot is not None and not any(spans(loop, alias.line) for loop in spot.loops)
    return once and at is not None and at.line > alias.line


def is_noted(story: Story, alias: AliasStatement, mutation: Mutation) -> bool:
    """True if ``before = self.mean`` notes a value and is no short name for the state: ``self.mean += x - before``
    writes by the one and reads by the other, and no line of the function writes by ``before``."""
    if alias.source.isidentifier() or not alias.target.isidentifier():
        return False
    first = (call for call, _mutation in story.writes_to_storage.get(mutation.storage or 0, ())[:_FIRST_WRITES])
    here = [(site, call) for call in first if (site := call.callsite) is not None and site.whose == alias.whose]
    paths = {story.bindings.written_path(call, written.tensor) for _site, call in here for written in call.mutations}
    if alias.source not in paths or alias.target in paths:
        return False
    return any(alias.target in paths_in(site.statement) for site, _call in here)


def _sums_its_list(story: Story, owned: Owned, alias: AliasStatement) -> bool:
    """``fused = levels[0]`` above ``for level in levels[1:]: fused += level``: a sum over a list that begins with the
    list's own first entry."""
    spot = spot_of(story.trace, owned.site) if alias.target == owned.path and is_entry(alias.source) else None
    if spot is None or not isinstance(spot.statement, ast.AugAssign):
        return False
    heads = (loop.iter for loop in spot.loops if isinstance(loop, ast.For))
    return any(expressions.root_name(head) == alias.source.partition("[")[0] for head in heads)


def are_taken_for_two(story: Story, alias: AliasStatement, mutation: Mutation) -> bool:
    """True if the program takes a buffer's two names for two tensors."""
    return are_given_at_once(alias) or _both_are_written(story, alias, mutation) or is_noted(story, alias, mutation)


def are_given_at_once(alias: AliasStatement) -> bool:
    """``m = v = torch.zeros(3)``, which many take for two tensors."""
    node = expressions.parse(alias.text)
    return isinstance(node, ast.Assign) and len(node.targets) > 1 and all(isinstance(t, ast.Name) for t in node.targets)


def _both_are_written(story: Story, alias: AliasStatement, mutation: Mutation) -> bool:
    """Of ``update = exp_avg``, whether the tensor had been written under its old name before: ``exp_avg.mul_(0.9)``.
    Whoever then writes `update` takes the two for different."""
    if not alias.source.isidentifier() or not alias.target.isidentifier():
        return False
    for call, _mutation in story.writes_to_tensor.get(mutation.tensor, ())[:_FIRST_WRITES]:
        site = call.callsite
        here = site is not None and site.whose == alias.whose
        if here and site is not None and site.line < alias.line:
            return story.bindings.written_path(call, mutation.tensor) == alias.source
    return False


def behind(story: Story, mutation: Mutation, aliases: Iterable[AliasStatement]) -> list[int]:
    """Return the tensor behind ``picture = pred.detach()``, where `picture` is written, or the other way round; not
    that of a parameter, whose values one may well set that way."""
    if mutation.storage in story.trained_memories:
        return []
    pairs = (pair for alias in aliases for pair in story.aliases.pairs(alias) if mutation.tensor in pair)
    return [tensor for pair in pairs for tensor in pair if tensor != mutation.tensor]


def taken_for_the_write(story: Story, call: CallEvent, mutation: Mutation) -> list[int]:
    """`x` of ``x[0].fill_(9)`` and ``x.data.sub_(1)``: the statement itself took what it wrote from it."""

    def is_here(taken: CallEvent) -> bool:
        site = taken.callsite
        return taken.inputs[0].storage == mutation.storage and site is not None and site.same_statement(call.callsite)

    views = story.views_back(mutation.tensor, call.index) if call.kind == "in-place" else iter(())
    return [view.inputs[0].tensor for view in takewhile(is_here, islice(views, _VIEWS_OF_VIEWS))]


def hands_out_another_name(owned: Owned) -> bool:
    """True if the writing call looks as if it gave a new tensor: its result is used, and not bound to the same name."""
    site, node = owned.site, expressions.parse(owned.site.expression)
    if not isinstance(node, ast.Call) or "." in owned.path or any(given.arg == "out" for given in node.keywords):
        return False  # state that is there to be changed; an argument that says what it does
    if expressions.last_name(node.func).endswith("_"):
        return False
    if site.bound is not None:
        return owned.path not in site.bound
    whole = expressions.parse(site.statement)
    uses_it = isinstance(whole, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Call))  # `outs.append(f(x))`
    return uses_it and site.statement != site.expression


def name_given_by_the_write(owned: Owned) -> str | None:
    """`probs` of ``probs = lprobs.exp_()``, which wrote `lprobs` and gave it that second name."""
    name = owned.site.bound[0] if owned.site.bound is not None and len(owned.site.bound) == 1 else None
    return name if name is not None and name.isidentifier() and name != owned.path and "." not in owned.path else None


def goes_on_as_two(story: Story, alias: AliasStatement, name: str, at: Callsite) -> bool:
    """True if a name that was given at once with another one is used after a read of that: in ``d = r = f()`` one may
    work by `r` and hand on `d`, as long as the first is then done with."""
    spot = spot_of(story.trace, at) if are_given_at_once(alias) else None
    if spot is None:
        return True
    loops = [loop for loop in spot.loops if not spans(loop, alias.line)]
    used = [node.lineno for node in ast.walk(spot.scope) if isinstance(node, ast.Name) and node.id == name]
    return any(line >= spot.statement.lineno or any(spans(loop, line) for loop in loops) for line in used)


def handed_out_with(
    story: Story, owned: Owned, call: CallEvent, mutation: Mutation
) -> Iterator[tuple[str, AliasStatement]]:
    """Yield the other names that a function gave the tensor before it wrote it, and by which it hands it out besides
    the written name: it returns both, or one container with both. With each the statement that gave it."""
    site, path = owned.site, owned.path
    here = story.aliases.beside(site)
    returned = {alias.source for alias in here if alias.target == "return"}
    given = {*returned, *_entries_of(here, path, returned)} if site.caller is not None else set()
    for alias in here:
        names = {alias.target, alias.source}
        if path not in names or len(names) < 2 or not names <= given or alias.line >= site.line:
            continue
        (other,) = names - {path}
        held = story.bindings.bound_last(site.function, other, call.index)
        meta = story.observations.get(held[1]) if held is not None else None
        if meta is None or meta.storage == mutation.storage:  # else the statement did not run
            yield other, alias


def _entries_of(aliases: Iterable[AliasStatement], name: str, returned: set[str]) -> Iterator[str]:
    """Yield a name and the entry that it was taken from, ``labels = batch["ids"]``, where it was put into the same
    container as another entry, ``batch["labels"] = labels``, and that is returned: both are handed out."""
    taken = {a.source for a in aliases if a.target == name and a.source.split("[")[0] in returned}
    put = {a.target for a in aliases if a.source == name and a.target.split("[")[0] in returned}
    for source in taken:
        if any(source.rpartition("[")[0] == target.rpartition("[")[0] and source != target for target in put):
            yield from (source, name)


def is_bound_anew(story: Story, owned: Owned, path: str, wrote: int, read: int, tensor: int) -> bool:
    """True if the name pointed to something else again before the read."""
    bound = story.bindings.bound_last(owned.site.function, path, read)
    return bound is not None and bound[0] >= wrote and bound[1] != tensor


def level_of(inner: Callsite | None, outer: Callsite) -> int:
    """Return how many functions stand between a call and a place that led to it; -1 where the place did not."""
    return next((at for at, place in enumerate(reversed(inner.chain if inner else ())) if place == outer), -1)


def is_on(story: Story, tensor: int, mutation: Mutation) -> bool:
    """True if a tensor lies on the memory that was written."""
    meta = story.observations.get(tensor)
    return meta is not None and meta.storage is not None and meta.storage == mutation.storage


def is_said_to_be_one(story: Story, one: str, other: str, *, but_in: Callsite | None = None) -> bool:
    """True if a statement gives the one key what the other holds: ``self.kernel = self.weight``.

    Args:
        story: the trace.
        one: a key.
        other: another one.
        but_in: a place in whose own function it does not count.
    """
    keys = {one, other}
    return any(
        {before_last_step(alias.target)[1], before_last_step(alias.source)[1]} == keys
        for alias in story.aliases.statements
        if not _is_a_chain(alias.text) and (but_in is None or alias.function != but_in.function)
    )


def _is_a_chain(text: str) -> bool:
    """``a = b = torch.zeros(n)``, and not ``a = b = c``."""
    node = expressions.parse(text)
    return isinstance(node, ast.Assign) and len(node.targets) > 1 and isinstance(node.value, ast.Call)
