"""By way of which object and key a function's text comes to what a name or an expression stands for."""

from __future__ import annotations

import ast

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import Mutation
from inplace_magic.record.paths import before_last_step
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.spots import spot_of
from inplace_magic.source.variables import mentions


def level_of(inner: Callsite | None, outer: Callsite) -> int:
    """Return how many functions stand between a call and a place that led to it; -1 where the place did not."""
    return next((at for at, place in enumerate(reversed(inner.chain if inner else ())) if place == outer), -1)


def is_on(story: Story, tensor: int, mutation: Mutation) -> bool:
    """True if a tensor lies on the memory that was written."""
    meta = story.observations.get(tensor)
    return meta is not None and meta.storage is not None and meta.storage == mutation.storage


def way_to(story: Story, site: Callsite | None, node: ast.expr | None) -> tuple[str, str]:
    """(object, key) by which a function comes to what an expression is: of ``frame`` below ``frame = self.frames[k]``
    ``self.frames``, and of ``g`` in ``for g in grads`` ``grads``. The key is empty where it is not plain text."""
    spot = spot_of(story.trace, site)
    for _ in range(3):
        text = expressions.path_text(node)
        if spot is None or text is None or node is None:
            break
        if not isinstance(node, ast.Name):
            plain = not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Constant)
            prefix, step = before_last_step(text)
            return prefix, step if plain else ""
        over = next((found for loop in spot.loops if (found := _gone_through(loop, node.id))), None)
        if over is not None:
            return over, ""
        node = spot.value_of(node.id)
    return "", ""


def _gone_through(loop: ast.AST, name: str) -> str | None:
    """`grads` of ``for i, name in enumerate(grads)``, and of ``for key, name in grads.items()``."""
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return None
    target, over = loop.target, loop.iter
    while not isinstance(target, ast.Name) or target.id != name:
        called = over.func if isinstance(over, ast.Call) else None
        if not isinstance(target, ast.Tuple) or not isinstance(over, ast.Call):
            return None
        place = next((i for i, each in enumerate(target.elts) if mentions(each, name)), None)
        if place is None:
            return None
        kind = getattr(called, "id", getattr(called, "attr", ""))
        if kind == "zip" and place < len(over.args):
            target, over = target.elts[place], over.args[place]
        elif kind == "enumerate" and place == 1 and over.args:
            target, over = target.elts[1], over.args[0]
        elif kind == "items" and place == 1 and isinstance(called, ast.Attribute):
            target, over = target.elts[1], called.value
        else:
            return None
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr == "values":
        over = over.func.value
    return expressions.path_text(over)


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
