"""Lesson 3: what an in-place ReLU overwrites."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.judging import refuse_strangers, right, succeeded, wrong
from inplace_magic.lessons.running import Attempt, attempt
from inplace_magic.lessons.telling import calls_that_write, facts_of, is_copy, maker_of, spot, writes_to
from inplace_magic.record.events import CallEvent


def who_writes(functions: Sequence[Callable[[Any], Any]], answer: Collection[str]) -> Feedback:
    import torch

    refuse_strangers(functions, answer)
    wrongly: list[str] = []
    writers: list[str] = []
    for function in functions:
        x = torch.tensor([-1.0, 2.0])
        run = succeeded(attempt(function, x))
        writes = bool(writes_to(run.report, x))
        sentence = _what_it_wrote(function.__name__, run, writes, x)
        if writes != (function.__name__ in answer):
            wrongly.append(sentence)
        elif writes:
            writers.append(sentence)
    return wrong(*wrongly) if wrongly else right(*writers)


def _what_it_wrote(name: str, run: Attempt, writes: bool, x: Any) -> str:
    written = calls_that_write(run.report)
    if writes:
        return _("`{name}` changes it: {call} wrote the caller's memory, `[-1.0, 2.0]` became `{values}`.").format(
            name=name, call=spot(written[-1]), values=x.tolist()
        )
    if not written:
        return _("`{name}` leaves it alone: none of its calls is in-place.").format(name=name)
    facts, own = facts_of(run.report, x), written[-1].mutations[0].storage
    caller = f"S{facts.storage}" if facts is not None else "?"
    return _(
        "`{name}` leaves it alone: {call} is in-place, but it wrote storage S{own}, which `{name}` itself had made; "
        "the caller's tensor lies on {caller}."
    ).format(name=name, call=spot(written[-1]), own=own, caller=caller)


def keep_one(block: Callable[[], Any]) -> Feedback:
    import torch

    layers = block()
    with torch.no_grad():  # the same numbers each time, such that both ReLUs have something to do
        for parameter in layers.parameters():
            parameter.fill_(-1.0 if parameter.dim() > 1 else 1.0)
    x = torch.tensor([[[[-2.0, 3.0]]]])
    run = succeeded(attempt(layers, x))
    own = calls_that_write(run.report)
    guilty = writes_to(run.report, x)
    if guilty:
        return wrong(
            _("The caller's tensor was `[-2.0, 3.0]` and is `{values}` now: {call} wrote it.").format(
                values=x.flatten().tolist(), call=spot(guilty[0])
            ),
            run=run,
        )
    with torch.no_grad():
        meant = layers.conv2(torch.relu(layers.conv1(torch.relu(x))))
        same = isinstance(run.result, torch.Tensor) and torch.equal(run.result, meant)
    if not same:
        return wrong(
            _("The caller's tensor is safe, but the block computes something else now: both ReLUs must stay."), run=run
        )
    if not own:
        return wrong(
            _(
                "The caller's tensor is safe. But no call is in-place any more, and one may be: which tensor is made "
                "in `forward` and read by nobody but the next ReLU?"
            ),
            run=run,
        )
    return right(*(_what_it_spares(run, call) for call in own), _("The caller's tensor is safe."))


def _what_it_spares(run: Attempt, write: CallEvent) -> str:
    made = maker_of(run.report, write)
    if made is None:
        return _("{call} writes in place.").format(call=spot(write))
    if is_copy(made):
        return _("{call} writes a copy: no harm done, but the copy takes the memory that the flag saves.").format(
            call=spot(write)
        )
    return _("{call} writes over the result of {made}, and does no harm.").format(call=spot(write), made=spot(made))
