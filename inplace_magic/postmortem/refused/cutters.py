"""What a program's text can do that ends a graph: words of PyTorch's and NumPy's, read from the syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.source.expressions import last_name, root_name

_INDICES = frozenset(("argmax", "argmin", "argsort", "nonzero", "searchsorted", "bucketize", "multinomial", "one_hot"))
_INTEGERS = frozenset(("long", "int", "short", "byte", "char", "bool"))
_COMPARED = frozenset(("eq", "ne", "gt", "ge", "lt", "le", "isclose", "logical_and", "logical_or", "logical_not"))
_NEW = frozenset(
    ("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "new_tensor", "new_zeros")
)
_COPIED = frozenset(("tensor", "scalar_tensor", "Tensor", "FloatTensor", "DoubleTensor", "as_tensor"))
_ARRAYS = frozenset(("np", "numpy"))
_FUNCTIONS = {**dict.fromkeys(_INDICES, "index"), **dict.fromkeys(_NEW, "new")}
"""How they end a graph, functions and methods."""
_METHODS = {
    **dict.fromkeys(_INTEGERS, "integer"),
    **dict.fromkeys(_COMPARED, "compared"),
    "numpy": "array",
    "from_numpy": "array",
    "item": "number",
    "tolist": "number",
    "detach": "detach",
}
_OF_PYTHON = dict.fromkeys(("float", "int", "bool"), "number")
_SWITCHES = frozenset(("no_grad", "inference_mode", "set_grad_enabled"))


@dataclass(frozen=True, eq=False)
class Cutter:
    """A part of an expression that gives its values without their graph."""

    how: str
    """``detach``, ``data``, ``number``, ``array``, ``copied``, ``index``, ``integer``, ``compared``, ``new`` or
    ``gradient``."""
    node: ast.expr
    inner: tuple[ast.expr, ...]
    """What it is done to."""


def found_in(value: ast.expr) -> Iterator[Cutter]:
    """Yield what ends a graph in an expression, outer ones first."""
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and node.attr in ("data", "grad") and isinstance(node.ctx, ast.Load):
            yield Cutter("data" if node.attr == "data" else "gradient", node, (node.value,))
        elif isinstance(node, ast.Compare) and not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            yield Cutter("compared", node, (node.left, *node.comparators))
        elif isinstance(node, ast.Call):
            how = _how(node)
            if how is not None:
                receiver = (node.func.value,) if isinstance(node.func, ast.Attribute) else ()
                yield Cutter(how, node, (*receiver, *node.args))


def _how(call: ast.Call) -> str | None:
    name = last_name(call.func)
    method = isinstance(call.func, ast.Attribute)
    if method and root_name(call.func) in _ARRAYS:
        return "array"
    if name in _COPIED and (method or name != "tensor") and bool(call.args):
        return "copied"
    if method and name in ("to", "type"):
        return "integer" if _is_integer(call) else None
    if method and name == "grad":
        return None if any(word.arg == "create_graph" for word in call.keywords) else "gradient"
    return _FUNCTIONS.get(name) or (_METHODS if method else _OF_PYTHON).get(name)


def _is_integer(call: ast.Call) -> bool:
    given = [*call.args, *(word.value for word in call.keywords if word.arg == "dtype")]
    names = (node.attr for node in given if isinstance(node, ast.Attribute))
    return any(name in _INTEGERS or name.startswith(("int", "uint")) for name in names)


def switch_around(around: tuple[ast.AST, ...]) -> tuple[ast.With | ast.AsyncWith, bool] | None:
    """Return the innermost ``with`` block about recording, and whether it switches recording on."""
    for node in reversed(around):
        for item in reversed(node.items) if isinstance(node, (ast.With, ast.AsyncWith)) else ():
            on = _name(item.context_expr) == "enable_grad"
            if isinstance(node, (ast.With, ast.AsyncWith)) and (on or switches_off(item.context_expr)):
                return node, on
    return None


def switching_block(around: tuple[ast.AST, ...]) -> ast.With | ast.AsyncWith | None:
    """Return the innermost ``with`` block that switches recording off; None where one inside it switches it on."""
    found = switch_around(around)
    return found[0] if found is not None and not found[1] else None


def switches_off(node: ast.expr) -> bool:
    """True if it is ``torch.no_grad()``, ``torch.inference_mode()`` or ``torch.set_grad_enabled(False)``."""
    name = _name(node)
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    said = given.value if isinstance(given, ast.Constant) else None
    if name == "set_grad_enabled":
        return said is False
    return name in _SWITCHES and said is not False


def _name(node: ast.expr) -> str:
    return last_name(node.func if isinstance(node, ast.Call) else node)


def freezes(node: ast.stmt) -> bool:
    """True if a statement says of something that it requires no grad."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is False:
        return any(isinstance(target, ast.Attribute) and target.attr == "requires_grad" for target in node.targets)
    called = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(called, ast.Call) or not isinstance(called.func, ast.Attribute):
        return False
    given = [*called.args[:1], *(word.value for word in called.keywords)]
    return called.func.attr == "requires_grad_" and any(
        isinstance(each, ast.Constant) and each.value is False for each in given
    )
