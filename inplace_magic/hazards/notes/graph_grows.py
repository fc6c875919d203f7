"""A total, a list or a state keeps the graph of every pass of a loop alive, and no backward goes through it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.fixes.history import kept_without_history
from inplace_magic.hazards.notes.memory import LEAST_BYTES
from inplace_magic.hazards.rule import Event, Found, Row, rules_of
from inplace_magic.language import N_, bytes_of
from inplace_magic.record.autograd import AutogradNode
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import paths_in
from inplace_magic.source.expressions import parse, path_text

CODE = "graph-grows"
_LEAST_PASSES = 5


def kept_of_every_pass(story: Story) -> Iterator[Found]:
    """Yield the lines whose passes are all kept."""
    if sum(saved.nbytes or 0 for saved in story.trace.saved) < LEAST_BYTES:
        return
    lines: dict[tuple[object, ...], list[AutogradNode]] = {}
    for node in story.trace.nodes:
        call = story.calls.get(node.call) if node.pending and node.call is not None else None
        if call is not None and call.callsite is not None and not story.ran_through.get(node.node):
            outer = call.callsite.outermost
            lines.setdefault((outer.cell, outer.file, outer.line), []).append(node)
    crowded = {key: nodes for key, nodes in lines.items() if len(nodes) >= _LEAST_PASSES}
    if not crowded:
        return
    metas = (meta for call in story.doing("reads values") for meta in call.inputs)
    read = story.reached(meta.node for meta in metas if meta.node is not None)
    for nodes in crowded.values():
        passes = _passes(story, [node for node in nodes if node.node in read])
        nbytes = _kept_by(story, nodes)
        holder = _holder(story, nodes, read) if passes >= _LEAST_PASSES and nbytes >= LEAST_BYTES else None
        if holder is not None:
            call, site = holder
            tensor = next((meta.tensor for meta in (*call.mutated, *call.outputs)), None)
            variable = story.bindings.name(tensor) if tensor is not None else None
            words = {"size": bytes_of(nbytes // passes), "total": bytes_of(nbytes), "passes": passes}
            calls: dict[str, Event | None] = {"line": site, "origin": story.calls[nodes[0].call or 0]}
            yield Found(calls, tensor, variable, words, nbytes=nbytes)


def _passes(story: Story, nodes: list[AutogradNode]) -> int:
    """How many calls used the leaf that these nodes use most, itself or by a view."""
    users: dict[int, set[int | None]] = {}
    for node in nodes:
        behind = [story.nodes[number] for number in node.next if number in story.nodes]
        own = [each for each in behind if each.call == node.call]  # a linear layer's transposed weight
        behind += [story.nodes[number] for each in own for number in each.next if number in story.nodes]
        for leaf in behind:
            if leaf.variable is not None:
                users.setdefault(leaf.variable, set()).add(node.call)
    return max(map(len, users.values()), default=0)


def _kept_by(story: Story, nodes: list[AutogradNode]) -> int:
    """Return the bytes of what nodes keep, without leaves."""
    numbers = {node.node for node in nodes}
    kept = {saved.storage: saved.nbytes or 0 for saved in story.trace.saved if saved.node in numbers}
    leaves = {meta.storage for meta in story.observations.values() if meta.is_trainable}
    return sum(nbytes for storage, nbytes in kept.items() if storage is not None and storage not in leaves)


def _holder(story: Story, nodes: list[AutogradNode], read: set[int]) -> tuple[CallEvent, Callsite] | None:
    """Return the call, and the line, that goes on from what it gave in the pass before; or that puts each pass's result
    into a list."""
    times: Counter[Callsite] = Counter()
    for node in story.trace.nodes:
        call = story.calls.get(node.call) if node.node in read and node.call is not None else None
        if call is not None and call.callsite is not None and _goes_on_from_itself(call.callsite.statement):
            times[call.callsite] += 1
            if times[call.callsite] >= _LEAST_PASSES:
                return call, call.callsite
    last = max((story.calls[node.call] for node in nodes if node.call is not None), key=lambda call: call.index)
    site = last.callsite.outermost if last.callsite is not None else None
    if site is None or ".append(" in site.statement:
        return (last, site) if site is not None else None
    bound = _bound_by(site.statement)
    for alias in story.aliases.beside(site):
        if "[" in alias.target and alias.source in bound:
            where = replace(site, line=alias.line, text=alias.text, statement=alias.text, caller=None)
            return last, where
    return None


def _bound_by(statement: str) -> set[str]:
    node = parse(statement)
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {name for target in targets if (name := path_text(target)) is not None}


@cache
def _goes_on_from_itself(statement: str) -> bool:
    """True if a statement reads what it binds: ``total += loss``, ``h = cell(x, h)``."""
    node = parse(statement)
    if isinstance(node, ast.AugAssign):
        return True
    targets = [entry for target in getattr(node, "targets", ()) for entry in ast.walk(target)]
    read = paths_in(ast.unparse(node.value)) if isinstance(node, ast.Assign) else frozenset()
    return any(path_text(target) in read for target in targets if isinstance(target, ast.expr))


RULES = rules_of(
    Row(
        CODE,
        "warning",
        kept_of_every_pass,
        message=N_(
            "{line} keeps the graph of every pass: {size} more with each, {total} after {passes}. No backward goes "
            "through it; only numbers are read from it."
        ),
        fix=N_("Keep the values alone, by `.detach()` or `.item()`, or run the loop under `with torch.no_grad():`."),
        ways=(kept_without_history,),
        badges=Badges(wrote=N_("kept here"), origin=N_("made here, pass after pass")),
    ),
)
