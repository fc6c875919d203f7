"""A gradient that is not there: of a tensor that the result was not computed from, and a ``w.grad`` that is None.

Of ``torch.autograd.grad`` the answer says which tensor it is, and where the way ends. Where a line uses ``w.grad``,
Python's text says ``NoneType`` and nothing of the gradient. The tensor itself is still there: it says whether it is a
leaf that requires grad, and the graph of the loss says whether it leads to it; or its gradient was cleared.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from inplace_magic.capture.graph.depth import most_nodes
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.describe_nodes import node_name
from inplace_magic.capture.torch.hooks.global_hooks import parameters_held
from inplace_magic.language import N_, _, sentences
from inplace_magic.postmortem.failure import Failure, Kind
from inplace_magic.postmortem.graph import nodes_of
from inplace_magic.postmortem.reading import paths_in, value_of
from inplace_magic.postmortem.refused import cutters, words
from inplace_magic.postmortem.refused.ended import CURES, SAID, of_the_first
from inplace_magic.postmortem.refused.facts import computed, is_module, is_tensor, parameters_of, tracked
from inplace_magic.postmortem.refused.history import Bound, History, Step, bindings_in
from inplace_magic.postmortem.refused.lines import backward_call, roots_in, roots_of_call, runs_backward
from inplace_magic.postmortem.refused.no_graph import Cut
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import argument, path_text


def explain_unused(failure: Failure) -> Answer:
    """Return which tensor the result does not come from, and the statement that explains it."""
    history = History(failure)
    frame = len(failure.frames) - 1
    scopes = history.scopes(frame)
    roots = roots_in(history)
    given = _listed(argument(backward_call(history), 1, "inputs"), scopes)
    outputs = [value for root in roots if is_tensor(value := value_of(root, scopes))]
    index = failure.match.groupdict().get("index")
    outside = [entry for entry in given if entry[1] is not None and not _is_behind(entry[1], outputs)]
    if index is not None and int(index) < len(given):
        outside = [given[int(index)]]
    path = outside[0][0] if outside else None
    root = path_text(roots[0]) if len(roots) == 1 else None
    again = _bound_after(history, path, root, frame)
    site = history.site(again.step) if again is not None else failure.place
    if again is None:
        said, fix = failure.why, _(words.USE_IT).format(name=words.tensor(path))
    else:
        said = _("{line} made `{name}` after {result} was computed.")
        if len(list(bindings_in(history.steps(frame), again.path, frame))) > 1:
            said = _("{line} bound `{name}` to another tensor after {result} was computed.")
        said = said.format(line=words.spot(site), name=path, result=words.tensor(root))
        fix = _("Keep the tensor that the result was computed from under its own name: bind {line} to another one.")
        fix = fix.format(line=words.line_of(site))
    certain = len(outside) == 1 and site is not None
    text = words.not_behind(failure, path, roots)
    return words.answer(failure, text, said, sites=[site], certain=certain, name=path, fix=fix)


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


def _is_behind(tensor: Any, outputs: list[Any]) -> bool:
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


def explain_no_gradient(failure: Failure) -> Answer | None:
    """Return why the gradient that the failing line uses is None; None where it uses no such gradient."""
    history = History(failure)
    frame = len(failure.frames) - 1
    path, tensor = _asked(history, frame)
    if path is None:
        return None
    if computed(tensor) or not tracked(tensor):
        return _answer(history, path, *_of_no_leaf(history, path, tensor, frame))
    return _of_a_leaf(history, path, tensor, frame)


def _asked(history: History, frame: int) -> tuple[str | None, Any]:
    """Return the tensor whose missing gradient the failing line uses, and what the line calls it."""
    for tree in history.failure.trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.ctx, ast.Load):
                path, tensor = path_text(node.value), value_of(node.value, history.scopes(frame))
                if path is not None and is_tensor(tensor) and describe.gradient(tensor) is None:  # type: ignore[arg-type]
                    return path, tensor
    return None, None


def _of_no_leaf(history: History, path: str, tensor: Any, frame: int) -> tuple[str, str, Callsite | None]:
    """What is said of a result, and of a tensor that does not require grad; the line that made it."""
    made = history.binding(path, frame)
    site = history.site(made.step) if made is not None else None
    value = made.value if made is not None else None
    if value is not None and path in map(path_text, paths_in(value)):  # `w = w - lr * w.grad`
        said = _("{line} bound {tensor} to a new tensor, which is not the leaf that backward reached before.")
        fix = _("Change the values of the leaf instead: `with torch.no_grad():` and `{name} -= …`.")
    elif tracked(tensor):
        said = _("{tensor} is the result of an operation, and backward keeps gradients at leaves alone.")
        fix = _(
            "Make it the leaf, `{name} = {name}.detach().requires_grad_()`, or call `{name}.retain_grad()` before "
            "backward."
        )
    else:
        said = _("{tensor} does not require grad, so backward computes no gradient for it.")
        fix = _("Set `requires_grad=True` where {tensor} is made, before anything is computed from it.")
    told = {"line": words.spot(site), "tensor": words.tensor(path), "name": path}
    return said.format(**told), fix.format(**told), site


def _of_a_leaf(history: History, path: str, tensor: Any, frame: int) -> Answer | None:
    steps = [(each, step) for each in range(frame, -1, -1) for step in history.steps(each)]
    begun = ((at, each, step, _backward_from(history, each, step)) for at, (each, step) in enumerate(steps))
    ran = [(at, each, step, roots) for at, each, step, roots in begun if roots is not None]
    first = next((entry for entry in ran if not entry[2].earlier_pass), None)
    cleared = next((at for at, (each, step) in enumerate(steps) if _clears(history, step, each, path, tensor)), None)
    if cleared is not None and any(at > cleared for at, *_began in ran):
        site = history.site(steps[cleared][1])
        text = _("{line} had cleared it after backward.").format(line=words.spot(site))
        return _answer(history, path, text, _("Clear gradients right before backward, and use them after it."), site)
    if first is None:
        text = _("No backward ran before this line.")
        fix = _("Ask for the gradient after `backward()`; to clear it, `optimizer.zero_grad()` skips one that is None.")
        known = (value_of(root, history.scopes(each)) for _at, each, _step, roots in ran for root in roots)
        in_first_pass = not any(map(is_tensor, known))
        return _answer(history, path, text, fix, history.failure.place) if in_first_pass else None
    at, owner, _step, roots = first
    outputs = [value for root in roots if is_tensor(value := value_of(root, history.scopes(owner)))]
    if not outputs or _is_behind(tensor, outputs):
        return None
    older = [each for number, each in steps[at:] if number == owner]
    cuts = list(_cuts(history, path, older))
    text = sentences(
        _("No graph leads from {result} back to {tensor}.").format(
            result=words.called(roots[0]), tensor=words.tensor(path)
        ),
        of_the_first(cuts, SAID),
    )
    fix = of_the_first(cuts, CURES) or _("Compute the loss from {tensor}.").format(tensor=words.tensor(path))
    return _answer(history, path, text, fix, *(cut.site for cut in cuts))


def _backward_from(history: History, frame: int, step: Step) -> list[ast.expr] | None:
    """Return what the backward of a statement starts at; None where it surely runs none."""
    if isinstance(step.node, (ast.Expr, ast.Assign)) and step.sure:
        for node in ast.walk(step.node.value):
            if isinstance(node, ast.Call) and runs_backward(node) and "backward" in ast.unparse(node.func):
                return roots_of_call(node, history.scopes(frame))
    return None


def _clears(history: History, step: Step, frame: int, path: str, tensor: Any) -> bool:
    """True if a statement certainly set the gradient of the tensor to None."""
    node = step.node
    if not step.sure or step.earlier_pass:
        return False
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None:
        return any(path_text(target) == f"{path}.grad" for target in node.targets)
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "zero_grad":
        return False
    if call.args or call.keywords:
        return False
    owner: Any = value_of(call.func.value, history.scopes(frame))
    if is_module(owner):
        return any(each is tensor for each in parameters_of(owner).values())
    steps = hasattr(type(owner), "step") and hasattr(type(owner), "zero_grad")
    return steps and any(each is tensor for each in parameters_held(owner))


def _cuts(history: History, path: str, steps: list[Step]) -> Iterator[Cut]:
    """Yield the statements that computed from the tensor, or from what was computed from it, and ended its graph."""
    led = {path}
    for step in reversed(steps):
        for name, value, _how in step.bound:
            if value is None or led.isdisjoint(map(path_text, paths_in(value))):
                continue
            site, block = history.site(step), cutters.switching_block(step.around)
            ended = [
                each
                for each in cutters.found_in(value)
                if led & {path_text(part) for node in each.inner for part in paths_in(node)}
            ]
            if block is not None:
                yield Cut("block", site, name, ast.unparse(block.items[0].context_expr))
            elif ended:
                yield Cut(ended[0].how, site, name, ast.unparse(ended[0].node))
            else:
                led.add(name)


def _answer(history: History, path: str, said: str, fix: str, *sites: Callsite | None) -> Answer:
    failure = history.failure
    others = [site for site in sites[1:] if site is not None]
    head = _("{line} uses `{name}.grad`, which is None.").format(line=words.spot(failure.place), name=path)
    doubt = words.doubt(others) if others else ""
    return words.answer(failure, head, said, doubt, sites=sites, certain=len(sites) == 1, name=path, fix=fix)


WITHOUT_GRADIENT: tuple[Kind, ...] = (
    Kind(
        "input-not-in-graph",
        r"(?:One of the differentiated (?:Tensors|Variables)|The differentiated Tensor at index (?P<index>\d+)) "
        r"appears to not have been used in the graph",
        explain_unused,
        N_("Autograd follows the tensors that a result was computed from, and not others of the same values."),
    ),
    Kind(
        "gradient-is-none",
        r"'NoneType' object (?:has no attribute|is not|does not support)"
        r"|operand type(?:\(s\))? for .*'NoneType'|must be Tensor, not NoneType",
        explain_no_gradient,
        N_(
            "Backward keeps a gradient in `.grad` of leaves that require grad, and only of those that the result was "
            "computed from. Of any other tensor it is None."
        ),
    ),
)
