"""The one statement that can have written memory between two recorded calls, where nobody saw who wrote it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from inplace_magic.record.places import Callsite
from inplace_magic.source.between.order import opens_the_pass, runs_after, stands_beside
from inplace_magic.source.statements import spans
from inplace_magic.source.text import Text
from inplace_magic.source.variables import mentions
from inplace_magic.source.writing import actions, arrays_written, simple_statements, writes_to


def only_between(
    text: Text, first: Callsite, last: Callsite | None, names: tuple[str, ...], seen: Set[str], *, alone: bool
) -> ast.stmt | None:
    """The statement between two places of one function; None when there are several or none.

    Args:
        last: place of the first call after it; None at the end of the block.
        seen: sources of the recorded calls of this function, which are no candidates.
        alone: no other thread ran meanwhile; else only what assigns to one of the names counts.
    """
    tree = text.tree
    if tree is None:
        return None
    came_round = last is not None and last.line <= first.line
    end = last.line if last is not None and not came_round else 10**9
    found = [
        node
        for node in simple_statements(tree, first.function)
        if (first.end_line or first.line) < node.lineno and (node.end_lineno or node.lineno) < end
    ]
    found = [node for node in found if any(code not in seen for code in actions(node, text.lines))]
    begun = [node for node in simple_statements(tree, first.function) if _hands_on(node, first)]
    if len(begun) == 1 and not came_round:
        return begun[0]
    writing = [node for node in found if any(writes_to(node, name) for name in names)]
    naming = [node for node in found if any(mentions(node, name) for name in names)]
    candidates = (writing or naming or found) if alone else writing
    several = len(writing) > 1 and any(all(writes_to(node, name) for node in writing) for name in names)
    if several and stands_beside(tree, writing[0], (first.line, end)):
        candidates = writing[:1]  # `picture -= low; picture /= high`: the first of them has written it already
    if last is not None and came_round:
        below = [node for node in writing if runs_after(tree, node, first.line)]
        above = [
            node
            for node in simple_statements(tree, first.function)
            if any(writes_to(node, name) for name in names)
            and opens_the_pass(tree, node, last.line, holding=first.line)
        ]
        candidates = [*below, *above][:1]
    return candidates[0] if len(candidates) == 1 else None


def _hands_on(node: ast.stmt, place: Callsite) -> bool:
    """Whether a statement hands the value of the expression at a place to a function that writes it, as
    ``np.fill_diagonal(x.numpy(), 0)`` does, or assigns to its elements: ``x.numpy()[:] = 0``."""
    if not spans(node, place.line):
        return False
    written = (*arrays_written(node), *_arrays_assigned_to(node))
    return any(ast.unparse(array) == place.expression for array in written)


def _arrays_assigned_to(node: ast.stmt) -> Iterator[ast.expr]:
    """What has no name of its own, of the targets of a statement: `x.numpy()` of ``x.numpy()[0] += 1``."""
    targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets if isinstance(node, ast.Assign) else []
    for target in targets:
        root: ast.expr = target
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if root is not target and isinstance(root, ast.Call):
            yield root
