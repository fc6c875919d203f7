"""Source expressions, read as text: which variable a call wrote, which names a statement binds.

A call is known by the source of its expression (``target.sub_(guess).abs_()``, ``probs[2]``, ``a += b``); nothing is
evaluated.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from inplace_magic.source.text import parsed
from inplace_magic.source.vocabulary import ALIASING, ALIASING_ATTRIBUTES

_MAX_CHARACTERS = 4_000
_MAX_DEPTH = 100
_SHALLOW = 90
"""Characters of a text that cannot be nested deeper than that: a level takes at least one."""


@lru_cache(maxsize=4096)
def parse(text: str) -> ast.AST | None:
    """Return the expression or statement in `text`; a compound statement's header counts. None when it cannot be
    parsed, or is longer or nested deeper than anything that a person writes."""
    if len(text) > _MAX_CHARACTERS:
        return None
    for candidate in (text, f"{text} pass", f"{text}\n pass"):
        tree = parsed(candidate)
        body = tree.body if tree is not None else []
        if len(body) == 1 and (len(text) <= _SHALLOW or _depth_of(body[0]) <= _MAX_DEPTH):
            return body[0].value if isinstance(body[0], ast.Expr) else body[0]
    return None


def _depth_of(tree: ast.AST) -> int:
    level, depth = [tree], 0
    while level and depth <= _MAX_DEPTH:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth


def path_text(node: ast.AST | None) -> str | None:
    """``self.memory``, ``D[2].weight``, ``features["pre"]``: names, attributes and constant subscripts; None for
    anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = path_text(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    if isinstance(node, ast.Subscript):
        owner = path_text(node.value)
        index = node.slice
        simple = isinstance(index, (ast.Constant, ast.Name)) or (
            isinstance(index, ast.UnaryOp) and isinstance(index.operand, ast.Constant)
        )
        return None if owner is None or not simple else f"{owner}[{_double_quoted(index)}]"
    return None


def _double_quoted(index: ast.expr) -> str:
    if isinstance(index, ast.Constant) and isinstance(index.value, str):
        return f'"{index.value}"'
    return ast.unparse(index)


def root_name(node: ast.AST | None) -> str | None:
    """Return the first name of a path: ``self`` of ``self.memory``."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def last_name(node: ast.AST | None) -> str:
    """Return the name by which a function or class is called: ``backward`` of ``loss.backward``; empty for none."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def operands(expression: str, *, method: bool) -> list[ast.expr]:
    """Return the expressions of a call's positional operands.

    Args:
        method: true for a tensor method: ``x.add_(y)`` has the operands ``x`` and ``y``.
    """
    node = parse(expression)
    if isinstance(node, ast.Call):
        receiver = [node.func.value] if method and isinstance(node.func, ast.Attribute) else []
        return receiver + [arg for arg in node.args if not isinstance(arg, ast.Starred)]
    if isinstance(node, ast.AugAssign):
        return [node.target, node.value]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return [node.value]
    return []


def calls_method(expression: str, name: str) -> bool:
    """True if an expression can be this tensor method, in its usual form: an operator, an index, or a dot and the name.
    Its first operand is then the tensor; not ``functools.reduce(operator.iadd, outs)`` or
    ``getattr(x, "mul_")(2)``."""
    node = parse(expression)
    if not isinstance(node, ast.Call):
        return True
    called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return (called == name or called.startswith("__")) and root_name(node.func) != "torch"


def makes_an_object(expression: str) -> bool:
    """True if a call looks like that of a class (``nn.Conv2d(…)``), whose result is no tensor."""
    node = parse(expression)
    return isinstance(node, ast.Call) and last_name(node.func)[:1].isupper()


def keyword(expression: str, name: str) -> ast.expr | None:
    """Return the expression of a keyword argument of a call."""
    node = parse(expression)
    if isinstance(node, ast.Call):
        for entry in node.keywords:
            if entry.arg == name:
                return entry.value
    return None


def without_aliasing(node: ast.expr, view_texts: frozenset[str] = frozenset()) -> ast.expr:
    """Return the tensor behind ``x.data``, ``x.detach()``, ``x.view(-1)``, ``x.mul_(2)`` (which hands out ``x``) and,
    where `view_texts` names the text as a view taken of a tensor, ``x[0]``."""
    while True:
        if isinstance(node, ast.Attribute) and node.attr in ALIASING_ATTRIBUTES:
            if _is_own(node):
                return node  # `self.data` of a dataset
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            attr = node.func.attr
            if _is_own(node.func):
                return node  # `self.squeeze(x)` calls a layer of that name
            if attr not in ALIASING and not (attr.endswith("_") and not attr.endswith("__")):
                return node
            node = node.func.value
        elif isinstance(node, ast.Subscript) and ast.unparse(node) in view_texts:
            node = node.value
        else:
            return node


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def parameter_argument(caller_expression: str, parameters: tuple[str, ...], name: str) -> ast.expr | None:
    """Return the argument of a call for the parameter `name` of the called function; None if unknown."""
    node = parse(caller_expression)
    if not isinstance(node, ast.Call) or name not in parameters:
        return None
    for entry in node.keywords:
        if entry.arg == name:
            return entry.value
    position = parameters.index(name) - (1 if parameters and parameters[0] in ("self", "cls") else 0)
    if any(isinstance(arg, ast.Starred) for arg in node.args):
        return None
    return node.args[position] if 0 <= position < len(node.args) else None
