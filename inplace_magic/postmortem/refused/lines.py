"""What the lines before a failure do, of any framework: what they run backward from, what they write, which names still
mean at a line what they did, and what each pass of a loop takes over from the one before."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from inplace_magic.postmortem.failure import Failure
from inplace_magic.postmortem.reading import MISSING, Scopes, is_any_tensor, value_of
from inplace_magic.postmortem.refused.history import Bound, History, Step, bindings_in, bound_by
from inplace_magic.source.expressions import argument, last_name, path_text
from inplace_magic.source.listing import LOOPS

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


@dataclass(frozen=True, eq=False)
class Sight:
    """What can be seen from a place in a text."""

    steps: tuple[Step, ...]
    scopes: tuple[Mapping[str, object], ...]
    frame: int | None
    step: Step | None = None
    """The statement that holds it; None for the failing line itself."""

    def at(self, step: Step) -> Sight:
        return replace(self, step=step)

    def before(self, path: str) -> Iterator[Bound]:
        """Return the statements that gave a name its value before this one, the latest first."""
        return bindings_in(self.steps[self._from :], path, self.frame)

    def value(self, node: ast.expr) -> object:
        """What an expression stands for; unknown where a name of it was given another value since."""
        path = path_text(node)
        since = self.steps[: self._from]
        if path is not None and any(name == path for step in since for name, _, _ in step.bound):
            return MISSING
        return value_of(node, self.scopes)

    @property
    def _from(self) -> int:
        if self.step is None:
            return 0
        return next((at + 1 for at, step in enumerate(self.steps) if step is self.step), 0)


def sight_in(history: History, frame: int, step: Step | None = None) -> Sight:
    """Return what can be seen in a frame that is alive, from the line at which it stands or from a statement above."""
    return Sight(tuple(history.steps(frame)), tuple(history.scopes(frame)), frame, step)


def loop_around(history: History, frame: int) -> ast.AST | None:
    """Return the innermost loop around the line at which a frame stands, in its function."""
    return next((block for block in reversed(history.around(frame)) if isinstance(block, LOOPS)), None)


def carried(history: History, frame: int, loop: ast.AST, leads: Callable[[str], bool]) -> Iterator[tuple[str, Step]]:
    """Yield (name, statement) of what a pass of the loop reads before it gives it another value.

    Args:
        history: of the failure.
        frame: the frame whose line the loop is around.
        loop: the loop.
        leads: whether a name leads to what is looked for.
    """
    inside = [step for step in history.steps(frame) if loop in step.around]
    in_order = sorted(inside, key=lambda step: (step.node.lineno, step.node.col_offset))
    bound: set[str] = {name for name, _, _ in bound_by(loop)} if isinstance(loop, ast.stmt) else set()
    read = set[str]()
    line = history.failure.frames[frame].place.line
    if not any(step.node.lineno == line for step in in_order):
        return
    for step in in_order:
        read |= _read_by(step.node)
        for path, _value, how in step.bound:
            if (path in read or how == "+=") and path not in bound and leads(path):
                yield path, step
            bound.add(path)


def needed_for(history: History, frame: int, loop: ast.AST, path: str | None) -> set[str]:
    """Return the names that a pass of a loop reads on the way to what it runs backward from.

    Args:
        history: of the failure.
        frame: the frame whose line the loop is around.
        loop: the loop.
        path: what the failing line runs backward from; None for all that the line names.
    """
    line = history.failure.frames[frame].place.line
    inside = [step for step in history.steps(frame) if loop in step.around]
    here = [step for step in inside if step.node.lineno == line]
    names = {path} if path is not None else {text for step in here for text in _read_by(step.node)}
    found = {name for name in names if name}
    for step in inside:
        if not step.earlier_pass and any(name in found for name, _, _ in step.bound):
            found |= _read_by(step.node)
    return found


def _read_by(node: ast.stmt) -> set[str]:
    """Return the paths that a statement's own expressions read."""
    own = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    loaded = (each for value in own for each in ast.walk(value) if isinstance(getattr(each, "ctx", None), ast.Load))
    return {path for each in loaded if (path := path_text(each)) is not None}
