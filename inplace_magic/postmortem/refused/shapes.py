"""Errors about gradients that do not fit: what backward begins with, and what it gives back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from inplace_magic.capture.torch import describe
from inplace_magic.language import N_, _, sentences
from inplace_magic.postmortem.failure import Failure, Kind
from inplace_magic.postmortem.reading import stored, value_of
from inplace_magic.postmortem.refused import words
from inplace_magic.postmortem.refused.facts import is_one_real_number, is_tensor
from inplace_magic.postmortem.refused.history import Bound, History, Step, steps_above
from inplace_magic.postmortem.refused.lines import roots_in, sight_in
from inplace_magic.record.answer import Answer
from inplace_magic.source.expressions import last_name, path_text

_MOST_STEPS = 20


def explain_not_scalar(failure: Failure) -> Answer:
    """Return the line that gave a result of several numbers where one was wanted."""
    history = History(failure)
    frame = len(failure.frames) - 1
    roots = roots_in(history)
    scopes = history.scopes(frame)
    shaped: list[tuple[ast.expr, Any]] = [
        (root, value) for root in roots if is_tensor(value := value_of(root, scopes)) and not is_one_real_number(value)
    ]
    root, tensor = shaped[0] if shaped else (roots[0] if roots else None, None)
    path = path_text(root)
    made = _maker(history, path, frame) if path is not None else None
    site = history.site(made.step) if made is not None else failure.place
    unreduced = _without_reduction(made, history, frame)
    sizes = describe.layout(tensor).shape if tensor is not None else None
    shape = _("unknown") if sizes is None else str(list(sizes))
    if "real scalar" not in failure.text and "complex" not in failure.text.lower():
        what = _("{line} runs backward from {tensor}, whose shape is {shape}.")
        fix = _(
            "Make one number of it in {line}, by `.mean()` or `.sum()`; or hand backward a weight for each number: "
            "`gradient=torch.ones_like({name})`."
        )
    else:
        what = _("{line} runs backward from {tensor}, which is complex.")
        fix = _("Take a real number of it: `.abs()`, `.real`, or the square of the absolute value, and its sum.")
    reduced = _('`{code}` was made with `reduction="none"`, so it gives one loss for each entry.')
    return words.answer(
        failure,
        what.format(line=words.spot(failure.place), tensor=words.called(root), shape=shape),
        _("{line} gave it.").format(line=words.spot(site)) if made is not None else "",
        reduced.format(code=unreduced) if unreduced else "",
        failure.why,
        sites=[site],
        certain=made is None or made.step.sure,
        name=path,
        fix=fix.format(line=words.line_of(site), name=path or "…"),
    )


def _maker(history: History, path: str, frame: int) -> Bound | None:
    """Return the statement that gave a result its shape, followed through ``loss = loss / 2`` and plain renaming."""
    bound = history.origin(path, frame)
    for _step in range(_MOST_STEPS):
        older = _source(bound) if bound is not None else None
        if bound is None or older is None or bound.frame is None:
            break
        before = next(sight_in(history, bound.frame, bound.step).before(older), None)
        if before is None:
            break
        bound = before
    return bound


def _source(bound: Bound) -> str | None:
    """Return the one name whose shape a statement hands on: of ``loss = loss / 2``, ``loss *= 2`` and ``loss =
    first``."""
    if bound.how == "argument":
        return None
    if bound.how == "+=":
        return bound.path
    value = bound.value
    if isinstance(value, (ast.Name, ast.Attribute)):
        return path_text(value)
    scaled = isinstance(value, ast.BinOp) and path_text(value.left) == bound.path
    return bound.path if scaled else None


def _without_reduction(made: Bound | None, history: History, frame: int) -> str | None:
    """Return the loss of a statement that was told not to reduce: ``nn.MSELoss(reduction="none")``."""
    for call in ast.walk(made.value) if made is not None and made.value is not None else ():
        if isinstance(call, ast.Call):
            if any(w.arg == "reduction" and getattr(w.value, "value", "") == "none" for w in call.keywords):
                return ast.unparse(call.func)
            if stored(value_of(call.func, history.scopes(frame))).get("reduction") == "none":
                return ast.unparse(call.func)
    return None


def explain_other_shape(failure: Failure) -> Answer:
    """Return what backward was given and what it wanted."""
    history = History(failure)
    index = int(failure.match["index"])
    roots = roots_in(history)
    root = roots[index] if index < len(roots) else (roots[0] if roots else None)
    path = path_text(root)
    if path is not None and type(value_of(root, history.scopes(len(failure.frames) - 1))) in (list, tuple):
        path = f"{path}[{index}]"
    said = _("{line} begins backward at {tensor}, whose {what} is {wanted}, with a gradient whose {what} is {given}.")
    fix = _("Give it a gradient like the result: `torch.ones_like({name})`, or run backward from one number.")
    told = {name: text.replace("torch.Size(", "").rstrip(").") for name, text in failure.match.groupdict().items()}
    tensor = words.tensor(path) if path is not None else words.called(root)
    return words.answer(
        failure,
        said.format(line=words.spot(failure.place), tensor=tensor, **told),
        failure.why,
        sites=[failure.place],
        certain=failure.place is not None,
        name=path,
        fix=fix.format(name=path or "…"),
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
    return words.answer(failure, text, failure.why, sites=sites, certain=len(sites) == 1, name=owner, fix=fix)


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


SHAPES: tuple[Kind, ...] = (
    Kind(
        "loss-not-scalar",
        r"grad can be (?:implicitly created|computed) only for (?:real )?scalar outputs",
        explain_not_scalar,
        N_("Backward begins with the gradient 1 of one number; of several numbers PyTorch cannot know their weights."),
    ),
    Kind(
        "gradient-of-another-shape",
        r"Mismatch in (?P<what>shape|dtype): grad_output\[(?P<index>\d+)\] has a (?:shape|dtype) of (?P<given>.+?) and "
        r"output\[\d+\] has a (?:shape|dtype) of (?P<wanted>[^\n]+)",
        explain_other_shape,
        N_("The gradient that backward begins with has one number for each number of the result."),
    ),
    Kind(
        "backward-returned-wrong",
        r"[Ff]unction (?P<function>\w+) returned an (?:invalid gradient at index (?P<index>\d+)|incorrect number of "
        r"gradients)|expected (?:Variable|Tensor) or None \(got (?P<got>\w+)\)",
        explain_returned,
        N_(
            "Backward of a function gives one gradient for each input of forward, of that input's shape and device; "
            "None for what needs none."
        ),
    ),
)
