"""Networks of an object (``self.target``) that are another one of its networks: told by what the class says, and by
what runs.

``self.target = self.online`` in ``__init__`` gives one network two names. The trace shows it when ``self.target(x)`` is
run: it reads the parameters that the optimizer writes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing


def source_of(value: ast.expr) -> str | None:
    """The network whose parameters an expression has: `student` of ``student``, ``copy.copy(student)`` and
    ``student.eval()``; None for what makes new ones."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("eval", "train"):
        return source_of(value.func.value)
    if isinstance(value, ast.Call):
        shallow = expressions.path_text(value.func) in ("copy.copy", "copy") and len(value.args) == 1
        return source_of(value.args[0]) if shallow else None
    return expressions.path_text(value)


def moved_with(
    story: Story, listing: Listing, stands: Callable[[str], bool]
) -> Iterator[tuple[str, str, CallEvent, Mutation, CallEvent]]:
    """(network, the one that it is, writing call, its mutation, the run that followed), for each attribute whose name
    says that it is to stand still."""
    shared = _shared(listing, stands)
    trained = min(story.executed, default=None)
    for call in story.trace.calls if shared and trained is not None else ():
        attribute = next((name for name in _called(call.callsite) if name in shared), None)
        for meta in call.inputs if attribute is not None else ():
            if attribute is None or not (meta.is_leaf and meta.requires_grad) or meta.storage is None:
                continue
            writes = story.writes_to_storage.get(meta.storage, ())
            write = next((entry for entry in writes if (trained or 0) < entry[0].index < call.index), None)
            if write is not None and attribute in shared:
                yield f"self.{attribute}", shared.pop(attribute), *write, call


def held_against_itself(story: Story) -> Iterator[tuple[str, str, CallEvent, Mutation, CallEvent]]:
    """(network, the one that it is, writing call, its mutation, the run that followed), for two attributes that a
    statement made one network: by one it ran without recording, to be held against what it gives by the other one."""
    given = dict.fromkeys((alias.target, alias.source) for alias in story.aliases)
    pairs = [pair for pair in given if all(path.startswith("self.") for path in pair)]
    by_attribute = _runs(story, {path.rpartition(".")[2] for pair in pairs for path in pair})
    for pair in pairs:
        for still, moving in (pair, pair[::-1]):
            runs, online = (by_attribute[path.rpartition(".")[2]] for path in (still, moving))
            memories = _parameters(runs) & _parameters(online)
            if not memories or any(output.node is not None for call in runs for output in call.outputs):
                continue
            if not _meet(story, runs, online):
                continue
            for read in runs:
                write = _written_before(story, memories & _parameters([read]), runs[0].index, read.index)
                if write is not None:
                    yield still, moving, *write, read
                    break


def _runs(story: Story, attributes: set[str]) -> dict[str, list[CallEvent]]:
    """The calls that were made by way of each of some attributes."""
    found: dict[str, list[CallEvent]] = {attribute: [] for attribute in attributes}
    known: dict[int, set[str]] = {}
    for call in story.trace.calls if attributes else ():
        if id(call.callsite) not in known:
            known[id(call.callsite)] = attributes.intersection(_called(call.callsite))
        for attribute in known[id(call.callsite)] if call.inputs else ():
            found[attribute].append(call)
    return found


def _parameters(calls: list[CallEvent]) -> set[int]:
    metas = (meta for call in calls for meta in call.inputs)
    return {meta.storage for meta in metas if meta.is_leaf and meta.requires_grad and meta.storage is not None}


def _written_before(story: Story, memories: set[int], since: int, read: int) -> tuple[CallEvent, Mutation] | None:
    writes = (entry for memory in memories for entry in story.writes_to_storage.get(memory, ()))
    between = [entry for entry in writes if since < entry[0].index < read]
    return min(between, key=lambda entry: entry[0].index, default=None)


def _meet(story: Story, runs: list[CallEvent], online: list[CallEvent]) -> bool:
    """Whether a result of the runs without recording, and one of those with it, come together in one operation."""
    still = {output.tensor for call in runs for output in call.outputs}
    trained = {output.tensor for call in online for output in call.outputs}
    for call in story.trace.calls:
        given = {meta.tensor for meta in call.inputs}
        if not given.isdisjoint(still) and not given.isdisjoint(trained):
            return True
        if call not in runs and not given.isdisjoint(still):
            still |= {output.tensor for output in call.outputs if output.node is None}
        if call not in online and not given.isdisjoint(trained):
            trained |= {output.tensor for output in call.outputs if output.node is not None}
    return False


def _shared(listing: Listing, stands: Callable[[str], bool]) -> dict[str, str]:
    """What the classes of a cell say: attribute -> the expression whose parameters it has, wherever it is bound."""
    found: dict[str, str] = {}
    others: set[str] = set()
    for node in ast.walk(listing.tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        for path in (expressions.path_text(target) or "" for target in targets):
            owner, _dot, attribute = path.rpartition(".")
            if owner != "self" or not stands(attribute) or not isinstance(node, ast.Assign):
                continue
            source = source_of(node.value)
            if source is not None and source.startswith("self."):
                found[attribute] = source
            else:
                others.add(attribute)
    return {attribute: source for attribute, source in found.items() if attribute not in others}


def _called(site: Callsite | None) -> Iterator[str]:
    """The attributes that a place and those above it call: ``target`` of ``self.target(x)``."""
    while site is not None:
        node = expressions.parse(site.expression)
        path = expressions.path_text(node.func) if isinstance(node, ast.Call) else None
        if path is not None and "." in path:
            yield path.rpartition(".")[2]
        site = site.caller
