"""What an expression of the user's calls: a module's parameters, a method, the arguments that are known."""

from __future__ import annotations

import ast
from typing import Any

from inplace_magic.postmortem.refused.facts import is_tensor, kinds
from inplace_magic.postmortem.refused.sight import Sight
from inplace_magic.postmortem.refused.values import UNKNOWN
from inplace_magic.source.expressions import path_text
from inplace_magic.source.text import FunctionNode


def parameters_of(module: object) -> list[Any]:
    """Return the parameters of a module."""
    from inplace_magic.capture.naming.reach import walk

    return [each for _, _, each in walk("", module, kinds()) if is_tensor(each) and type(each).__name__ == "Parameter"]


def method_of(owner: object, name: str) -> object:
    """What a class, or one that it is made of, says of a method; without asking the object."""
    return next((vars(kind)[name] for kind in type(owner).__mro__ if name in vars(kind)), UNKNOWN)


def arguments_of(function: FunctionNode, call: ast.Call, here: Sight) -> dict[str, object]:
    """Return what a call gives for the parameters of a function, as far as it is known."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    pairs = [*zip(names, call.args, strict=False), *((word.arg, word.value) for word in call.keywords if word.arg)]
    known = {name: here.value(given) for name, given in pairs}
    return {name: value for name, value in known.items() if value is not UNKNOWN}


def header(block: ast.stmt) -> ast.stmt:
    """Return the first line of a compound statement, without what stands below it."""
    node = ast.Pass()
    node.lineno = node.end_lineno = block.lineno
    node.col_offset, node.end_col_offset = block.col_offset, block.col_offset
    return node


def makes_a_tensor(value: ast.expr) -> bool:
    """True if an expression is a plain call."""
    return isinstance(value, ast.Call) and path_text(value.func) is not None
