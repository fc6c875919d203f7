"""One statement, rewritten: the in-place forms of Python and PyTorch and their twins that give a new tensor.

``y += 1`` becomes ``y = y + 1``, ``x.mul_(2)`` becomes ``x = x * 2``, ``torch.cumsum(x, 0, out=x)`` becomes ``x =
torch.cumsum(x, 0)``. All is text to text by way of the syntax tree; where no twin is known there is no rewriting.
"""

from __future__ import annotations

import ast

from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Edit, Listing

_OPERATORS = {"add_": "+", "sub_": "-", "mul_": "*", "div_": "/"}
_TWINS = frozenset(
    (
        *("add_", "sub_", "mul_", "div_", "true_divide_", "floor_divide_", "remainder_", "fmod_", "pow_", "abs_"),
        *("neg_", "exp_", "exp2_", "expm1_", "log_", "log2_", "log10_", "log1p_", "sqrt_", "rsqrt_", "square_"),
        *("reciprocal_", "sin_", "cos_", "tan_", "sinh_", "cosh_", "tanh_", "sigmoid_", "erf_", "relu_", "detach_"),
        *("clamp_", "clamp_min_", "clamp_max_", "clip_", "masked_fill_", "masked_scatter_", "index_fill_"),
        *("index_add_", "index_copy_", "scatter_", "scatter_add_", "lerp_", "addcmul_", "addcdiv_", "addmm_"),
        *("cumsum_", "cumprod_", "tril_", "triu_", "round_", "floor_", "ceil_", "trunc_", "frac_", "sign_"),
        *("nan_to_num_", "logical_and_", "logical_or_", "logical_xor_", "logical_not_", "bitwise_and_"),
        *("bitwise_or_", "bitwise_xor_", "bitwise_not_"),
    )
)
"""In-place methods whose name without the underscore gives the same values in a new tensor."""
_BINDS_TIGHTER: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult, ast.Pow),
    ast.Sub: (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult, ast.Pow),
}
_ATOMS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.List, ast.Dict, ast.Set)


def as_operand(listing: Listing, value: ast.expr, operator: ast.operator) -> str:
    """Return the source of an expression for the right of an operator, in parentheses where it needs them."""
    text = listing.text(value)
    tighter = _BINDS_TIGHTER.get(type(operator), ())
    if isinstance(value, _ATOMS) or (isinstance(value, ast.BinOp) and isinstance(value.op, tighter)):
        return text
    return f"({text})"


def new_value(listing: Listing, call: ast.expr) -> str | None:
    """Return what ``x.sub_(a).div_(b)`` gives, without writing ``x``; None where the text has no certain twin."""
    links: list[ast.Call] = []
    node: ast.expr = call
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TWINS:
        links.append(node)
        node = node.func.value
    base = _without_data(node)
    root = path_text(base)
    if not links or root is None or "\n" in listing.text(call):
        return None
    given = [[part for value in (*link.args, *link.keywords) for part in ast.walk(value)] for link in links]
    if any(path_text(part) == root for parts in given[:-1] for part in parts):
        return None  # the argument of a later link reads what an earlier one wrote
    if base is not node and any(behind_alias(part) for parts in given for part in parts):
        return None  # the new tensor would have a part of its history
    text = listing.text(base)
    if len(links) == 1:
        return _one_link(listing, links[0], text)
    for link in reversed(links):
        assert isinstance(link.func, ast.Attribute)
        text = f"{text}.{link.func.attr[:-1]}{listing.text_between(link.func, link)}"
    return text


def _one_link(listing: Listing, call: ast.Call, base: str) -> str:
    assert isinstance(call.func, ast.Attribute)
    operator = _OPERATORS.get(call.func.attr)
    if operator is not None and len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred):
        kind = ast.Add() if operator in "+-" else ast.Mult()
        return f"{base} {operator} {as_operand(listing, call.args[0], kind)}"
    return f"{base}.{call.func.attr[:-1]}{listing.text_between(call.func, call)}"


def _without_data(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Attribute) and node.attr == "data" else node


def chain_base(call: ast.expr) -> ast.expr:
    """``x`` of ``x.sub_(a).div_(b)`` and of ``x.data.clamp_(0, 1)``."""
    while isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
        call = call.func.value
    return _without_data(call)


def target_of(statement: ast.stmt | None) -> ast.expr | None:
    """Return what a statement plainly writes: ``x[0]`` of ``x[0] = 1``, ``x`` of ``x += 1`` and of ``x.mul_(2)``."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        return statement.targets[0]
    return chain_base(statement.value) if isinstance(statement, ast.Expr) else None


def out_of_place(listing: Listing, statement: ast.stmt, path: str) -> str | None:
    """A statement that binds `path` to a new tensor instead of writing the one behind it; None without a twin."""
    if isinstance(statement, ast.AugAssign) and path_text(statement.target) == path:
        return _augmented(listing, statement)
    if isinstance(statement, ast.Expr):
        call = statement.value
        if isinstance(call, ast.Call) and any(entry.arg == "out" for entry in call.keywords):
            return _without_out(listing, call, path)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "set_":
            simple = len(call.args) == 1 and not call.keywords and path_text(call.func.value) == path
            return f"{path} = {listing.text(call.args[0])}" if simple else None
        value = new_value(listing, call) if path_text(chain_base(call)) == path else None
        return f"{path} = {value}" if value is not None else None
    return None


def assigned_back(listing: Listing, statement: ast.stmt) -> str | None:
    """``x[rows] = x[rows].clamp(0, 1)`` for ``x[rows].clamp_(0, 1)``; None for any other form, and without a twin."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in _TWINS:
        return None
    picked = call.func.value
    simple = isinstance(picked, ast.Subscript) and isinstance(picked.value, (ast.Name, ast.Attribute))
    if not simple or "\n" in listing.text(call):
        return None
    text = listing.text(picked)
    return f"{text} = {_one_link(listing, call, text)}"


def _augmented(listing: Listing, statement: ast.AugAssign) -> str | None:
    target, text = listing.text(statement.target), listing.text(statement)
    sign, _, value = listing.text_between(statement.target, statement).partition("=")
    if "\n" in text:
        return None
    value = value.strip()
    if value == listing.text(statement.value):
        value = as_operand(listing, statement.value, statement.op)
    return f"{target} = {target} {sign.strip()} {value}"


def _without_out(listing: Listing, call: ast.Call, path: str) -> str | None:
    out = next(entry for entry in call.keywords if entry.arg == "out")
    if path_text(out.value) != path or "\n" in listing.text(call):
        return None
    kept = [listing.text(arg) for arg in call.args]
    kept += [
        f"{entry.arg}={listing.text(entry.value)}" if entry.arg else f"**{listing.text(entry.value)}"
        for entry in call.keywords
        if entry is not out
    ]
    return f"{path} = {listing.text(call.func)}({', '.join(kept)})"


def seen_by_autograd(listing: Listing, statement: ast.stmt) -> str | None:
    """``h[h < 0.5] = 0`` for ``h.data[h.data < 0.5] = 0``: the statement with ``.data`` and ``.detach()`` taken off
    what it writes, and off what it reads of that: ``h[:, 0] = h[:, 0].clone().exp()`` reads a copy, since autograd may
    keep what is read. As it stands where it writes no such alias, None where they cannot be taken off."""
    written: ast.expr | None = None
    if isinstance(statement, ast.Assign):
        written = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        written = statement.target
    elif isinstance(statement, ast.Expr):
        written = statement.value
        while isinstance(written, ast.Call) and isinstance(written.func, ast.Attribute):
            if written.func.attr == "detach":
                break
            written = written.func.value
    inside = set(ast.walk(written)) if written is not None else set()
    nodes = (node for node in ast.walk(statement) if isinstance(node, ast.expr))
    aliases = [(node, base) for node in nodes if (base := behind_alias(node)) is not None]
    bases = {path_text(base) for node, base in aliases if node in inside}
    if not bases:
        return listing.text(statement)
    cuts: list[tuple[int, int, str]] = []
    for node, base in aliases:
        if path_text(base) not in bases or {node.lineno, node.end_lineno, base.end_lineno} != {statement.lineno}:
            return None  # what another tensor gives without its history is left open
        cuts.append((base.end_col_offset or 0, node.end_col_offset or 0, ""))
        if node not in inside:
            part = listing.parents.get(node)
            end = (part if isinstance(part, ast.Subscript) and part.value is node else node).end_col_offset or 0
            cuts.append((end, end, ".clone()"))
    text, shift = listing.text(statement).encode(), statement.col_offset
    for first, last, new in sorted(cuts, reverse=True):
        text = text[: first - shift] + new.encode() + text[last - shift :]
    return text.decode(errors="replace")


def behind_alias(node: ast.AST) -> ast.expr | None:
    """``x`` of ``x.data`` and of ``x.detach()``."""
    if isinstance(node, ast.Attribute) and node.attr == "data":
        return node.value
    return receiver(node, "detach") if isinstance(node, ast.Call) and not node.args and not node.keywords else None


def receiver(node: ast.AST | None, *methods: str) -> ast.expr | None:
    """``x`` of ``x.detach()``: what a call of a method, of one of these if there are any, is made on."""
    method = node.func if isinstance(node, ast.Call) else None
    return method.value if isinstance(method, ast.Attribute) and (not methods or method.attr in methods) else None


def not_in_place(listing: Listing, call: ast.expr | None) -> Edit | None:
    """A call, of a function or of a module's class, with ``inplace=False``."""
    if not isinstance(call, ast.Call):
        return None
    flags: list[ast.expr] = [entry.value for entry in call.keywords if entry.arg == "inplace"]
    by_position: list[ast.expr] = [arg for arg in call.args if isinstance(arg, ast.Constant) and arg.value is True]
    flags = flags or (by_position if len(by_position) == 1 else [])
    return listing.substitute([(flags[0], "False")]) if flags else None


def cloned(listing: Listing, node: ast.expr) -> tuple[ast.expr, str]:
    """Return the replacement of an expression by a copy of what it gives."""
    text = listing.text(node)
    return node, f"{text}.clone()" if isinstance(node, _ATOMS) else f"({text}).clone()"
