"""Which operand of the user's expression a call wrote, read off its source."""

from __future__ import annotations

import ast
from functools import lru_cache

from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.source import expressions
from inplace_magic.source.vocabulary import WITHOUT_VALUES


def is_state(call: CallEvent, tensor: int) -> bool:
    """True if library code wrote its own object's state, such as the running statistics of BatchNorm
    (``self.num_batches_tracked.add_(1)``), and not an argument of the user's line."""
    node = written_in(call, call.within, tensor, direct=True) if call.within else None
    if isinstance(node, ast.IfExp):
        node = node.body
    return node is not None and expressions.root_name(expressions.without_aliasing(node)) == "self"


def written_in(call: CallEvent, expression: str, tensor: int, *, direct: bool) -> ast.expr | None:
    """Return the expression that a call which wrote `tensor` got for it.

    Args:
        direct: False if library code lies between the expression and the call: then the receiver of a method is the
            library's object, and the first argument may have been passed on.
    """
    if not direct and not _says_operands(expression):
        return None  # as `opt.step()`, for each weight of each step
    tensors = [meta.tensor for meta in call.inputs]
    position = tensors.index(tensor) if tensor in tensors else 0
    # `scripted(a, b)` with one tensor for both, written inside: under which name nobody saw. By PyTorch's custom,
    # functions whose names end in an underscore write the first.
    unclear = tensors.count(tensor) > 1 and not call.does("method") and not call.operation.endswith("_")
    method = call.operation if call.does("method") and direct else None
    return _operand(expression, method, position if direct else 0, len(tensors), unclear)


@lru_cache(maxsize=4096)
def _says_operands(expression: str) -> bool:
    """True if anything in it can be what library code was handed."""
    return expressions.keyword(expression, "out") is not None or bool(expressions.operands(expression, method=False))


@lru_cache(maxsize=4096)
def _operand(expression: str, method: str | None, position: int, count: int, unclear: bool) -> ast.expr | None:
    """Return the expression at a position among an expression's tensors; cached, since each pass of a loop asks."""
    out = expressions.keyword(expression, "out")
    if out is not None:
        return out
    if method is not None and not expressions.calls_method(expression, method):
        return None
    listed = expressions.operands(expression, method=method is not None)
    if unclear:
        texts = {expressions.path_text(node) for node in listed}
        return listed[0] if len(texts) == 1 else None
    if position:
        can_be_tensors = [node for node in listed if not isinstance(node, ast.Constant)]
        return can_be_tensors[position] if len(can_be_tensors) == count else None
    return listed[0] if listed else None


def operands_given(call: CallEvent) -> list[tuple[TensorMetadata, ast.expr]] | None:
    """Return each input of a call with the expression that the line gives for it; None where that cannot be told."""
    if call.callsite is None or not call.callsite.direct:
        return None
    listed = _tensors_in(call.callsite.expression, call.does("method"))
    return list(zip(call.inputs, listed, strict=True)) if len(listed) == len(call.inputs) else None


@lru_cache(maxsize=4096)
def _tensors_in(expression: str, method: bool) -> list[ast.expr]:
    """Return the operands of an expression that can be tensors, those in a list one by one."""
    listed = [node for node in expressions.operands(expression, method=method) if not is_no_tensor(node)]
    if len(listed) == 1 and isinstance(listed[0], (ast.List, ast.Tuple)):
        return listed[0].elts
    return listed


def is_no_tensor(node: ast.AST) -> bool:
    """``2``, ``-2``, ``x.shape``: an operand that brings no tensor into a call."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Attribute) and node.attr in WITHOUT_VALUES)
