"""Lesson 1: names, tensors and storages."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.judging import right, run_of_program, succeeded, wrong
from inplace_magic.lessons.running import Attempt, attempt
from inplace_magic.lessons.telling import calls_that_write, facts_of, spot


def who_holds_fives(program: Callable[[], Any], answer: Collection[str]) -> Feedback:
    run = run_of_program(program)
    holds = {name for name, tensor in run.result.items() if bool((tensor == 5).all())}
    given = set(answer)
    strange = sorted(given - run.result.keys())
    if strange:
        return wrong(
            _("`program` has no variable `{name}`; it has {names}.").format(
                name=strange[0], names=", ".join(f"`{each}`" for each in run.result)
            )
        )
    sentences = tuple(_why(run, name, name in holds) for name in run.result if (name in given) != (name in holds))
    if sentences:
        return wrong(*sentences, run=run)
    return right(*(_why(run, name, True) for name in sorted(holds)))


def _why(run: Attempt, name: str, holds: bool) -> str:
    write = calls_that_write(run.report)[-1]
    facts, written = facts_of(run.report, run.result[name]), write.mutations[0].storage
    tensor = f"T{facts.tensor}" if facts is not None else "?"
    storage = f"S{facts.storage}" if facts is not None else "?"
    if holds:
        return _("{write} wrote storage {storage}, and `{name}` ({tensor}) lies on it: it shows the fives.").format(
            write=spot(write), storage=storage, name=name, tensor=tensor
        )
    return _("{write} wrote storage S{written}; `{name}` ({tensor}) lies on {storage}, so it shows no fives.").format(
        write=spot(write), written=written, storage=storage, name=name, tensor=tensor
    )


def bumped(bump: Callable[[Any], Any]) -> Feedback:
    import torch

    x = torch.tensor([3.0, 4.0, 5.0])
    given, view = x.tolist(), x[1:]
    run = succeeded(attempt(bump, x))
    if x.tolist() != [value + 1 for value in given]:
        if x.tolist() == given:
            return wrong(
                _("The tensor that `bump` was given is unchanged: {values}, at version {version}.").format(
                    values=f"`{given}`", version=x._version
                ),
                run=run,
            )
        return wrong(
            _(
                "The tensor that `bump` was given was {given} and is {values} now; each element should be 1 more."
            ).format(given=f"`{given}`", values=f"`{x.tolist()}`"),
            run=run,
        )
    if x._version == 0:
        return wrong(
            _(
                "The values are right, but the version counter still says 0: this write bypassed PyTorch's "
                "bookkeeping, and autograd will never hear of it."
            ),
            run=run,
        )
    if run.result is not x:
        return wrong(
            _("The write is right. But `bump(x) is x` is false: return the tensor that you were given."), run=run
        )
    return right(
        _("{write} wrote the caller's tensor, and its view sees it too: `{view}`.").format(
            write=spot(calls_that_write(run.report)[0]), view=view.tolist()
        )
    )
