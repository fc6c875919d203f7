"""An activation was kept (by a forward hook, or in a list) and the next in-place layer rewrote it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.inplace_false import advice, flag_turned_off
from inplace_magic.hazards.fixes.of_origin import where_it_was_kept
from inplace_magic.hazards.references.engine import first_of_each_line
from inplace_magic.hazards.references.slots import names
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement, KeptByHook
from inplace_magic.record.paths import is_entry
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

CODE = "kept-activation-overwritten"


def activation_overwritten(story: Story) -> Iterator[Found]:
    """Yield the first write of each line that rewrote a kept tensor which was read afterwards."""

    @lru_cache(None)  # a loop may detach one tensor in each of its passes, and write it
    def entries(tensor: int) -> list[str]:
        held = (name for each in _held(story, tensor) for name in story.names.get(each, ()))
        return [name for name in held if is_entry(name)]

    def find(call: CallEvent, mutation: Mutation) -> Found | None:
        kept = entries(mutation.tensor)
        found = _kept_by_a_name(story, call, mutation, kept) if kept else None
        return found or _kept_where_a_hook_reaches(story, call, mutation)

    return first_of_each_line(story.in_place, find)


def _held(story: Story, tensor: int) -> list[int]:
    """Return a tensor and what was detached from it."""
    return [tensor, *story.aliases.detached.get(tensor, ())]


def _kept_by_a_name(story: Story, call: CallEvent, mutation: Mutation, kept: list[str]) -> Found | None:
    """Return what is found of what a list or dict of the user's holds, and how it came there."""
    how = next(_statements_that_kept(story, call, mutation, kept), None)
    if how is None:
        return None
    roots = {path.split("[")[0].split(".")[0] for path in kept}
    reads = (
        _read_where(story, tensor, call, lambda site: any(_says(site, name) for name in roots))
        for tensor in _held(story, mutation.tensor)
    )
    read = next((read for read in reads if read is not None), None)
    if read is None:
        return None
    direct = call.callsite is not None and call.callsite.direct
    variable = story.bindings.written_name(call, mutation.tensor) if direct else None
    words = {"container": kept[0], "code": wording.code(how.text), "number": how.line}
    return Found({"write": call, "read": read}, mutation.tensor, variable or kept[0], words)


def _statements_that_kept(
    story: Story, call: CallEvent, mutation: Mutation, kept: list[str]
) -> Iterator[AliasStatement]:
    """Yield the statements of the writing function that put the tensor into a container before the write: above it,
    or in the pass before. ``for layer in net: x = layer(x); if …: kept.append(x)`` has kept what a layer gave, and not
    what the next one made of it, where it is the one entry that holds the tensor."""
    site, name = call.callsite, story.bindings.written_path(call, mutation.tensor)
    made = story.innermost_new(mutation.tensor, call.index)
    given = made.callsite if made is not None else None
    if site is None:
        return
    sums = isinstance(expressions.parse(site.statement), ast.AugAssign)  # `height += step` goes on with one tensor
    bound = [at for at, _tensor in story.bindings.scopes.get((site.function, name or ""), ()) if at < call.index]
    by_layers = made is not None and made.modules and call.modules and site.same_line(given) and len(kept) == 1
    for alias in story.aliases.beside(site):
        if not is_entry(alias.target):
            continue
        if alias.line < site.line and alias.source == name and not sums:
            if made is None or not bound or (given is not None and given.line <= alias.line):
                yield alias
        elif alias.line > site.line and by_layers and given is not None and alias.source in (given.bound or ()):
            yield alias


def _kept_where_a_hook_reaches(story: Story, write: CallEvent, mutation: Mutation) -> Found | None:
    """Return what is found of what stood in a container of one hook's while it was written, and is read by a line that
    says the container."""
    for kept in story.kept_by_hooks.get(write.index, ()):
        handed = write.callsite is not None and any(_says(place, kept.name) for place in write.callsite.chain)
        read = None if handed else _read_where(story, kept.tensor, write, partial(_says_entry, kept))
        if read is not None:
            words = {"layer": kept.layer, "writer": write.modules[-1] if write.modules else write.name}
            name = next((name for name in story.names.get(mutation.tensor, ()) if is_entry(name)), None)
            return Found({"write": write, "read": read}, mutation.tensor, name, words, message=_OF_A_HOOK)
    return None


_OF_A_HOOK = N_(
    "{read} reads the output of `{layer}` that a forward hook kept, but `{writer}` in {write} has "
    "overwritten that very tensor in place. PyTorch gives no error."
)


def _says_entry(kept: KeptByHook, site: Callsite) -> bool:
    """True if a statement says the container of a hook, and no other entry of it than the one that was kept."""
    node = expressions.parse(site.statement)
    slices = (each.slice for each in ast.walk(node) if isinstance(each, ast.Subscript)) if node is not None else ()
    keys = {str(key.value) for key in slices if isinstance(key, ast.Constant)}
    return _says(site, kept.name) and (kept.key in keys if keys and kept.key is not None else not kept.others)


def _read_where(story: Story, tensor: int, write: CallEvent, says: Callable[[Callsite], bool]) -> CallEvent | None:
    """Return the first later call that read the tensor in a statement that says its container."""

    def counts(site: Callsite | None) -> bool:
        return any(place != write.callsite and says(place) for place in (site.chain if site is not None else ()))

    return next(story.readers(tensor, write.index, counts), None)


def _says(site: Callsite, name: str) -> bool:
    """True if a statement reads a variable or an attribute of this name."""
    node = expressions.parse(site.statement)
    inner = ast.walk(node.value if isinstance(node, ast.Assign) else node) if node is not None else ()
    return any(names(each, name) for each in inner)


RULES = rules_of(
    Row(
        CODE,
        "warning",
        activation_overwritten,
        Calls(write="write"),
        message=N_(
            "{read} reads `{container}`, which no longer holds what was kept: {code} (line {number}) kept it, and "
            "{write} then overwrote that very tensor in place. PyTorch gives no error."
        ),
        fix=N_("Keep a copy (`.clone()`), or let the layer that follows give a new tensor (`inplace=False`)."),
        ways=(where_it_was_kept, flag_turned_off),
        advice=(advice,),
    ),
)
