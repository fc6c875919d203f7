"""Which of two lines of a function runs first, by the block and the loop that they stand in."""

from __future__ import annotations

import ast

from inplace_magic.source.statements import spans


def stands_beside(tree: ast.AST, node: ast.stmt, lines: tuple[int, ...]) -> bool:
    """Whether one block holds the statement and the one at one of the lines, so that it ran whenever that did."""
    blocks = (block for inner in ast.walk(tree) for _, block in ast.iter_fields(inner) if isinstance(block, list))
    block = next((block for block in blocks if any(each is node for each in block)), [])
    others = (each for each in block if each is not node)
    return any(spans(each, line) for each in others for line in lines)


def runs_after(tree: ast.AST, node: ast.stmt, line: int) -> bool:
    """Whether a statement stands below a line in the same pass of the innermost loop around it, in the same block."""
    inner = loop_around(tree, line)
    inside = inner is not None and line < node.lineno <= (inner.body[-1].end_lineno or 0)
    return inside and stands_beside(tree, node, (line,))


def opens_the_pass(tree: ast.AST, node: ast.stmt, line: int, *, holding: int) -> bool:
    """Whether a statement stands above a line in the same block of the innermost loop around it, which holds another
    line, too: coming round from that one, it runs before the first."""
    inner = loop_around(tree, line)
    if inner is None:
        return False
    first, last = inner.body[0].lineno, inner.body[-1].end_lineno or 0
    return first <= node.lineno < line and first <= holding <= last and stands_beside(tree, node, (line,))


def loop_around(tree: ast.AST, line: int) -> ast.For | ast.While | None:
    """The innermost loop that has a line in its body."""
    loops = [
        loop
        for loop in ast.walk(tree)
        if isinstance(loop, (ast.For, ast.While)) and loop.body[0].lineno <= line <= (loop.body[-1].end_lineno or line)
    ]
    return max(loops, key=lambda loop: loop.lineno, default=None)
