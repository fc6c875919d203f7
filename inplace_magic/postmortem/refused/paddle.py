"""Paddle's errors. Its texts name an empty tensor or a generated one, so the reading goes by names, flags and versions.

Paddle keeps no graph that Python could read: which line saved a tensor is not known, and the lines that can have
written it are those that write, in the text, a name whose tensor is now at the version of the error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from inplace_magic.capture.naming.reach import within_reach
from inplace_magic.language import _
from inplace_magic.postmortem.failure import Failure, Kind
from inplace_magic.postmortem.reading import held_at, is_any_tensor, paths_in, value_of
from inplace_magic.postmortem.refused import lines, words
from inplace_magic.postmortem.refused.history import History, Step
from inplace_magic.record.answer import Answer
from inplace_magic.record.refusal import WHY
from inplace_magic.source.expressions import argument, path_text


def explain_overwritten(failure: Failure) -> Answer:
    """Return the lines that can have written the tensor: by the text, and by the version of what they wrote."""
    history = History(failure)
    found, expected = int(failure.match["found"]), int(failure.match["expected"])
    writes = list(_writes(history, found))
    paths = list(dict.fromkeys(path for path, _ in writes))
    by_path = {path: [step for each, step in writes if each == path][: max(1, found - expected)] for path in paths}
    steps = [step for path in paths for step in reversed(by_path[path])]
    sites = list(dict.fromkeys(history.site(step) for step in steps))
    name = paths[0] if len(paths) == 1 else None
    if len(paths) == 1:
        by_version = _("By its version it is {tensor}, which {line} wrote.")
    elif sites:
        by_version = _("These lines wrote tensors that are at version {found} now: {lines}.")
    else:
        by_version = _("No name in sight leads to a tensor at version {found} that the text writes.")
    spots = list(map(words.spot, sites[:3]))
    fix = _("Let {line} give a new tensor, or write into a copy: `{name}.clone()`.")
    return words.answer(
        failure,
        _("A tensor that autograd saved for backward was overwritten before backward used it."),
        by_version.format(tensor=words.tensor(name), line=", ".join(spots[:1]), lines=", ".join(spots), found=found),
        sites=sites,
        certain=len(sites) == 1 and found - expected == 1 and steps[0].sure,
        name=name,
        expected_version=expected,
        found_version=found,
        fix=fix.format(line=words.line_of(sites[0]), name=name or "…") if sites else None,
    )


def _writes(history: History, version: int) -> Iterator[tuple[str, Step]]:
    """(path, statement) of what the text writes in place into a tensor that is at a version now, the latest first.
    ``x += y`` gives a new tensor in Paddle."""
    from inplace_magic.capture.paddle import describe

    for frame in range(len(history.failure.frames) - 1, -1, -1):
        for path, tensor, step in lines.writes_in(history, frame):
            renaming = isinstance(step.node, ast.AugAssign) and not isinstance(step.node.target, ast.Subscript)
            if path is not None and describe.version(tensor) == version and not renaming:
                yield path, step


def explain_leaf(failure: Failure) -> Answer:
    """Return the leaf of which the error gives Paddle's own name, under the user's."""
    history = History(failure)
    frame = len(failure.frames) - 1
    path = _named(history, failure.match["tensor"])
    made = history.binding(path, frame) if path is not None else None
    is_update = lines.reads_a_gradient(failure) or (path is not None and "." in path)
    fix = _(words.UPDATE if is_update else words.LEAF_FIX)
    return words.answer(
        failure,
        _(words.LEAF_WRITTEN).format(line=words.spot(failure.place), tensor=words.tensor(path)),
        _("It came from {line}.").format(line=words.spot(history.site(made.step))) if made is not None else "",
        failure.why,
        sites=[failure.place],
        certain=failure.place is not None,
        name=path,
        fix=fix.format(line=words.line_of(failure.place), name=path or _("it")),
    )


def _named(history: History, name: str) -> str | None:
    """Return the user's path to the tensor that Paddle calls by a name: one of the failing line, else any in sight."""
    from inplace_magic.capture.paddle.reach import KINDS

    frame = len(history.failure.frames) - 1
    scopes = history.scopes(frame)
    for node in (node for tree in history.failure.trees[-1:] for node in paths_in(tree)):
        value = value_of(node, scopes)
        if is_any_tensor(value) and value.name == name:  # type: ignore[attr-defined]  # Paddle's own attribute
            return path_text(node)
    found = [
        (depth, path)
        for names in scopes
        for depth, path, each in within_reach({n: v for n, v in names.items() if not n.startswith("_")}, KINDS)
        if is_any_tensor(each) and each.name == name
    ]
    return min(found, default=(0, None))[1]


def explain_second_backward(failure: Failure) -> Answer:
    """Return the backward that was first, or what a loop carries on, by the text alone."""
    history = History(failure)
    frame = len(failure.frames) - 1
    roots = lines.roots_in(history)
    path = path_text(roots[0]) if roots else None
    made = history.binding(path, frame) if path is not None else None
    steps = history.steps(frame)
    since = steps[: next((at for at, step in enumerate(steps) if made is not None and step is made.step), len(steps))]
    scopes = history.scopes(frame)
    first = next((step for step in since if _runs_from(step, path, scopes)), None)
    loop = lines.loop_around(history, frame)
    outside = loop is not None and made is not None and loop not in made.step.around
    ways: list[words.Way] = []
    if first is not None or outside:
        ways = [words.Way("again", path, None, history.site(first) if first is not None else failure.place)]
    elif loop is not None:
        states = lines.carried(history, frame, loop, lambda path: any(map(_has_graph, held_at(path, scopes))))
        ways = [words.Way("carried", name, step, failure.place) for name, step in states]
    return words.answer_of(history, ways, path)


def _runs_from(step: Step, path: str | None, scopes: Any) -> bool:
    if path is None or hasattr(step.node, "body") or step.earlier_pass:
        return False
    calls = (node for node in ast.walk(step.node) if isinstance(node, ast.Call) and lines.runs_backward(node))
    return any(path_text(root) == path for call in calls for root in lines.roots_of_call(call, scopes))


def _has_graph(value: Any) -> bool:
    return is_any_tensor(value) and not value.stop_gradient


def explain_unused(failure: Failure) -> Answer:
    """Return which of the inputs the result was not computed from."""
    history = History(failure)
    given = argument(lines.backward_call(history), 1, "inputs")
    listed = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given] if given is not None else []
    index = int(failure.match["index"])
    path = path_text(listed[index]) if index < len(listed) else None
    return words.answer(
        failure,
        words.not_behind(failure, path, lines.roots_in(history)),
        sites=[failure.place],
        certain=path is not None,
        name=path,
        fix=_(words.USE_IT).format(name=words.tensor(path)),
    )


_ROWS = (
    Kind(
        "saved-tensor-overwritten",
        r"Tensor '(?P<tensor>[^']*)' used in gradient computation has been modified by an inplace operation\.\s+"
        r"Its version is (?P<found>\d+) but the expected version is (?P<expected>\d+)",
        explain_overwritten,
    ),
    Kind(
        "leaf-written",
        r"Leaf (?:Var|Tensor) \((?P<tensor>.*?)\) that doesn't stop gradient can't use inplace strategy",
        explain_leaf,
        WHY["leaf written"],
    ),
    Kind("graph-used-twice", r"calculate backward twice for the same subgraph", explain_second_backward),
    Kind("input-not-in-graph", r"The (?P<index>\d+)-th input does not appear in the backward graph", explain_unused),
)

PADDLE: tuple[Kind, ...] = tuple(replace(row, framework="paddle") for row in _ROWS)
