"""Source expressions, read as text: which operand of it, and which variable, a call wrote; and which variables a piece
of text names, reads and binds.

A call is known by the source of its expression (``target.sub_(guess).abs_()``, ``probs[2]``, ``a += b``); nothing is
evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.source.text import children, parsed
from inplace_magic.source.vocabulary import ALIASING, ALIASING_ATTRIBUTES, WITHOUT_VALUES

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
        if owner is None or not simple:
            return None
        if isinstance(index, ast.Constant) and isinstance(index.value, str):
            return f'{owner}["{index.value}"]'
        return f"{owner}[{ast.unparse(index)}]"
    return None


def root_name(node: ast.AST | None) -> str | None:
    """Return the first name of a path: ``self`` of ``self.memory``."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def last_name(node: ast.AST | None) -> str:
    """Return the name by which a function or class is called: ``backward`` of ``loss.backward``; empty for none."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def operands(expression: str | ast.AST | None, *, method: bool) -> list[ast.expr]:
    """Return the expressions of a call's positional operands.

    Args:
        expression: its source, or its syntax.
        method: true for a tensor method: ``x.add_(y)`` has the operands ``x`` and ``y``.
    """
    node = parse(expression) if isinstance(expression, str) else expression
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
    return argument(parse(expression), None, name)


def argument(call: ast.AST | None, position: int | None, *names: str) -> ast.expr | None:
    """Return what a call gives for a parameter: by one of its names, else at its position if it has one."""
    if not isinstance(call, ast.Call):
        return None
    by_name = (entry.value for entry in call.keywords if entry.arg in names)
    return next(by_name, call.args[position] if position is not None and 0 <= position < len(call.args) else None)


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
    known = not any(isinstance(arg, ast.Starred) for arg in node.args)
    position = parameters.index(name) - (1 if parameters[0] in ("self", "cls") else 0)
    return argument(node, position if known else None, name)


def is_state(call: CallEvent, tensor: int) -> bool:
    """True if library code wrote its own object's state, such as the running statistics of BatchNorm
    (``self.num_batches_tracked.add_(1)``), and not an argument of the user's line."""
    node = written_in(call, call.within, tensor, direct=True) if call.within else None
    if isinstance(node, ast.IfExp):
        node = node.body
    return node is not None and root_name(without_aliasing(node)) == "self"


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
    return keyword(expression, "out") is not None or bool(operands(expression, method=False))


@lru_cache(maxsize=4096)
def _operand(expression: str, method: str | None, position: int, count: int, unclear: bool) -> ast.expr | None:
    """Return the expression at a position among an expression's tensors; cached, since each pass of a loop asks."""
    out = keyword(expression, "out")
    if out is not None:
        return out
    if method is not None and not calls_method(expression, method):
        return None
    listed = operands(expression, method=method is not None)
    if unclear:
        texts = {path_text(node) for node in listed}
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
    listed = [node for node in operands(expression, method=method) if not is_no_tensor(node)]
    if len(listed) == 1 and isinstance(listed[0], (ast.List, ast.Tuple)):
        return listed[0].elts
    return listed


def is_no_tensor(node: ast.AST) -> bool:
    """``2``, ``-2``, ``x.shape``: an operand that brings no tensor into a call."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Attribute) and node.attr in WITHOUT_VALUES)


def variables_in(node: ast.AST | None, *contexts: type[ast.expr_context]) -> set[str]:
    """Return all that it names, or names in one of these contexts."""
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name)) if node is not None else ()
    return {each.id for each in names if isinstance(each.ctx, contexts or ast.expr_context)}


def variables_read(node: ast.AST | None) -> set[str]:
    """Return the variables whose values it reads, such as `d` of ``d["a"] = x``."""
    return variables_in(node, ast.Load)


def variables_bound(node: ast.AST | None) -> set[str]:
    """Return those that it gives another value, or takes away; not a function's parameters."""
    return variables_in(node, ast.Store, ast.Del)


def mentions(node: ast.AST | None, name: str) -> bool:
    """True if it names a variable."""
    return name in variables_in(node)


def assignments(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield (target, value) of the assignments among some nodes, of an unpacking entry by entry: ``value[0]``."""
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and (value := node.value) is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    yield from zip(target.elts, value.elts, strict=False)
                elif isinstance(target, (ast.Tuple, ast.List)):
                    entries = (ast.Subscript(value, ast.Constant(at), ast.Load()) for at in range(len(target.elts)))
                    yield from zip(target.elts, entries, strict=True)
                else:
                    yield target, value


def set_later(tree: ast.Module) -> frozenset[str]:
    """Return the attributes that a text sets outside of ``__init__``, and the names that its functions set outside."""
    found: set[str] = set()
    waiting: list[ast.AST] = [tree]
    for node in waiting:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        waiting += children(node)
    return frozenset(found)
