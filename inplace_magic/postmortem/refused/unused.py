"""``torch.autograd.grad`` for a tensor that the result was not computed from: which one, and where the way ends."""

from __future__ import annotations

import ast
from typing import Any

from inplace_magic.capture.graph.depth import most_nodes
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.describe_nodes import node_name
from inplace_magic.language import N_, _
from inplace_magic.postmortem.failure import Failure, Kind
from inplace_magic.postmortem.graph import nodes_of
from inplace_magic.postmortem.refused import words
from inplace_magic.postmortem.refused.facts import is_module, is_tensor, parameters_of
from inplace_magic.postmortem.refused.history import Bound, History
from inplace_magic.postmortem.refused.roots import argument, backward_call, roots_in
from inplace_magic.postmortem.refused.values import value_of
from inplace_magic.record.answer import Answer
from inplace_magic.source.expressions import path_text


def explain_unused(failure: Failure) -> Answer:
    """Return which tensor the result does not come from, and the statement that explains it."""
    history = History(failure)
    frame = len(failure.frames) - 1
    scopes = history.scopes(frame)
    roots = roots_in(history)
    call = backward_call(history)
    given = _listed(argument(call, 1, "inputs") if call is not None else None, scopes)
    outputs = [value for root in roots if is_tensor(value := value_of(root, scopes))]
    index = failure.match.groupdict().get("index")
    outside = [entry for entry in given if entry[1] is not None and not is_behind(entry[1], outputs)]
    if index is not None and int(index) < len(given):
        outside = [given[int(index)]]
    path = outside[0][0] if outside else None
    root = path_text(roots[0]) if len(roots) == 1 else None
    again = _bound_after(history, path, root, frame)
    site = history.site(again.step) if again is not None else failure.place
    text = _(words.NOT_BEHIND).format(
        line=words.spot(failure.place),
        tensor=words.tensor(path),
        result=words.code(ast.unparse(roots[0])) if roots else _("the result"),
    )
    if again is not None:
        said_so = (
            _("{line} bound `{name}` to another tensor after {result} was computed.")
            if len(list(history.bindings(again.path, frame))) > 1
            else _("{line} made `{name}` after {result} was computed.")
        )
        told = said_so.format(line=words.spot(site), name=path, result=words.tensor(root))
        fix = _(
            "Keep the tensor that the result was computed from under its own name: bind {line} to another one."
        ).format(line=words.line_of(site))
    else:
        told, fix = failure.why, _(words.USE_IT).format(name=words.tensor(path))
    return words.answer(
        failure, text, told, sites=[site], certain=len(outside) == 1 and site is not None, name=path, fix=fix
    )


def _listed(node: ast.expr | None, scopes: Any) -> list[tuple[str | None, Any]]:
    """(path, tensor) of what is given as inputs, those of ``model.parameters()`` too."""
    if isinstance(node, (ast.List, ast.Tuple)):
        pairs = [(path_text(each), value_of(each, scopes)) for each in node.elts]
        return [(path, value if is_tensor(value) else None) for path, value in pairs]
    value: Any = value_of(node, scopes)
    path = path_text(node)
    if is_tensor(value):
        return [(path, value)]
    if type(value) in (list, tuple):
        return [(f"{path}[{i}]", each if is_tensor(each) else None) for i, each in enumerate(value)]
    for call in ast.walk(node) if node is not None else ():
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "parameters":
            module, owner = value_of(call.func.value, scopes), path_text(call.func.value)
            if is_module(module) and owner is not None:
                return list(parameters_of(module, owner).items())
    return []


def is_behind(tensor: Any, outputs: list[Any]) -> bool:
    """True if some results were computed from a tensor, as their graph has it."""
    own = describe.grad_fn(tensor)
    for node in nodes_of(outputs, most_nodes()):
        if own is not None and node is own:
            return True
        if own is None and node_name(node) == "AccumulateGrad" and node.variable is tensor:
            return True
    return any(output is tensor for output in outputs)


def _bound_after(history: History, path: str | None, root: str | None, frame: int) -> Bound | None:
    """Return the statement that gave the input's name to another tensor since the result was computed."""
    made = history.binding(root, frame) if root is not None else None
    again = history.binding(path, frame) if path is not None else None
    if made is None or again is None or made.frame != again.frame:
        return None
    steps = history.steps(frame)
    order = {id(step): at for at, step in enumerate(steps)}
    return again if order.get(id(again.step), 0) < order.get(id(made.step), -1) else None


UNUSED: tuple[Kind, ...] = (
    Kind(
        "input-not-in-graph",
        r"(?:One of the differentiated (?:Tensors|Variables)|The differentiated Tensor at index (?P<index>\d+)) "
        r"appears to not have been used in the graph",
        explain_unused,
        N_("Autograd follows the tensors that a result was computed from, and not others of the same values."),
    ),
)
