"""What a line of the user's text runs backward from, and what it writes: syntax alone, of any framework."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from inplace_magic.postmortem.failure import Failure
from inplace_magic.postmortem.reading import MISSING, Scopes, is_any_tensor, value_of
from inplace_magic.postmortem.refused.history import History, Step
from inplace_magic.source.expressions import last_name, path_text

_BACKWARDS = ("backward", "grad", "manual_backward")


def backward_call(history: History) -> ast.Call | None:
    """Return the call of the failing line that ran backward."""
    for tree in history.failure.trees:
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        named = [call for call in calls if runs_backward(call)]
        if named or calls:
            return (named or calls)[0]
    return None


def roots_in(history: History) -> list[ast.expr]:
    """Return the expressions whose backward the failing line asks for; several for ``autograd.backward([a, b])``."""
    call = backward_call(history)
    if call is None:
        return []
    return roots_of_call(call, history.scopes(len(history.failure.frames) - 1))


def roots_of_call(call: ast.Call, scopes: Scopes) -> list[ast.expr]:
    """Return the expressions that a call runs backward from."""
    if isinstance(call.func, ast.Attribute):
        receiver = value_of(call.func.value, scopes)
        computed = receiver is MISSING and not isinstance(call.func.value, (ast.Name, ast.Attribute))
        if last_name(call.func) == "backward" and (is_any_tensor(receiver) or computed or not call.args):
            return _inner(call.func.value)
    given = argument(call, 0, "tensors", "outputs")
    if given is None:
        return []
    return given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]


def _inner(node: ast.expr) -> list[ast.expr]:
    """``loss`` of ``scaler.scale(loss)``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "scale" and node.args:
        return [node.args[0]]
    return [node]


def runs_backward(call: ast.Call) -> bool:
    """True if a call has the name of one that runs backward."""
    return isinstance(call.func, (ast.Attribute, ast.Name)) and last_name(call.func) in _BACKWARDS


def argument(call: ast.Call, position: int, *names: str) -> ast.expr | None:
    """Return what a call gives for a parameter."""
    for word in call.keywords:
        if word.arg in names:
            return word.value
    return call.args[position] if position < len(call.args) else None


def reads_a_gradient(failure: Failure) -> bool:
    """True if the failing line reads ``.grad``, as an update of values does."""
    nodes = (node for tree in failure.trees for node in ast.walk(tree))
    return any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in nodes)


def writes_in(history: History, frame: int, since: Step | None = None) -> Iterator[tuple[str | None, Any, Step]]:
    """Yield (path, tensor, statement) of what the statements of a frame plainly write, the latest first, down to one
    of them."""
    scopes = history.scopes(frame)
    for step in history.steps(frame):
        if step is since:
            return
        for target in written_by(step.node) if not hasattr(step.node, "body") else ():
            node: Any = target
            while not is_any_tensor(value_of(node, scopes)) and hasattr(node, "value"):
                node = node.value
            if is_any_tensor(tensor := value_of(node, scopes)):
                yield path_text(node), tensor, step


def written_by(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that a statement or call plainly writes: of ``x[1:] += y``, ``x[0] = y``, ``x.mul_(2)``
    and ``f(y, out=x)`` it is ``x``; of ``f_(x)`` the first argument."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign):
            yield node.target
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                yield from ([target] if isinstance(target, ast.Subscript) else [])
                yield from ([target.value] if isinstance(target, ast.Attribute) else [])
        elif isinstance(node, ast.Call):
            yield from (word.value for word in node.keywords if word.arg == "out")
            name = last_name(node.func)
            if name.endswith("_") and not name.endswith("__"):
                yield from ([node.func.value] if isinstance(node.func, ast.Attribute) else [])
                yield from node.args[:1]
