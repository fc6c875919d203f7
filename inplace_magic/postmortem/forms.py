"""The forms of a statement that writes, and their twins that bind the name to a new tensor: text alone."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import torch

from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import FUNCTIONS, LOOPS, Listing

_OTHER_TWINS = frozenset(("bernoulli_", "detach_", "squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_"))
"""Methods that do something else without the underscore, or write nothing."""


@dataclass(frozen=True)
class Change:
    """What a statement becomes."""

    path: str
    """The name or attribute that gets a new tensor."""
    text: str | None
    """The statement that gives one; None: a copy stands before it."""
    has_operands: bool = False
    """Whether that can be of another type than the statement in place left: by what else is put in."""


def change_of(listing: Listing, statement: ast.stmt, nodes: set[ast.expr | ast.stmt]) -> Change | None:
    """Return what a statement becomes; None where no form knows it.

    Args:
        listing: the text.
        statement: which writes.
        nodes: the parts of it that write.
    """
    scope = listing.scope_of(statement)
    if isinstance(scope, (ast.Lambda, ast.ClassDef)) or _is_generator(listing, scope):
        return None  # what a generator yielded is somebody else's too, and lives on between two passes
    if statement.lineno != statement.end_lineno or not listing.alone(statement):
        return None
    return next((found for form in FORMS if (found := form(listing, statement, nodes)) is not None), None)


def _is_generator(listing: Listing, scope: ast.AST) -> bool:
    inside = listing.inside(scope) if isinstance(scope, FUNCTIONS) else []
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in inside)


def _augmented(listing: Listing, statement: ast.stmt, nodes: set[ast.expr | ast.stmt]) -> Change | None:
    """``y += a`` as ``y = y + a``."""
    if not isinstance(statement, ast.AugAssign) or nodes != {statement}:
        return None
    path = _path(statement.target)
    sign = listing.text_between(statement.target, statement).partition("=")[0].strip()
    value = listing.text(statement.value)
    wanted = ast.dump(ast.BinOp(ast.parse(path or "_", mode="eval").body, statement.op, statement.value))
    for right in (value, f"({value})"):
        text = f"{path} {sign} {right}"
        if path is not None and ast.dump(ast.parse(text, mode="eval").body) == wanted:
            return Change(path, f"{path} = {text}", not isinstance(statement.value, ast.Constant))
    return None


def _called(listing: Listing, statement: ast.stmt, nodes: set[ast.expr | ast.stmt]) -> Change | None:
    """``y.mul_(2)`` as ``y = y.mul(2)``, and functions likewise; a chain of methods as a whole."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    call = max(calls, key=lambda node: (node.end_col_offset or 0) - node.col_offset, default=None)
    if call is None or len(calls) != len(nodes):
        return None
    cuts: list[tuple[int, int]] = []
    links: set[ast.expr | ast.stmt] = set()
    base: ast.expr = call
    while isinstance(base, ast.Call) and (link := _out_of_place(base)) is not None:
        links.add(base)
        cuts.append(link[1])
        base = link[0]
    path = _path(base)
    if path is None or not nodes <= links:
        return None
    named = [node for node in ast.walk(statement) if path_text(node) == path]
    row = listing.lines[statement.lineno - 1].encode()
    for start, end in sorted(cuts, reverse=True):
        row = row[:start] + row[end:]
    shorter = sum(end - start for start, end in cuts)
    operands = any(not isinstance(each, ast.Constant) for link in links for each in getattr(link, "args", ()))
    text = row[statement.col_offset : (statement.end_col_offset or 0) - shorter].decode()
    if isinstance(statement, ast.Expr) and statement.value is call:
        return Change(path, f"{path} = {text}", operands) if len(links) == 1 or len(named) == 1 else None
    if (
        isinstance(statement, ast.Assign)
        and statement.value is call
        and [_path(t) for t in statement.targets] == [path]
    ):
        return Change(path, text, operands) if len(links) == 1 or len(named) == 2 else None
    return Change(path, text, operands) if len(named) == 1 and _is_last_read(listing, statement, path) else None


def _out_of_place(call: ast.Call) -> tuple[ast.expr, tuple[int, int]] | None:
    """What a call in place writes, and the columns that are left out of its twin."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.end_lineno != call.end_lineno:
        return None
    name, end = function.attr, function.end_col_offset or 0
    bare = name.removesuffix("_")
    if any(keyword.arg in (None, "out", "input") for keyword in call.keywords):
        return None
    for before, flag in zip((None, *call.keywords), call.keywords, strict=False):
        if flag.arg == "inplace" and call.args:
            left = before.value if before is not None else call.args[-1]
            is_set = isinstance(flag.value, ast.Constant) and flag.value.value is True and bare == name
            if not is_set or not hasattr(torch.nn.functional, name):
                return None
            return call.args[0], (left.end_col_offset or 0, flag.value.end_col_offset or 0)
    if bare == name or bare.endswith("_") or name in _OTHER_TWINS:
        return None
    if path_text(function.value) in ("torch", "F", "nn.functional", "torch.nn.functional"):
        home = torch if path_text(function.value) == "torch" else torch.nn.functional
        return (call.args[0], (end - 1, end)) if call.args and hasattr(home, bare) else None
    return (function.value, (end - 1, end)) if callable(getattr(torch.Tensor, bare, None)) else None


def _copied(listing: Listing, statement: ast.stmt, nodes: set[ast.expr | ast.stmt]) -> Change | None:
    """``y = y.clone()`` before ``y[0] = a``, where what is put there does not read ``y`` itself."""
    if not isinstance(statement, (ast.Assign, ast.AugAssign)):
        return None
    target = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]
    if isinstance(statement, ast.AugAssign) and not isinstance(statement.op, (ast.Add, ast.Sub)):
        return None  # autograd can save the slice that the same line writes
    path = _path(target.value) if isinstance(target, ast.Subscript) else None
    reads = any(path_text(node) == path for node in ast.walk(statement.value))
    return Change(path, None) if path is not None and nodes == {target} and not reads else None


FORMS: tuple[Callable[[Listing, ast.stmt, set[ast.expr | ast.stmt]], Change | None], ...] = (
    _augmented,
    _called,
    _copied,
)
"""The first that knows the statement changes it."""


def _path(node: ast.expr) -> str | None:
    """``y`` and ``self.y``; None for anything else."""
    plain = isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))
    return path_text(node) if plain else None


def _is_last_read(listing: Listing, statement: ast.stmt, path: str) -> bool:
    """True if nothing reads a local variable after a statement that leaves it as it was."""
    scope = listing.scope_of(statement)
    if not isinstance(scope, FUNCTIONS) or not path.isidentifier():
        return False
    if isinstance(statement, ast.Return):
        return True
    later = [node for node in listing.inside(scope) if isinstance(node, ast.Name) and node.id == path]
    in_loop = any(isinstance(node, LOOPS) for node in listing.around(statement))
    return not in_loop and all(node.lineno <= statement.lineno for node in later)
