"""The result of trying a fix, as plain frozen data. Part of the floor: standard library only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from inplace_magic.language import _, sentences
from inplace_magic.record.outcomes import Difference

Verdict = Literal["proven", "other numbers", "refuted", "not tried"]
"""``proven``: the patched program runs to its end, the finding is gone, and it leaves the same bits as the program as
it is written would with the values that autograd had saved. ``other numbers``: it runs to its end without the finding,
and leaves other numbers, or there are none to compare it with. ``refuted``: it does not cure it, or does harm. ``not
tried``: it could not be run, and ``reason`` says why."""


@dataclass(frozen=True, slots=True)
class GradientError:
    """The error of a gradient as written, against the gradient that the forward means."""

    name: str
    """Its path in the code: ``encoder.weight.grad``."""
    relative: float | None
    """Norm of the difference over the norm of the right gradient; None if that is 0 or not finite."""
    element: tuple[int, ...]
    """Index of the element with the largest error."""
    values: tuple[float, float]
    """Its value as written, and the right value."""


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence with its values, for translation into another language."""

    template: str
    """In English, with named placeholders."""
    values: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return _(self.template).format(**dict(self.values))


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of trying a finding's fix."""

    verdict: Verdict
    reason: str
    """One or a few sentences, in the report's language."""
    differences: tuple[Difference, ...] = ()
    """Differences of the patched program: original values first, then patched ones."""
    gradient_errors: tuple[GradientError, ...] = ()
    """For a silent finding, the wrong gradients of the program as written, the worst first."""
    told: tuple[Told, ...] = ()
    """The parts of `reason`."""


def proof_of(verdict: Verdict, *told: Told, **facts: Any) -> Proof:
    """Return a proof whose reason is these sentences, in the current language."""
    return Proof(verdict, sentences(*map(str, told)), told=told, **facts)


def retold(proof: Proof | None) -> Proof | None:
    """Return the same proof in the current language."""
    return proof and replace(proof, reason=sentences(*map(str, proof.told)))
