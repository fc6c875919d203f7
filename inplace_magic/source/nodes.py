"""The nodes of a syntax tree, in lists: rules go through them hundreds of times for one text."""

from __future__ import annotations

import ast
from typing import Any


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, as ``ast.iter_child_nodes`` gives them, but for ``Load``, ``Store`` and ``Del``:
    these are a third of all, have no place and nothing below them, and are asked for by ``node.ctx``."""
    found: list[ast.AST] = []
    for name in node._fields:
        value: Any = getattr(node, name, None)
        if isinstance(value, ast.AST):
            if not isinstance(value, ast.expr_context):
                found.append(value)
        elif isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
    return found


def nodes_in(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, in the order of ``ast.walk``: outer ones first."""
    found = [node]
    for each in found:
        found += children(each)
    return found
