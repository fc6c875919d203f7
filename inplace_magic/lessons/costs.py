"""Lesson 9: memory and speed: what a write in place saves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch

from inplace_magic.analysis.memory.ledger import Ledger, LineMemory
from inplace_magic.hazards.notes import SAVED_NOTHING
from inplace_magic.language import _, ngettext
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.judging import (
    Attempt,
    attempt,
    attempt_with_backward,
    numbers_of,
    refuse_strangers,
    right,
    succeeded,
    wrong,
)
from inplace_magic.lessons.programs import numbers
from inplace_magic.lessons.telling import calls_that_write, notes_of, spot, writes_to
from inplace_magic.render import words


def which_spare(functions: Sequence[Callable[[Any], Any]], answer: Collection[str]) -> Feedback:
    refuse_strangers(functions, answer)
    runs = {
        function.__name__: succeeded(
            attempt_with_backward(lambda weight, call=function: call(weight * 1.5), numbers(250, grad=True))
        )
        for function in functions
    }
    sparing = [name for name, run in runs.items() if not notes_of(run.report, SAVED_NOTHING)]
    off = [name for name in runs if (name in sparing) != (name in answer)]
    if off:
        return wrong(*(_what_it_saves(name, runs[name]) for name in off))
    return right(*(_what_it_saves(name, runs[name]) for name in runs if name not in sparing))


def _what_it_saves(name: str, run: Attempt) -> str:
    copied = notes_of(run.report, SAVED_NOTHING)  # a copy that PyTorch made before the write
    if copied:
        return _("`{name}` saves no memory. {finding}").format(name=name, finding=copied[0])
    written = calls_that_write(run.report)
    if not written:
        return _("`{name}` writes nothing.").format(name=name)
    text = _("`{name}` saves memory: {call} wrote over its input, and nothing had to be copied first.")
    return text.format(name=name, call=spot(written[-1]))


def frugal(features: Callable[..., Any]) -> Feedback:
    x, weight = numbers(64, 32), numbers(32, 16, seed=1)
    kept, meant = (x.clone(), weight.clone()), torch.relu(x @ weight + 1) * 0.5
    run = succeeded(attempt(features, x, weight))
    if not isinstance(run.result, torch.Tensor) or run.result.shape != meant.shape:
        return wrong(_("`features` should return a tensor of shape {shape}.").format(shape=list(meant.shape)))
    for name, tensor in {"x": x, "weight": weight}.items():
        written = writes_to(run.report, tensor)
        if written:
            text = _("{call} wrote `{name}`, which belongs to the caller and has to stay untouched.")
            return wrong(text.format(call=spot(written[0]), name=name), run=run)
    if not (torch.equal(x, kept[0]) and torch.equal(weight, kept[1])):
        return wrong(_("`x` or `weight` was written. The caller still needs both."), run=run)
    if not torch.allclose(run.result, meant):
        text = _("The result begins with {got}, and should begin with {wanted}.")
        return wrong(text.format(got=numbers_of(run.result[0, :3]), wanted=numbers_of(meant[0, :3])), run=run)
    size = meant.untyped_storage().nbytes()
    lines = [row for row in Ledger(run.report.trace).by_line if row.allocated_bytes]
    allocated = sum(row.allocated_bytes for row in lines)
    if allocated < 2 * size:
        text = _(
            "Your version allocates {allocated}, which is the result and no more; `x` and `weight` are as they were."
        )
        return right(text.format(allocated=words.bytes_of(allocated)))
    text = ngettext(
        "The result is right. The result alone takes {size}, and your version allocates {allocated}, in {count} line:",
        "The result is right. The result alone takes {size}, and your version allocates {allocated}, in {count} lines:",
        len(lines),
    )
    told = text.format(size=words.bytes_of(size), allocated=words.bytes_of(allocated), count=len(lines))
    return wrong(told, *map(_allocates, lines), run=run)


def _allocates(row: LineMemory) -> str:
    text, size = _("{place}, `{code}`: {size}"), words.bytes_of(row.allocated_bytes)
    return text.format(place=words.place(row.site), code=words.code_of(row.site), size=size)


JUDGES: dict[str, Callable[..., Feedback]] = {"9.1": which_spare, "9.2": frugal}
