"""The one statement without a recorded call that can have written memory between two calls, by the text.

If two statements are possible, it is neither.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import lru_cache
from typing import Any

from inplace_magic.record.places import Callsite, Whose, where_they_part
from inplace_magic.source.expressions import mentions
from inplace_magic.source.statements import callsite_at, segment, span_of, spans, statements_by_function
from inplace_magic.source.text import Text
from inplace_magic.source.vocabulary import ARRAY_WRITERS, BUFFER_FILLERS


class Between:
    """Finds them, each pair of places once.

    Args:
        line_in: a line of the text that holds a place, as the user sees it.
    """

    def __init__(self, texts: Mapping[Whose, Text], line_in: Callable[[Callsite, Text, int], str]) -> None:
        self._texts = texts
        self._line_in = line_in
        self._known: dict[tuple[Callsite, Callsite | None, tuple[str, ...], bool], Callsite | None] = {}

    def only_statement(
        self,
        before: Callsite,
        after: Callsite | None,
        names: tuple[str, ...],
        called: Iterable[Callsite],
        *,
        alone: bool = True,
    ) -> Callsite | None:
        """Return the one statement between two places of straight-line code that can have written memory; None if there
        are several or none. If several assign in place to the same name, it is the first, if that one surely ran. If a
        loop came round between the two places, it is one that assigns in place below the first.

        Args:
            after: place of the first call after it; None at the end of the block.
            names: names of the written tensor; if any candidate mentions one, only such candidates count.
            called: all places of recorded calls, which are no candidates.
            alone: no other user thread ran meanwhile. Otherwise only a statement that assigns to one of the names
                counts: a line that sleeps is no more to blame than the other thread.
        """
        key = before, after, names, alone
        if key not in self._known:
            first, last = before.outermost, None
            in_two_cells = after is not None and not first.same_function(after.outermost)
            if after is not None and not in_two_cells:
                first, last = where_they_part(before.chain, after.chain)
            # What else ran between two cells nobody saw.
            self._known[key] = None if in_two_cells else self._within_lines(first, last, names, called, alone)
        return self._known[key]

    def only_write_below(self, before: Callsite, names: tuple[str, ...], called: Iterable[Callsite]) -> Callsite | None:
        """Return the one statement below a place, in its own function, that writes to one of the names; None when there
        are several or none. For a function that has returned before the next recorded call."""
        return self._within_lines(before, None, names, called, alone=False)

    def _within_lines(
        self, first: Callsite, last: Callsite | None, names: tuple[str, ...], called: Iterable[Callsite], alone: bool
    ) -> Callsite | None:
        """Return the same of two places of one function; `last` None: the end of the block."""
        text = self._texts.get(first.whose) if not first.outdated else None
        if text is None:
            return None
        seen = {site.expression for site in called if site.whose == first.whose}
        candidates = _candidates(text, first, last, names, seen, alone=alone)
        if len(candidates) != 1:
            return None
        return callsite_at(
            text,
            span_of(candidates[0]),
            text=self._line_in(first, text, candidates[0].lineno),
            cell=first.cell,
            file=first.file,
            function=first.function,
            caller=first.caller,
            parameters=first.parameters,
            shared_defaults=first.shared_defaults,
        )


def stands_beside(tree: ast.AST, node: ast.stmt, lines: tuple[int, ...]) -> bool:
    """True if one block has the statement and the one at one of the lines, so that they ran together."""
    blocks = (block for inner in ast.walk(tree) for _, block in ast.iter_fields(inner) if isinstance(block, list))
    block = next((block for block in blocks if any(each is node for each in block)), [])
    others = (each for each in block if each is not node)
    return any(spans(each, line) for each in others for line in lines)


def runs_after(text: Text, tree: ast.AST, node: ast.stmt, line: int) -> bool:
    """True if a statement stands below a line in the same pass of the innermost loop around it, in the same block."""
    inner = loop_around(text, line)
    inside = inner is not None and line < node.lineno <= (inner.body[-1].end_lineno or 0)
    return inside and stands_beside(tree, node, (line,))


def opens_the_pass(text: Text, tree: ast.AST, node: ast.stmt, line: int, *, holding: int) -> bool:
    """True if a statement stands above a line in the same block of the innermost loop around it, which holds another
    line, too: coming round from that one, it runs before the first."""
    inner = loop_around(text, line)
    if inner is None:
        return False
    first, last = inner.body[0].lineno, inner.body[-1].end_lineno or 0
    return first <= node.lineno < line and first <= holding <= last and stands_beside(tree, node, (line,))


def loop_around(text: Text, line: int) -> ast.For | ast.While | None:
    """Return the innermost loop that has a line in its body."""
    around = [node for node in text.statements_on(line) if isinstance(node, (ast.For, ast.While))]
    inside = [loop for loop in around if loop.body[0].lineno <= line <= (loop.body[-1].end_lineno or line)]
    return inside[-1] if inside else None


def _candidates(
    text: Text, first: Callsite, last: Callsite | None, names: tuple[str, ...], seen: Set[str], *, alone: bool
) -> list[ast.stmt]:
    """Return the statements between two places that can have written; `seen` are the sources of recorded calls."""
    tree = text.tree
    if tree is None:
        return []
    came_round = last is not None and last.line <= first.line
    end = last.line if last is not None and not came_round else 10**9
    own = simple_statements(tree, first.function)
    between = (node for node in own if (first.end_line or first.line) < node.lineno <= (node.end_lineno or 0) < end)
    found = [node for node in between if any(code not in seen for code in actions(node, text.lines))]
    begun = [node for node in own if _hands_on(node, first)]
    if len(begun) == 1 and not came_round:
        return begun
    writing = [node for node in found if any(writes_to(node, name) for name in names)]
    naming = [node for node in found if any(mentions(node, name) for name in names)]
    candidates = (writing or naming or found) if alone else writing
    several = len(writing) > 1 and any(all(writes_to(node, name) for node in writing) for name in names)
    if several and stands_beside(tree, writing[0], (first.line, end)):
        candidates = writing[:1]  # `picture -= low; picture /= high`: the first of them has written it already
    if last is not None and came_round:
        below = [node for node in writing if runs_after(text, tree, node, first.line)]
        above = [
            node
            for node in own
            if any(writes_to(node, name) for name in names)
            and opens_the_pass(text, tree, node, last.line, holding=first.line)
        ]
        return [*below, *above][:1]
    return candidates


def _hands_on(node: ast.stmt, place: Callsite) -> bool:
    """True if a statement hands the value of the expression at a place to a function that writes it, as
    ``np.fill_diagonal(x.numpy(), 0)`` does, or assigns to its elements: ``x.numpy()[:] = 0``."""
    if not spans(node, place.line):
        return False
    written = (*arrays_written(node), *(root for _target, root in _assigned(node) if isinstance(root, ast.Call)))
    return any(ast.unparse(array) == place.expression for array in written)


def _assigned(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each target of an assignment, and what its path begins with: `x.numpy()` of ``x.numpy()[0] += 1``."""
    targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets if isinstance(node, ast.Assign) else []
    for target in targets:
        root: ast.expr = target
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        yield target, root


_IDLE = (ast.For, ast.AsyncFor, ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal, ast.Break, ast.Continue)


@lru_cache(maxsize=16)
def simple_statements(tree: ast.AST, function: str) -> list[ast.stmt]:
    """Return the statements of a function that can do something."""
    own = (node for name, node in statements_by_function(tree) if name == function)
    return [
        node
        for node in own
        if not isinstance(node, _IDLE) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]


def actions(node: ast.stmt, lines: list[str]) -> list[str]:
    """Return the sources of a statement's actions that can write memory: its calls, and itself if it assigns in
    place."""
    acting: list[Any] = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    if isinstance(node, (ast.AugAssign, ast.Delete)) or (
        isinstance(node, ast.Assign) and any(isinstance(target, ast.Subscript) for target in node.targets)
    ):
        acting.append(node)
    return [segment(lines, n.lineno, n.end_lineno or n.lineno, n.col_offset, n.end_col_offset or 0) for n in acting]


def writes_to(node: ast.stmt, name: str) -> bool:
    """True if a statement assigns in place to something that begins with `name`, or hands that to a function of NumPy
    which writes it."""
    if any(name == ast.unparse(array) for array in arrays_written(node)):
        return True
    plain = isinstance(node, ast.Assign)
    roots = (root for target, root in _assigned(node) if not (plain and isinstance(target, ast.Name)))
    return any(isinstance(root, ast.Name) and root.id == name for root in roots)


def arrays_written(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the arrays that a statement passes to writing functions of NumPy or to filling streams."""
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        yield from (keyword.value for keyword in call.keywords if keyword.arg == "out")
        if isinstance(call.func, ast.Attribute) and call.func.attr in BUFFER_FILLERS:
            yield from call.args[:1]
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in ARRAY_WRITERS:
            continue
        anew = any(k.arg == "copy" and getattr(k.value, "value", None) is False for k in call.keywords)
        if call.func.attr != "nan_to_num" or anew:
            method = call.func.attr in ("fill", "sort")
            yield from (call.func.value,) if method else call.args[:1]
