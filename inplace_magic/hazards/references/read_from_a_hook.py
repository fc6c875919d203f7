"""Who reads, by way of the container in which a forward hook kept it, a tensor that a layer has overwritten since.

The record names the variable or attribute by which the hook's code reaches the container, and the entry. The tensor may
have other names besides (``y = net(x)`` may give that very tensor back), and then nothing is wrong with reading it by
those. So what counts is the expression of the reading call, or the argument that the user's line hands on to it: it
says the container's name, and no other entry of it; or it is a name that was given to the entry, or that a loop over
the container's values binds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.objects.slots import names, reads_through
from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import KeptByHook
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions


def reading(story: Story, kept: KeptByHook, write: CallEvent) -> CallEvent | None:
    """The first call after the write that read what the hook kept, by way of its container; None where there is none,
    or where the writing line itself was handed the container."""
    if write.callsite is None or reads_through(story, write.callsite, kept.name):
        return None
    for call in story.readers(kept.tensor, write.index, lambda site: site is not None):
        if call.parent is None and _reads(story, kept, call, write.callsite):
            return call
    return None


def _reads(story: Story, kept: KeptByHook, call: CallEvent, wrote: Callsite) -> bool:
    site = call.callsite
    operand: ast.expr | None = _operand(call, kept.tensor)
    while site is not None:
        if operand is not None and _is_kept(story, kept, operand, site):
            return True
        if operand is None and _says(kept, site.expression):
            return True
        within = site.caller is not None and site.caller in wrote.chain
        if within:
            return False  # the pass that wrote it, or the same line of a later one, reads it as its own
        name = expressions.path_text(operand)
        outer = site.caller
        handed = name is not None and name in site.parameters and outer is not None
        if not handed or outer is None or name is None:
            return False
        operand, site = expressions.parameter_argument(outer.expression, site.parameters, name), outer
        if operand is None:
            return False
    return False


def _operand(call: CallEvent, tensor: int) -> ast.expr | None:
    """What the line says for a tensor that a call read; None where it cannot be told one from another."""
    site = call.callsite
    if site is None:
        return None
    method = call.does("method") and site.direct
    found = [node for node in expressions.operands(site.expression, method=method) if not _is_constant(node)]
    if not site.direct and len(found) == 1:
        return expressions.without_aliasing(found[0])
    tensors = [meta.tensor for meta in call.inputs]
    told = site.direct and len(found) == len(tensors)
    return expressions.without_aliasing(found[tensors.index(tensor)]) if told else None


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def _is_kept(story: Story, kept: KeptByHook, operand: ast.expr, site: Callsite) -> bool:
    """Whether an expression at a place gives the entry."""
    if isinstance(operand, ast.Name) and operand.id != kept.name:
        return _is_bound_to_it(story, kept, operand.id, site)
    said = _entry_said(kept, operand)
    return said is not None and (said or not kept.others)


def _entry_said(kept: KeptByHook, node: ast.AST) -> bool | None:
    """Whether an expression says the entry as it was kept (True), the container without saying which entry (False), or
    another entry or no such container (None)."""
    path: list[ast.AST] = []
    at = node
    while isinstance(at, (ast.Subscript, ast.Attribute, ast.Call)) and not names(at, kept.name):
        path.append(at)
        at = at.func if isinstance(at, ast.Call) else at.value
    if not names(at, kept.name):
        inside = any(names(inner, kept.name) for inner in ast.walk(node))
        return False if inside and isinstance(node, ast.Call) else None
    if not path:
        return kept.key is None or None
    step = path[-1]
    if kept.key is None:
        return None if isinstance(step, ast.Subscript) else True
    if not isinstance(step, ast.Subscript):
        got = _got(path)
        return False if got is None else (True if got == kept.key else None)
    index = step.slice
    if isinstance(index, ast.Constant):
        return True if str(index.value) == kept.key else None
    return False


def _got(path: list[ast.AST]) -> str | None:
    """``x`` of ``feats.get("x")`` and ``feats.pop("x")``."""
    call = path[-2] if len(path) > 1 else None
    if isinstance(call, ast.Call) and len(call.args) == 1 and isinstance(call.args[0], ast.Constant):
        return str(call.args[0].value)
    return None


def _says(kept: KeptByHook, expression: str) -> bool:
    """True if an expression says that very entry, among operands that cannot be told apart."""
    node = expressions.parse(expression)
    inner = ast.walk(node) if node is not None else iter(())
    return any(isinstance(each, (ast.Subscript, ast.Attribute)) and _entry_said(kept, each) for each in inner)


def _is_bound_to_it(story: Story, kept: KeptByHook, name: str, site: Callsite) -> bool:
    """True if a name means this entry and nothing else that is the tensor: by ``before = feats["x"]``, or as the
    variable of a loop over the container."""
    if (site.function, name) in story.bindings.scopes:
        return False
    for alias in story.aliases.beside(site):
        node = expressions.parse(alias.source) if alias.target == name else None
        if node is not None and _entry_said(kept, node):
            return True
    return any(_gives_values(kept, target, over, name) for target, over in _loops(story, site))


def _loops(story: Story, site: Callsite) -> Iterator[tuple[ast.AST, ast.AST]]:
    """(target, iterable) of the loops around a place, and of the comprehensions in its statement."""
    for loop in story.trace.loops:
        beside = (loop.function, loop.cell, loop.file) == (site.function, site.cell, site.file)
        target, over = expressions.parse(loop.target), expressions.parse(loop.over)
        if beside and loop.line <= site.line <= loop.end_line and target is not None and over is not None:
            yield target, over
    statement = expressions.parse(site.statement)
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.comprehension):
            yield node.target, node.iter


def _gives_values(kept: KeptByHook, target: ast.AST, over: ast.AST, name: str) -> bool:
    """Whether a loop binds a name to the values of the container, one by one."""
    called = over.func if isinstance(over, ast.Call) else None
    last = target.elts[-1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else target
    if isinstance(called, ast.Attribute) and names(called.value, kept.name) and called.attr in ("values", "items"):
        return names(last if called.attr == "items" else target, name)
    if isinstance(called, ast.Name) and called.id == "enumerate" and isinstance(over, ast.Call) and over.args:
        over, target = over.args[0], last
    return kept.numbered and names(over, kept.name) and names(target, name)
