"""The answers that many exercises give, made from a run of the learner's own code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.running import Attempt, attempt
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


def numbers_of(tensor: Any) -> str:
    """The values of a tensor, to three digits, for a sentence; "`None`" for none."""
    if tensor is None:
        return "`None`"
    rounded = (tensor.detach().double() * 1000).round() / 1000 + 0.0
    return f"`{rounded.tolist()}`"


def raised(run: Attempt) -> Feedback:
    """The learner's code raised: the finding that explains it, else the error itself."""
    found = findings_of(run.report)
    kind = type(run.error).__name__
    if found:
        return wrong(_("Your code raised a `{kind}`, and this is why.").format(kind=kind), run=run)
    text = str(run.error).strip().splitlines()
    first = f"{kind}: {text[0]}" if text else kind
    return wrong(_("Your code raised `{error}`.").format(error=first), run=run)


class NotYet(Exception):
    """Ends a judge early, with what is said of the answer."""

    def __init__(self, feedback: Feedback) -> None:
        super().__init__(feedback)
        self.feedback = feedback


def succeeded(run: Attempt) -> Attempt:
    """The run, unless it raised.

    Raises:
        NotYet: it did.
    """
    if run.error is not None:
        raise NotYet(raised(run))
    return run


def run_of_program(program: Callable[[], Any]) -> Attempt:
    """A run that wrote a tensor and returned its variables by name.

    Raises:
        NotYet: it did something else.
    """
    run = succeeded(attempt(program))
    if not isinstance(run.result, dict) or not calls_that_write(run.report):
        text = _("`program` was changed: it must write a tensor in place and return its variables by name.")
        raise NotYet(wrong(text, run=run))
    return run


def refuse_strangers(functions: Sequence[Callable[..., Any]], answer: Collection[str]) -> None:
    """Look for names in an answer that are not among the functions.

    Raises:
        NotYet: there is one.
    """
    names = [function.__name__ for function in functions]
    strange = sorted({str(each) for each in answer} - set(names))
    if strange:
        text = _("There is no function `{name}` here; there are {names}.")
        raise NotYet(wrong(text.format(name=strange[0], names=", ".join(f"`{name}`" for name in names))))
