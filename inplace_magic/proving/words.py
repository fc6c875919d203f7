"""The sentences of a proof, in English, with their values; :class:`.Told` translates them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from inplace_magic.language import N_
from inplace_magic.record.outcomes import Difference, GradientError, Told

PROVEN = N_("With this fix the program runs, and values and gradients are bit for bit those of your forward pass.")
OTHER = N_("Some numbers differ: {name} is {new} instead of {old}, and {count} more.")
OTHER_ONE = N_("One number differs: {name} is {new} instead of {old}.")
ROUNDED = N_("The numbers are the same but for rounding ({name}: {new} instead of {old}).")
REFUSED = N_("PyTorch refuses the program as written, so there are no numbers to compare with.")
SAME_LOSS = N_("PyTorch refuses the program as written; its loss, computed without autograd, has the same bits.")
SAME_GRADIENTS = N_("All gradients are bit for bit those of your forward pass.")
SLOPE = N_("By finite differences in float64, its gradients are the derivative of the loss that it computes.")
NOT_THE_SLOPE = N_(
    "By finite differences in float64, its gradients are not the derivative of the loss that it computes: along a "
    "random direction they give {gradient}, the loss {difference}. This happens where something is detached, or "
    "written past autograd."
)
NO_SLOPE_MEANT = N_(
    "By finite differences in float64, its gradients are not the derivative of its loss. The program itself can cause "
    "this, as by its own `detach()`, so it does not refute the fix."
)
LOST = N_("With it the write goes into a new tensor, and {name} keeps its old values.")
RAISES = N_("With it the program still raises: {error}")
STAYS = N_("With it the finding stays.")
HARM = N_("With it another finding comes: {code}.")
CUT_OFF = N_("With it no gradient reaches {names} any more.")
SAME_NUMBERS = N_("This fix changes no number of the program, so a run cannot tell whether it is right.")
NOT_TWICE = N_("The program differs from run to run, so nothing can be compared.")
ENDS_NOW = N_("Run again from the present values, the program as written runs. The first time it raised: {error}")
RAISES_NOW = N_("Run again from the present values, the program as written ends otherwise: {error}")
ELSEWHERE = N_("The program stops for another reason: {error}")
OWN_HOOKS = N_(
    "The program packs what autograd saves by hooks of its own, as checkpointing does, which the copies of the "
    "comparison do not reach."
)
STOPPED = N_("All runs stopped {count} backward passes after the failing one; the verdict is about these passes.")
TOGETHER = N_("The fixes of the other findings are needed too.")
NOT_HERE = N_("The program that this report is about is not in this process, so it cannot be run again.")
NO_DIFF = N_("There is no automatic fix to try.")
NONE_CURES = N_("It is no change of lines. {count} changes in its place were tried; none is right.")
DOES_NOT_CURE = N_("It is no change of lines. The one change in its place that was tried is not right.")
NO_CURE = N_("No change that was tried cures it.")
REPEATS = N_("A second run would repeat what cannot be done on copies: {what}.")
WRONG_NOW = N_(
    "As written, the gradient of `{name}` is off by {size} (element {element} is {wrong} instead of {right})."
)
WRONG_FROM_ZERO = N_("As written, the gradient of `{name}` is wrong (element {element} is {wrong} instead of {right}).")
_LONGEST = 200
"""Most characters of an error's text."""


def plain(sentence: str) -> Told:
    """Wrap text that must not be translated again."""
    return Told("{sentence}", (("sentence", sentence),))


def with_error(template: str, error: str) -> Told:
    """Return a sentence with the first line of an error."""
    words = " ".join(error.split())
    return Told(template, (("error", words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"),))


def of_differences(differences: Sequence[Difference], *, rounded: bool) -> Told:
    """Return a sentence on the differences, with one gradient or value as an example."""
    best = next((each for each in differences if each.group == "gradient"), differences[0])
    old, new = best.values
    values = (("name", f"`{best.place}`"), ("new", new), ("old", old), ("count", str(len(differences) - 1)))
    return Told(ROUNDED if rounded else OTHER_ONE if len(differences) == 1 else OTHER, values)


def of_lost(name: str) -> Told:
    """Return a sentence on what keeps its old values with a fix."""
    return Told(LOST, (("name", f"`{name}`"),))


def of_errors(errors: Sequence[GradientError]) -> tuple[Told, ...]:
    """Return a sentence on the error of the worst gradient; empty if there is none."""
    if not errors:
        return ()
    worst = errors[0]
    values = (
        ("name", of_which(worst.name)),
        ("element", f"[{', '.join(map(str, worst.element))}]"),
        ("wrong", f"{worst.values[0]:.4g}"),
        ("right", f"{worst.values[1]:.4g}"),
    )
    if worst.relative is None:
        return (Told(WRONG_FROM_ZERO, values),)
    return (Told(WRONG_NOW, (*values, ("size", _percent(worst.relative)))),)


def of_which(name: str) -> str:
    """Return ``model.weight`` for ``model.weight.grad`` and ``grad(model.weight)[2]``."""
    taken = re.fullmatch(r"grad\((.*)\)(\[\d+\])?", name)
    return taken[1] if taken is not None else name.removesuffix(".grad")


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.095 else f"{share * 100:.2g}%"
