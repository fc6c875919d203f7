"""The answers that many exercises give, made from a run of the learner's own code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.running import Attempt
from inplace_magic.lessons.telling import calls_that_write, findings_of, what_happened


def right(*sentences: str) -> Feedback:
    """A right answer, and what makes it one."""
    return Feedback("right", _("Right."), sentences)


def wrong(*sentences: str, run: Attempt | None = None) -> Feedback:
    """A wrong answer.

    Args:
        sentences: what is wrong, with the facts of the report.
        run: the run of the learner's code; its findings follow the sentences, and what its lines did.
    """
    if run is None:
        return Feedback("wrong", _("Not yet."), sentences)
    return Feedback("wrong", _("Not yet."), (*sentences, *findings_of(run.report)), what_happened(run.report))


def rounded(tensor: Any) -> Any:
    """The values of a tensor to four digits; None for none."""
    return None if tensor is None else [round(value, 4) for value in tensor.flatten().tolist()]


def raised(run: Attempt) -> Feedback:
    """The learner's code raised: the finding that explains it, else the error itself."""
    found = findings_of(run.report)
    kind = type(run.error).__name__
    if found:
        return wrong(_("Your code raised a `{kind}`, and this is why.").format(kind=kind), run=run)
    text = str(run.error).strip().splitlines()
    first = f"{kind}: {text[0]}" if text else kind
    return wrong(_("Your code raised `{error}`.").format(error=first), run=run)


def not_a_program(run: Attempt) -> Feedback | None:
    """What is wrong with a run that did not write a tensor and return its variables by name; None for one that did."""
    if run.error is not None:
        return raised(run)
    if not isinstance(run.result, dict) or not calls_that_write(run.report):
        return wrong(
            _("`program` was changed: it must write a tensor in place and return its variables by name."), run=run
        )
    return None


def strangers(functions: Sequence[Callable[..., Any]], answer: Collection[str]) -> Feedback | None:
    """A wrong answer when it names what is not among the functions; else None."""
    names = [function.__name__ for function in functions]
    strange = sorted({str(each) for each in answer} - set(names))
    if not strange:
        return None
    return wrong(
        _("There is no function `{name}` here; there are {names}.").format(
            name=strange[0], names=", ".join(f"`{name}`" for name in names)
        )
    )
