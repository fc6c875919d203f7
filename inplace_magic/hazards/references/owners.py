"""For one write: each function on the call stack, and the name that it uses for the written tensor.

In ``y = block(x)`` with ``def forward(self, x): return x + self.body(x)`` the body writes a tensor that both functions
call `x`. Each of them owns a name of it, and may read it again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import argument_for


@dataclass(frozen=True)
class Owned:
    """A write, seen from the function that owns the tensor's name."""

    path: str
    site: Callsite
    """The place in that function: the write itself, or the call of the helper or module that wrote."""


def owners_of(story: Story, call: CallEvent, mutation: Mutation, path: str | None) -> Iterator[Owned]:
    """Yield the written tensor's name in each function that handed it on, outermost first. In ``y = block(x)`` with
    ``def forward(self, x): return x + self.body(x)`` both names are `x`, and only the inner one is read again."""
    yield from reversed(_by_parameters(story, call, mutation, path))


def _by_parameters(story: Story, call: CallEvent, mutation: Mutation, path: str | None) -> list[Owned]:
    site = call.callsite
    if site is None:
        return []
    owners = []
    while path is not None and path in site.parameters and path not in ("self", "cls") and site.caller is not None:
        if (site.function, path) in story.bindings.scopes and not _is_result_of(story, call, site, path):
            break
        argument = argument_for(site, path)
        if argument is None:
            break
        outer = expressions.path_text(expressions.without_aliasing(argument, story.bindings.view_texts))
        if outer is None or not story.bindings.is_handed_by(site.caller, outer, mutation.tensor):
            break
        owners.append(Owned(path, site))
        path, site = outer, site.caller
    return owners if path is None else [*owners, Owned(path, site)]


def _is_result_of(story: Story, call: CallEvent, site: Callsite, path: str) -> bool:
    """True if the parameter was bound anew only by this very call or later; or by calls that gave back what they were
    given, as ``x = x.float()`` does where `x` has that dtype."""
    bound = story.bindings.scopes[(site.function, path)]
    return all(at >= call.index or tensor in story.calls[at].gave_back for at, tensor in bound)


def object_of(site: Callsite | None) -> str | None:
    """``train`` of ``train.add(labels)`` and of ``train(labels)``."""
    node = expressions.parse(site.expression) if site is not None else None
    called = node.func if isinstance(node, ast.Call) else None
    return expressions.path_text(called.value if isinstance(called, ast.Attribute) else called)
