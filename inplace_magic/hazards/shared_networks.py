"""Networks of an object (``self.target``) that are another one of its networks: told by what the class says, and by
what runs.

``self.target = self.online`` in ``__init__`` gives one network two names. The trace shows it when ``self.target(x)`` is
run: it reads the parameters that the optimizer writes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from inplace_magic.analysis import expressions
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.listing import Listing
from inplace_magic.trace import CallEvent, Callsite, Mutation


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
