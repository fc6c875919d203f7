"""A backward through a graph that an earlier backward had used up: which tensor leads there, and which line was first.

Example::

    for x in batches:
        h = cell(x, h)      # `h` brings the graph of the pass before along
        h.sum().backward()  # raises in the second pass

The failing backward freed what it went through, too, so the graph alone does not tell which part was used up before.
The text has the earlier backwards; where the tensor that one of them began at is still there, its graph is compared
with this one. A loop has the same backward in each pass: then it is a name whose graph is older than the pass, since it
was made above the loop, or is carried from one pass to the next.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from inplace_magic.capture.graph.depth import most_nodes
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.describe_nodes import node_name, node_sequence
from inplace_magic.language import N_
from inplace_magic.postmortem.failure import Failure, Kind
from inplace_magic.postmortem.graph import nodes_of, roots_of
from inplace_magic.postmortem.reading import held_at, paths_in
from inplace_magic.postmortem.refused import lines
from inplace_magic.postmortem.refused.about import reached
from inplace_magic.postmortem.refused.facts import computed, is_tensor
from inplace_magic.postmortem.refused.history import History, Step
from inplace_magic.postmortem.refused.words import Way, answer_of
from inplace_magic.record.answer import Answer
from inplace_magic.source.expressions import path_text, root_name


def explain_second_backward(failure: Failure) -> Answer:
    """Return the line by which the failing backward came into a used up graph, and the backward that was first."""
    history = History(failure)
    roots = lines.roots_in(history)
    path = path_text(roots[0]) if roots else None
    return answer_of(history, list(_ways(history, path)), path)


def _ways(history: History, path: str | None) -> Iterator[Way]:
    """How it can have come there, likeliest first."""
    failure = history.failure
    roots = roots_of(failure.stack)
    nodes = _behind(roots)
    tops = [describe.grad_fn(root) for root in roots]
    last = len(failure.frames) - 1
    for frame in range(last, -1, -1):
        for step, tensor in _backwards_before(history, frame):
            before = _behind([tensor]) if tensor is not None else {}
            both = before.keys() & nodes.keys()
            if not both:
                continue
            first = history.site(step)
            if any(id(top) in before for top in tops):
                yield Way("again", path, None, first)
            else:
                name, made = _nearest(history, frame, {key: nodes[key] for key in both})
                yield Way("shared" if name is not None else "joined", name, made, first)
            return
    for frame in range(last, -1, -1):
        loop = lines.loop_around(history, frame)
        if loop is not None:
            yield from _in_a_loop(history, frame, loop, nodes, path)
            return
    if last > 0:
        yield from _in_a_function(history, last, nodes)


def _in_a_function(history: History, frame: int, nodes: dict[int, Any]) -> Iterator[Way]:
    """What a function reads that was made outside of it, where it is called again, as a closure by its optimizer."""
    place, code = history.failure.frames[frame].place, history.failure.frames[frame].code
    for name in _leading_there(history, frame, nodes):
        outside = root_name(ast.parse(name, mode="eval").body) in code.co_names
        bound = history.binding(name, 0) if outside else None
        if bound is not None and bound.how == "=":
            yield Way("outside", name, bound.step, place)


def _in_a_loop(history: History, frame: int, loop: ast.AST, nodes: dict[int, Any], path: str | None) -> Iterator[Way]:
    place = history.failure.frames[frame].place
    made = history.binding(path, frame) if path is not None else None
    if made is not None and made.how == "=" and loop not in made.step.around:
        yield Way("again", path, made.step, place)
        return
    names = _leading_there(history, frame, nodes)
    above = False
    for name in names:
        bound = history.binding(name, frame)
        if bound is not None and bound.how == "=" and loop not in bound.step.around:
            above = True
            yield Way("above", name, bound.step, place)
    kept = list(dict.fromkeys(name[: name.index("[")] for name in names if "[" in name))
    for root in kept:
        bound = history.binding(root, frame)
        if bound is None or loop not in bound.step.around:
            first = next(name for name in names if name.startswith(f"{root}["))
            for step in history.storing(root):
                yield Way("kept", first, step, place)
    scopes = history.scopes(frame)
    states = list(lines.carried(history, frame, loop, lambda path: _leads(path, names, scopes)))
    if not states and not above:  # `out, state = cell(x, state)`: what is carried now is behind no result yet
        needed = lines.needed_for(history, frame, loop, path)
        states = list(lines.carried(history, frame, loop, lambda path: path in needed and _has_graph(path, scopes)))
    for name, step in states:
        yield Way("carried", name, step, place)
    for name in names:
        owner, _dot, attribute = name.rpartition(".")
        if owner and attribute.isidentifier() and history.binding(name, frame) is None:
            given = list(history.of_attribute(attribute))
            reading = [bound for bound in given if bound.value is not None and _names(bound.value, attribute)]
            for bound in reading or given:
                yield Way("carried", name, bound.step, place)


def _names(value: ast.expr, attribute: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == attribute for node in ast.walk(value))


def _behind(tensors: list[Any]) -> dict[int, Any]:
    """Return the nodes behind some tensors by their id, leaves left out."""
    nodes = list(nodes_of(tensors, most_nodes()))
    return {id(node): node for node in nodes if node_name(node) != "AccumulateGrad"}


def _leading_there(history: History, frame: int, nodes: dict[int, Any]) -> list[str]:
    """Return the paths in sight whose tensors a graph goes through, the first made first."""
    found = []
    for depth, path, tensor in reached(history.scopes(frame)):
        # Reading the node of a view makes a new one if the memory was written since.
        asked = not describe.is_view(tensor) or describe.version(tensor) == 0
        node = describe.grad_fn(tensor) if asked else None
        if node is not None and id(node) in nodes:
            found.append((node_sequence(node) or 0, depth, path))
    return [path for _, _, path in sorted(found)]


def _nearest(history: History, frame: int, shared: dict[int, Any]) -> tuple[str | None, Step | None]:
    """Return the last made tensor with a name in what two graphs share, and the statement that made it."""
    for name in reversed(_leading_there(history, frame, shared)):
        bound = history.binding(name, frame)
        if bound is not None:
            return name, bound.step
    return None, None


def _leads(path: str, names: list[str], scopes: Any) -> bool:
    """True if a name leads into the graph: itself, what it holds, or a view, of which that is not asked."""
    if any(name == path or name.startswith((f"{path}[", f"{path}.")) for name in names):
        return True
    value: Any = next(iter(held_at(path, scopes)), None)
    return is_tensor(value) and describe.is_view(value) and describe.requires_grad(value)


def _has_graph(path: str, scopes: Any) -> bool:
    return any(is_tensor(each) and computed(each) for each in held_at(path, scopes))


def _backwards_before(history: History, frame: int) -> Iterator[tuple[Step, Any]]:
    """(statement, tensor it began at where that is still there) of the backwards before, the latest first."""
    line = lines.sight_in(history, frame)
    for step in line.steps:
        if hasattr(step.node, "body") or step.earlier_pass:
            continue
        here = line.at(step)
        for node in ast.walk(step.node):
            if not isinstance(node, ast.Call) or not lines.runs_backward(node) or _keeps_the_graph(node):
                continue
            for root in lines.roots_of_call(node, here.scopes):
                # `(a + b).backward()`, `loss.mean().backward()`: of what it is computed from
                known = [root] if path_text(root) is not None else paths_in(root)
                yield step, next(filter(is_tensor, map(here.value, known)), None)


def _keeps_the_graph(call: ast.Call) -> bool:
    given = {word.arg: getattr(word.value, "value", None) for word in call.keywords}
    return given.get("retain_graph", given.get("create_graph")) is True


SECOND: tuple[Kind, ...] = (
    Kind(
        "graph-used-twice",
        r"Trying to backward through the graph a second time",
        explain_second_backward,
        N_(
            "Backward frees the saved tensors of its graph, so it can run only once, unless you pass "
            "`retain_graph=True`."
        ),
    ),
)
