"""The loop around a failing line, and what each pass of it takes over from the one before."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from inplace_magic.postmortem.refused.history import History, Step, bound_by
from inplace_magic.source.expressions import path_text


def loop_around(history: History, frame: int) -> ast.AST | None:
    """Return the innermost loop around the line at which a frame stands, in its function."""
    line = history.failure.frames[frame].place.line
    found: list[ast.AST] = []
    for step in history.steps(frame):
        for block in step.around:
            if isinstance(block, (ast.For, ast.AsyncFor, ast.While)) and block.lineno <= line <= (
                block.end_lineno or block.lineno
            ):
                found.append(block)
    return max(found, key=lambda block: getattr(block, "lineno", 0), default=None)


def carried(history: History, frame: int, loop: ast.AST, leads: Callable[[str], bool]) -> Iterator[tuple[str, Step]]:
    """Yield (name, statement) of what a pass of the loop reads before it gives it another value.

    Args:
        history: of the failure.
        frame: the frame whose line the loop is around.
        loop: the loop.
        leads: whether a name leads to what is looked for.
    """
    inside = [step for step in history.steps(frame) if any(loop is each for each in step.around)]
    in_order = sorted(inside, key=lambda step: (step.node.lineno, step.node.col_offset))
    bound: set[str] = {name for name, _, _ in bound_by(loop)} if isinstance(loop, ast.stmt) else set()
    read = set[str]()
    line = history.failure.frames[frame].place.line
    if not any(step.node.lineno == line for step in in_order):
        return
    for step in in_order:
        read |= _read_by(step.node)
        for path, _value, how in step.bound:
            if (path in read or how == "+=") and path not in bound and leads(path):
                yield path, step
            bound.add(path)


def needed_for(history: History, frame: int, loop: ast.AST, path: str | None) -> set[str]:
    """Return the names that a pass of a loop reads on the way to what it runs backward from.

    Args:
        history: of the failure.
        frame: the frame whose line the loop is around.
        loop: the loop.
        path: what the failing line runs backward from; None for all that the line names.
    """
    line = history.failure.frames[frame].place.line
    inside = [step for step in history.steps(frame) if any(loop is each for each in step.around)]
    here = [step for step in inside if step.node.lineno == line]
    names = {path} if path is not None else {text for step in here for text in _read_by(step.node)}
    found = {name for name in names if name}
    for step in inside:
        if not step.earlier_pass and any(name in found for name, _, _ in step.bound):
            found |= _read_by(step.node)
    return found


def _read_by(node: ast.stmt) -> set[str]:
    """Return the paths that a statement's own expressions read."""
    own = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    return {path_text(each) or "" for value in own for each in ast.walk(value) if _loaded(each)}


def _loaded(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load)
