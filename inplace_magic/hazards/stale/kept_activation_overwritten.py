"""An activation was kept (by a forward hook, or in a list) and the next in-place layer rewrote it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.inplace_false import advice, flag_turned_off
from inplace_magic.hazards.fixes.where_kept import where_it_was_kept
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import KeptByHook
from inplace_magic.record.paths import is_entry
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import whole_listing

CODE = "kept-activation-overwritten"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place that rewrote a kept tensor which was read afterwards."""
    seen = set()
    known: dict[int, list[str]] = {}  # a loop may detach one tensor in each of its passes, and write it
    hooked = story.trace.kept_by_hooks or story.trace.hooked_calls
    for call in story.in_place:
        for mutation in call.mutations if call.error is None else ():
            if call.callsite in seen:
                continue
            held = [mutation.tensor, *story.aliases.detached.get(mutation.tensor, ())]
            if mutation.tensor not in known:
                names = (name for tensor in held for name in story.names.get(tensor, ()))
                known[mutation.tensor] = [name for name in names if is_entry(name)]
            containers = known[mutation.tensor]
            if not (containers or hooked):
                continue
            found = _kept_by_a_name(story, call, mutation, held, containers) if containers else None
            found = found or _kept_where_a_hook_reaches(story, call, mutation)
            found = found or _kept_out_of_reach(story, call, mutation, held)
            if found is not None:
                seen.add(call.callsite)
                yield found


def _kept_by_a_name(
    story: Story, call: CallEvent, mutation: Mutation, held: list[int], containers: list[str]
) -> Hazard | None:
    """The finding on what a list or dict of the user's holds, and how it came there."""
    how = _kept_by_statement(story, call, mutation) or _kept_a_pass_before(story, call, mutation)
    if how is None:
        return None
    says = partial(_says_one, {path.split("[")[0].split(".")[0] for path in containers})
    reads = (_read_where(story, tensor, call, says) for tensor in held)
    read = next((read for read in reads if read is not None), None)
    return _hazard(story, call, mutation, containers[0], how, read) if read is not None else None


def _kept_out_of_reach(story: Story, write: CallEvent, mutation: Mutation, held: list[int]) -> Hazard | None:
    """The finding on what a hook kept, as the watch saw when it ran, where nobody but the hook can have kept it."""
    made = story.innermost_new(mutation.tensor, write.index)
    if made is None or made.index not in story.trace.hooked_calls or made.callsite != write.callsite:
        return None

    def counts(site: Callsite | None) -> bool:
        return site is not None and site != write.callsite

    reads = (next(story.readers(tensor, write.index, counts), None) for tensor in held)
    read = min((read for read in reads if read is not None), key=lambda call: call.index, default=None)
    if read is None or read.parent is not None:
        return None
    inside = list(story.calls_between(made.index, read.index))
    line = [call for call in inside if call.callsite == write.callsite]
    if any(meta.storage == mutation.storage for meta in line[-1].outputs):
        return None  # the line gave it back, whoever kept it besides
    if any(call.index < write.index and call.kind == "ordinary" and call.got(held) for call in inside):
        return None  # what was kept may be a copy, or what was computed from it
    return _of_a_hook(story, write, mutation.tensor, made.modules[-1] if made.modules else made.name, read)


def _kept_where_a_hook_reaches(story: Story, write: CallEvent, mutation: Mutation) -> Hazard | None:
    """The finding on what stood in a container of one hook's while it was written, and is read by a line that says the
    container."""
    for kept in story.kept_by_hooks.get(write.index, ()):
        handed = write.callsite is not None and any(_says(place, kept.name) for place in write.callsite.chain)
        read = None if handed else _read_where(story, kept.tensor, write, partial(_says_entry, kept))
        if read is not None:
            return _of_a_hook(story, write, mutation.tensor, kept.layer, read)
    return None


def _says_entry(kept: KeptByHook, site: Callsite) -> bool:
    """Whether a statement says the container of a hook, and no other entry of it than the one that was kept."""
    node = expressions.parse(site.statement)
    slices = (each.slice for each in ast.walk(node) if isinstance(each, ast.Subscript)) if node is not None else ()
    keys = {str(key.value) for key in slices if isinstance(key, ast.Constant)}
    return _says(site, kept.name) and (kept.key in keys if keys and kept.key is not None else not kept.others)


def _of_a_hook(story: Story, write: CallEvent, tensor: int, layer: str, read: CallEvent) -> Hazard:
    return finding(
        CODE,
        "warning",
        message=_(
            "{read} reads the output of `{layer}` that a forward hook kept, but `{writer}` in {write} has "
            "overwritten that very tensor in place. PyTorch gives no error."
        ).format(
            read=wording.spot(read.callsite),
            layer=layer,
            writer=write.modules[-1] if write.modules else write.name,
            write=wording.spot(write.callsite),
        ),
        fix=_("Keep a copy (`.clone()`), or let the layer that follows give a new tensor (`inplace=False`)."),
        variable=next((name for name in story.names.get(tensor, ()) if is_entry(name)), None),
        read=read,
        tensor=tensor,
        write=write,
    )


def _kept_by_statement(story: Story, call: CallEvent, mutation: Mutation) -> str | None:
    """A statement of the writing function, above the write, that put the written variable into a container."""
    site = call.callsite
    name = story.bindings.written_path(call, mutation.tensor)
    if site is None or name is None or isinstance(expressions.parse(site.statement), ast.AugAssign):
        return None  # `path.append(height); height += step` goes on with a sum: one tensor under two names
    for alias in story.aliases.beside(site):
        if alias.source == name and is_entry(alias.target) and alias.line < site.line:
            bound = [at for at, _ in story.bindings.scopes.get((site.function, name), ()) if at < call.index]
            made = story.innermost_new(mutation.tensor, call.index)
            if made is None or not bound or (made.callsite is not None and made.callsite.line <= alias.line):
                return _("{code} (line {line}) kept it").format(code=wording.code(alias.text), line=alias.line)
    return None


def _kept_a_pass_before(story: Story, call: CallEvent, mutation: Mutation) -> str | None:
    """``for layer in net: x = layer(x); if isinstance(layer, nn.Conv2d): kept.append(x)``, where the layer of the next
    pass writes what this one gave: the condition names the class of the layer that gave it, and not that of the
    writing one."""
    site, listing = call.callsite, whole_listing(story.trace, call.callsite)
    made = story.innermost_new(mutation.tensor, call.index)
    place = made.callsite if made is not None else None
    if made is None or place is None or site is None or listing is None or not made.modules or not call.modules:
        return None
    if (place.line, place.function) != (site.line, site.function):
        return None
    for alias in story.aliases.beside(site):
        statement = listing.statement_on(alias.line)
        around = listing.around(statement) if statement is not None and is_entry(alias.target) else ()
        tests = [node.test for node in around if isinstance(node, ast.If)]
        asked = {name for test in tests for name in _classes_asked(test)}
        if alias.line > site.line and made.modules[-1] in asked and call.modules[-1] not in asked:
            return _("{code} (line {line}) kept it").format(code=wording.code(alias.text), line=alias.line)
    return None


def _classes_asked(test: ast.expr) -> set[str]:
    """``Conv2d`` of ``isinstance(layer, nn.Conv2d)``."""
    if not isinstance(test, ast.Call) or expressions.path_text(test.func) != "isinstance" or len(test.args) != 2:
        return set()
    listed = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
    return {(expressions.path_text(node) or "").rpartition(".")[2] for node in listed}


def _read_where(story: Story, tensor: int, write: CallEvent, says: Callable[[Callsite], bool]) -> CallEvent | None:
    """The first later call that read the tensor in a statement that says its container."""

    def counts(site: Callsite | None) -> bool:
        return any(place != write.callsite and says(place) for place in (site.chain if site is not None else ()))

    return next(story.readers(tensor, write.index, counts), None)


def _says_one(names: set[str], site: Callsite) -> bool:
    return any(_says(site, name) for name in names)


def _says(site: Callsite, name: str) -> bool:
    """Whether a statement reads a variable or an attribute of this name."""
    node = expressions.parse(site.statement)
    inner = ast.walk(node.value if isinstance(node, ast.Assign) else node) if node is not None else ()
    return any(name in (getattr(each, "id", None), getattr(each, "attr", None)) for each in inner)


def _hazard(story: Story, call: CallEvent, mutation: Mutation, container: str, how: str, read: CallEvent) -> Hazard:
    variable = container if call.callsite is None or not call.callsite.direct else None
    variable = variable or story.bindings.written_name(call, mutation.tensor) or container
    return finding(
        CODE,
        "warning",
        message=_(
            "{read} reads `{container}`, which no longer holds what was kept: {how}, and {write} then overwrote "
            "that very tensor in place. PyTorch gives no error."
        ).format(container=container, read=wording.spot(read.callsite), how=how, write=wording.spot(call.callsite)),
        fix=_("Keep a copy (`.clone()`), or let the layer that follows give a new tensor (`inplace=False`)."),
        variable=variable,
        read=read,
        tensor=mutation.tensor,
        write=call,
    )


RULE = Rule(check, {CODE: Cures((where_it_was_kept, flag_turned_off), (advice,))})
