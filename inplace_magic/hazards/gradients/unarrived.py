"""Parameters that an optimizer holds and that no gradient comes to, since what was computed from them was cut off.

One look over the calls in order follows what is computed from such parameters, past the call that ended its history,
and on: only what goes, without its history, into something that a backward ran through is told.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_, _, sentences
from inplace_magic.record.autograd import IdleStep
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import parse, path_text


@dataclass(frozen=True)
class _Cut:
    """A call that ended the history of what was computed from a parameter."""

    leaf: int
    call: CallEvent
    from_the_leaf: bool
    """True if the history ends at the parameter itself, so that there never was one."""


def unarrived(story: Story) -> Iterator[Found]:
    """Yield the lines that cut what was computed from parameters off, so that steps leave these as they are."""
    waiting = _waiting(story)
    cuts = grouped((found[0].leaf, found) for found in _followed(story, waiting)) if waiting else {}
    by_site: dict[Callsite, list[tuple[_Cut, CallEvent, int]]] = {}
    for leaf, found in cuts.items():
        step = waiting[leaf]
        ran = [backward for _cut, _read, backward in found if backward < step.call]
        for cut, read, backward in found:
            site = cut.call.callsite
            meant = step.moved == 0 or cut.call.grad_enabled or not cut.from_the_leaf
            right_before = not ran or backward == max(ran)  # earlier ones may be for other networks
            if site is not None and read.callsite is not None and meant and right_before:
                by_site.setdefault(site, []).append((cut, read, backward))
    for of_one in by_site.values():
        cut, read, backward = min(of_one, key=lambda each: each[1].index)
        step = waiting[cut.leaf]
        before = [each.call for each, _, _ in of_one if each.call.index < step.call] or [cut.call]  # those of one pass
        words = _words(story, cut, before, waiting)
        yield Found({"cut": cut.call, "read": read, "step": step, "backward": story.calls[backward]}, cut.leaf, *words)


def cuts(story: Story) -> dict[Callsite | None, Found]:
    """Return the first cut for each line that steps, by its place."""
    found = [(each.calls["step"], each) for each in unarrived(story)]
    return {step.callsite: each for step, each in reversed(found) if isinstance(step, IdleStep)}


def _waiting(story: Story) -> dict[int, IdleStep]:
    """Return the parameters that a step left out, which no backward in the whole watch came to and nobody else moved
    or filled, each with that step."""
    found: dict[int, IdleStep] = {}
    replaced = {given.replaced for given in story.trace.registrations}  # the network has another one by now
    for step in story.trace.idle_steps if story.backwards_run else ():
        for leaf in step.held if step.callsite is not None else ():
            meta = story.observations.get(leaf)
            known = leaf not in found and leaf not in replaced and meta is not None and meta.is_trainable
            if known and meta is not None and not _has_another_source(story, meta):
                found[leaf] = step
    return found


def _has_another_source(story: Story, leaf: TensorMetadata) -> bool:
    """True if a gradient came to a parameter, or its values come from elsewhere: a moving average, a table
    that is filled by hand, a copy of another network."""
    given_one = any(call.does("sets gradient") for call in story.given_to.get(leaf.tensor, ()))
    if given_one or story.came_to_leaf(leaf.tensor):
        return True
    maker, first = story.maker_of_storage(leaf.storage), story.backwards_run[0]
    if leaf.storage is None or story.is_written_between(leaf.storage, first):
        return True
    filled = (maker, *(call for call, _ in story.writes_to_storage.get(leaf.storage, ())))
    given = {meta.storage for call in filled if call is not None for meta in call.inputs} - {leaf.storage}
    return not story.trained_memories.isdisjoint(given)


def _followed(story: Story, leaves: dict[int, IdleStep]) -> Iterator[tuple[_Cut, CallEvent, int]]:
    """Yield each cut of which a result went into what a backward ran through: the call that read it, and that
    backward."""
    history = {leaf: leaf for leaf in leaves}  # tensor → the parameter, where the way back is still there
    ended: dict[int | None, _Cut] = {}  # by memory: an array of NumPy's comes back as another tensor
    numbers: tuple[CallEvent, _Cut] | None = None
    for call in story.trace.calls:
        if call.error is not None or call.index in story.backwards:
            continue
        given = call.inputs[1:] if call.mutations and call.does("overwrites") else call.inputs
        live = next((meta for meta in given if meta.tensor in history and meta.requires_grad), None)
        without = (meta.storage for meta in given if meta.node is None and not meta.requires_grad)
        cut = next((ended[memory] for memory in without if memory in ended), None)
        if live is not None:
            cut = _Cut(history[live.tensor], call, live.tensor in leaves)
        elif cut is None and numbers is not None:
            cut = _of_numbers(call, *numbers)
        made = [meta for meta in (*call.outputs, *call.mutated) if meta.tensor not in leaves]
        if cut is None:
            for meta in call.mutated if call.does("overwrites") else ():
                ended.pop(meta.storage, None)
        elif not made and _takes_numbers(call):
            numbers = call, cut
        elif live is not None:
            for meta in made:
                if meta.node is not None or meta.requires_grad:
                    history[meta.tensor] = cut.leaf
                elif call.looks_at_values or call.does("gives data"):
                    ended[meta.storage] = cut
        else:
            for meta in made:
                ran = story.ran_through.get(meta.node) if meta.node is not None else None
                if ran:
                    yield cut, call, ran[0]
                elif meta.node is None and meta.storage is not None:
                    ended.setdefault(meta.storage, cut)


def _takes_numbers(call: CallEvent) -> bool:
    return call.kind == "query" and (call.does("reads values") or call.does("gives array"))


def _of_numbers(call: CallEvent, taken: CallEvent, cut: _Cut) -> _Cut | None:
    """Return the cut whose numbers a call makes a tensor of: taken in the same statement, or under a name that the
    call reads."""
    site, there = call.callsite, taken.callsite
    if call.inputs or not call.outputs or site is None or there is None or not site.same_run(there):
        return None
    if site.same_statement(there):
        return cut
    names = {name for name in there.targets or () if name is not None}
    tree = parse(site.expression) if names else None
    return cut if tree is not None and any(path_text(node) in names for node in ast.walk(tree)) else None


def _words(
    story: Story, cut: _Cut, cuts: list[CallEvent], waiting: dict[int, IdleStep]
) -> tuple[str | None, dict[str, str | int]]:
    roots = {meta.node for call in cuts for meta in call.inputs if meta.node is not None}
    behind = {story.nodes[node].variable for node in story.reached(roots)}
    leaves = {leaf for leaf in behind if leaf in waiting} | {cut.leaf}
    names = sorted(name for leaf in leaves if (name := story.bindings.name(leaf)) is not None)
    site, (how, cure) = cut.call.callsite, _how(cut.call)
    code = f"`{site.expression or cut.call.name}`" if site is not None else cut.call.name
    named = wording.some_of(names, len(leaves), _("a parameter"))
    return names[0] if names else None, {"named": named, "code": code, "how": how, "cure": cure}


def _how(cut: CallEvent) -> tuple[str, str]:
    """Return how a call ends a history, and what to do."""
    frozen = _("If the cut is meant, freeze what is not trained: `requires_grad_(False)`.")
    if cut.does("detaches itself"):
        return _("removes the history of its tensor"), sentences(_("Leave `detach_()` out."), frozen)
    if cut.does("gives data") or cut.does("detached"):
        itself = _("Use the tensor itself there, without `detach()` or `.data`.")
        return _("gives a tensor without history"), sentences(itself, frozen)
    if not cut.grad_enabled:
        return _("runs where gradients are off"), sentences(_("Move it out of the `torch.no_grad()` block."), frozen)
    if _takes_numbers(cut) or not cut.outputs or cut.outputs[0].dtype == cut.inputs[0].dtype:
        itself = _("Compute with the tensor itself (`torch.stack`, `torch.cat` and operators keep its history).")
        return _("takes the numbers alone, without their history"), itself
    depend = _("Let the loss depend on the values that it decides about as well, or use a form that has a derivative.")
    return _("has no derivative"), depend


RULES = rules_of(
    Row(
        "parameter-without-gradient",
        "warning",
        unarrived,
        Calls(origin="step"),
        message=N_(
            "{step} does not move {named}: in {cut}, {code} {how}. {backward} reached what was computed from "
            "its result, and went no further back. PyTorch gives no error."
        ),
        fix=N_("{cure}"),
        badges=Badges(
            wrote=N_("cut off here"),
            read=N_("continues without the history here"),
            origin=N_("leaves the parameters as they are here"),
        ),
    ),
    every_call=True,
)
