"""Fixes that turn off ``inplace``: in the call itself, or in the line that makes the module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.expressions import path_text
from inplace_magic.hazards.listing import Edit, Listing
from inplace_magic.hazards.rewriting import not_in_place
from inplace_magic.hazards.written import Fix, Written

_OTHER_NAMES = {"hardtanh": ("hardtanh", "relu6")}
"""Functions by which modules of another name do their work; elsewhere ``nn.LeakyReLU`` calls ``F.leaky_relu``."""


def flag_turned_off(write: Written) -> Fix | None:
    """``inplace=False`` in the writing call, or where the writing module is made; None where its result is not used, or
    the line that makes it cannot be told."""
    site, call = write.site, write.call
    if call is None or not call.name.startswith("F.") or site.statement.strip() == site.expression.strip():
        return None
    edit = _in_the_call(write) if site.direct else _in_the_module(write)
    if edit is None:
        return None
    price = write.meta.nbytes if write.meta is not None else None
    return Fix(site, write.listing, (edit,), price)


def _in_the_call(write: Written) -> Edit | None:
    node = write.listing.expression_at(write.site)
    return not_in_place(write.listing, node) if node is not None else None


def _in_the_module(write: Written) -> Edit | None:
    listing = write.listing
    if not listing.whole:
        return None
    makers = [node for node in _made_in(listing.tree, write) if _flag(node)]
    if len(makers) > 1:
        makers = _of_the_called_one(write)
    return not_in_place(listing, makers[0]) if len(makers) == 1 and _flag(makers[0]) else None


def _of_the_called_one(write: Written) -> list[ast.Call]:
    """Of several modules, those made in the assignment to what the line calls: ``self.relu`` in ``self.relu(x)``."""
    listing = write.listing
    called = listing.expression_at(write.site)
    name = path_text(called.func) if isinstance(called, ast.Call) else None
    values = [
        node.value
        for node in ast.walk(listing.tree)
        if isinstance(node, ast.Assign) and name is not None and any(path_text(t) == name for t in node.targets)
    ]
    if len(values) != 1:
        return []
    value = values[0]
    found = [node for node in _made_in(value, write) if _flag(node)]
    if len(found) > 1 and isinstance(value, ast.Call) and (path_text(value.func) or "").endswith("Sequential"):
        return _by_turn(write, listing, value)
    return found


def _by_turn(write: Written, listing: Listing, sequential: ast.Call) -> list[ast.Call]:
    """The module of a plain ``nn.Sequential(…)`` whose turn it was when the write came."""
    turns = [arg for arg in sequential.args if isinstance(arg, ast.Call) and _makes(arg, write)]
    inside = sum(1 for _ in _made_in(sequential, write))
    if inside != len(turns) or write.call is None:
        return []  # some of them are nested, or made in a loop
    turn = 0
    for call in reversed(write.story.trace.calls[: write.call.index]):
        if call.callsite != write.call.callsite:
            break
        turn += call.name == write.call.name
    return [turns[turn]] if turn < len(turns) else []


def _made_in(tree: ast.AST, write: Written) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _makes(node, write):
            yield node


def _makes(node: ast.Call, write: Written) -> bool:
    """Whether a call makes a module that works by the writing function."""
    function = write.call.name.rsplit(".", 1)[-1].replace("_", "") if write.call is not None else ""
    made = (path_text(node.func) or "").rsplit(".", 1)[-1]
    return made[:1].isupper() and made.lower() in _OTHER_NAMES.get(function, (function,))


def _flag(node: ast.Call) -> bool:
    return any(
        entry.arg == "inplace" and not (isinstance(entry.value, ast.Constant) and entry.value.value is False)
        for entry in node.keywords
    )
