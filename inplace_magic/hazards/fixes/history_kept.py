"""A fix that leaves out what ended a graph: ``loss = out.mean()`` for ``loss = torch.tensor(out.mean().item())``."""

from __future__ import annotations

import ast

from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.language import spelled
from inplace_magic.source.expressions import path_text

_METHODS = ("detach", "item")


def with_its_history(write: Written) -> Fix | None:
    """The line at which a graph ended, without the one thing that ended it."""
    value = write.statement.value if isinstance(write.statement, (ast.Assign, ast.Return, ast.Expr)) else None
    if value is None:
        return None
    outer = next((node for node in ast.walk(value) if _behind(node) is not None), None)
    kept = outer
    while kept is not None and (behind := _behind(kept)) is not None:
        kept = behind
    if not isinstance(outer, ast.expr) or kept is None or any(_behind(node) is not None for node in ast.walk(kept)):
        return None
    if any(_behind(node) is not None for node in set(ast.walk(value)) - set(ast.walk(outer))):
        return None
    text = write.listing.text(kept)
    simple = isinstance(kept, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) or outer is value
    edit = write.listing.substitute([(outer, text if simple else f"({text})")])
    return Fix(write.site, write.listing, (edit,)) if edit is not None else None


def _behind(node: ast.AST) -> ast.expr | None:
    """``x`` of ``x.detach()``, ``x.item()``, ``x.data``, ``float(x)`` and ``torch.tensor(x)``."""
    if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Load):
        return node.value
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and not node.args:
        return node.func.value
    copies = path_text(node.func) in ("float", spelled("torch.tensor"), spelled("torch.as_tensor"))
    one = node.args[0] if copies and len(node.args) == 1 else None
    return one if isinstance(one, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)) else None
