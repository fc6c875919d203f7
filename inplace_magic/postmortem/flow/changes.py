"""Flags and numbers that can have been others before: what a text sets again after an object or module was made."""

from __future__ import annotations

import ast

from inplace_magic.source.text import children


def set_later(tree: ast.Module) -> frozenset[str]:
    """Return the attributes that a text sets outside of ``__init__``, and the names that its functions set outside."""
    found: set[str] = set()
    waiting: list[ast.AST] = [tree]
    for node in waiting:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        waiting += children(node)
    return frozenset(found)
