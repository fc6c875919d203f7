"""A copy of a function with one call more at its beginning and one at its end.

A wrapper would add a frame, and a frame is noticed: ``warnings.warn(stacklevel=5)`` counts it, tracebacks show it,
TorchScript writes it into the source of every operator. So the function is compiled once more from its own source,
in the same file and on the same lines, with its body inside ``try: begin() … finally: end()``.
"""

from __future__ import annotations
import __future__ as futures

import ast
import inspect
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

_BEGIN, _END = "_begins", "_ends"
_FUTURES = sum(getattr(futures, name).compiler_flag for name in ("annotations",))


def bracketed(function: Any, begin: Callable[[], Any], end: Callable[[], Any]) -> FunctionType | None:
    """Return the copy; None where there is no source, or where the function has decorators or a closure. Of a wrapper
    that holds the function which it wraps (``torch._dynamo`` puts such ones around parts of ``torch.jit``), a copy of
    both.

    Args:
        begin: called first; the caller's frame is the function's.
        end: called when the function returns or raises, also where `begin` raised.
    """
    if not isinstance(function, FunctionType):
        return None
    wrapped = vars(function).get("__wrapped__")
    if wrapped is not None:
        inner = bracketed(wrapped, begin, end)
        return None if inner is None else _around(function, wrapped, inner)
    code = _code(function)
    if code is None:
        return None
    cells = {_BEGIN: CellType(begin), _END: CellType(end)}
    return copy_of(function, code, function.__globals__, tuple(cells[name] for name in code.co_freevars))


def _around(wrapper: FunctionType, wrapped: Any, inner: FunctionType) -> FunctionType | None:
    cells = wrapper.__closure__ or ()
    holding = [_holds(cell, wrapped) for cell in cells]
    if True not in holding:
        return None
    closure = [CellType(inner) if holds else cell for cell, holds in zip(cells, holding, strict=True)]
    return copy_of(wrapper, wrapper.__code__, wrapper.__globals__, tuple(closure))


def _holds(cell: CellType, value: Any) -> bool:
    try:
        return cell.cell_contents is value
    except ValueError:  # it is empty
        return False


def copy_of(
    function: FunctionType, code: CodeType, scope: dict[str, Any], closure: tuple[CellType, ...] | None
) -> FunctionType:
    """Return a function that is the same but for its code, its globals and its closure."""
    copy = FunctionType(code, scope, function.__name__, function.__defaults__, closure)
    for name in ("__kwdefaults__", "__doc__", "__qualname__", "__module__", "__annotations__"):
        setattr(copy, name, getattr(function, name))
    copy.__dict__.update(function.__dict__)
    return copy


def _code(function: FunctionType) -> CodeType | None:
    old = function.__code__
    if old.co_freevars or hasattr(function, "__wrapped__"):
        return None
    try:
        lines, first = inspect.getsourcelines(old)
        tree = ast.parse("".join(lines))
    except (OSError, SyntaxError, TypeError):
        return None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef) or node.decorator_list or node.name != old.co_name:
        return None
    ast.increment_lineno(tree, first - 1)
    documented = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
    head, body = node.body[:documented], node.body[documented:]
    guarded = ast.Try(body=[_call(_BEGIN), *body], handlers=[], orelse=[], finalbody=[_call(_END)])
    node.body = [*head, guarded]
    outer = ast.parse(f"def outer({_BEGIN}, {_END}): pass")
    maker = outer.body[0]
    assert isinstance(maker, ast.FunctionDef)
    maker.body = [node]
    for each in ast.walk(outer):
        if isinstance(each, ast.stmt | ast.expr) and not hasattr(each, "lineno"):
            each.lineno = each.end_lineno = old.co_firstlineno
            each.col_offset = each.end_col_offset = 0
    ast.fix_missing_locations(outer)
    flags = old.co_flags & _FUTURES
    module = compile(outer, old.co_filename, "exec", flags=flags, dont_inherit=True)
    made = _inside(_inside(module, "outer"), old.co_name)
    names = {"co_qualname": old.co_qualname} if hasattr(old, "co_qualname") else {}
    return made.replace(**names)


def _inside(code: CodeType, name: str) -> CodeType:
    for each in code.co_consts:
        if isinstance(each, CodeType) and each.co_name == name:
            return each
    raise LookupError(name)


def _call(name: str) -> ast.stmt:
    return ast.Expr(ast.Call(func=ast.Name(name, ast.Load()), args=[], keywords=[]))
