"""A backward that gives back what does not fit: a custom Function's, or that of a tensor whose data was replaced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from inplace_magic.language import N_, _, sentences
from inplace_magic.postmortem.failure import Failure, Kind
from inplace_magic.postmortem.refused import words
from inplace_magic.postmortem.refused.history import History, Step, steps_above
from inplace_magic.record.answer import Answer
from inplace_magic.source.expressions import last_name, path_text

RETURNED = "backward-returned-wrong"
_RETURNED_WHY = N_(
    "Backward of a function gives one gradient for each input of forward, of that input's shape and device; None for "
    "what needs none."
)


def explain_returned(failure: Failure) -> Answer:
    """Return the ``return`` of a custom Function's backward that does not fit; else what replaced data."""
    history, groups = History(failure), failure.match.groupdict()
    name, index = groups["function"], groups["index"]
    reason = failure.text.strip().splitlines()[0].rstrip(".")
    sites = [history.site(step) for step in _returns_of(history, name)]
    owner = None
    if sites:
        own = f"`{name.removesuffix('Backward')}`" if name else _("a custom Function")
        text = _("{line}, in the backward of {function}, returns what does not fit: {reason}.").format(
            line=words.spot(sites[0]), function=own, reason=reason
        )
        fix = (
            _("Let that backward return a gradient of the input's shape at position {index}.").format(index=index)
            if index is not None
            else _("Let that backward return one gradient for each input of forward, and None for what needs none.")
        )
    else:
        text = _("{line} came to {function} with a gradient that does not fit: {reason}.").format(
            line=words.spot(failure.place), function=f"`{name}`" if name else _("a function"), reason=reason
        )
        fix = _(
            "Look for what changed a tensor's shape, dtype or device after it was used: `.data = …`, `module.to(…)` or "
            "a pruned layer between forward and backward."
        )
        replaced = list(_data_replaced(history))
        sites = [history.site(step) for _path, step in replaced]
        if replaced:
            put = _("{line} put other data behind a tensor that a graph knows.").format(line=words.spot(sites[0]))
            text, owner = sentences(text, put), replaced[0][0]
            fix = _("Make a new `nn.Parameter` of the new values in {line}, instead of assigning `.data`.").format(
                line=words.line_of(sites[0])
            )
    why = _(_RETURNED_WHY)
    return words.answer(failure, RETURNED, text, why, sites=sites, certain=len(sites) == 1, name=owner, fix=fix)


def _returns_of(history: History, node: str | None) -> list[Step]:
    """Return the ``return`` statements of the backward of a custom Function of the user's; of all where no name is
    known."""
    found: list[Step] = []
    for filename, tree in history.everything():
        for each in ast.walk(tree):
            if not isinstance(each, ast.ClassDef) or not _is_function_class(each):
                continue
            if node is not None and each.name != node.removesuffix("Backward"):
                continue
            for method in each.body:
                if isinstance(method, ast.FunctionDef) and method.name in ("backward", "vjp"):
                    steps = steps_above(method, filename, f"{each.name}.{method.name}", None, None)
                    found += [step for step in steps if isinstance(step.node, ast.Return)]
        if found:
            return found
    return found


def _is_function_class(node: ast.ClassDef) -> bool:
    names = map(last_name, node.bases)
    methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    return bool(set(names) & {"Function", "InplaceFunction"}) or methods >= {"forward", "backward"}


def _data_replaced(history: History) -> Iterator[tuple[str, Step]]:
    """Yield (path of the tensor, statement) of what puts other data behind a tensor."""
    for frame in range(len(history.failure.frames) - 1, -1, -1):
        for step in history.steps(frame):
            for target in step.node.targets if isinstance(step.node, ast.Assign) else ():
                path = path_text(target)
                if isinstance(target, ast.Attribute) and target.attr == "data" and path is not None:
                    yield path.rpartition(".")[0], step


GIVEN_BACK: tuple[Kind, ...] = (
    Kind(
        RETURNED,
        re.compile(
            r"[Ff]unction (?P<function>\w+) returned an (?:invalid gradient at index (?P<index>\d+)"
            r"|incorrect number of "
            r"gradients)|expected (?:Variable|Tensor) or None \(got (?P<got>\w+)\)"
        ),
        explain_returned,
        _RETURNED_WHY,
    ),
)
