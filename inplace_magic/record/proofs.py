"""What trying a fix showed, as plain frozen data. Part of the floor: standard library only."""

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
    """How far a gradient of the program as it is written is from that of its own forward."""

    name: str
    """As the code reaches it: ``encoder.weight.grad``."""
    relative: float | None
    """Norm of the difference over the norm of the right gradient; None where that is 0, or not finite."""
    element: tuple[int, ...]
    """Index of the element that is off most."""
    values: tuple[float, float]
    """That element as it is, and as it should be."""


@dataclass(frozen=True, slots=True)
class Price:
    """What the program costs with one of several fixes that are proven."""

    diff: str
    nbytes: int
    """Of all tensors with memory of their own that one run makes."""
    seconds: float
    """Of the fastest of three runs."""


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence with what stands in it, so that it can be told in another language."""

    template: str
    """In English, with named placeholders."""
    values: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return _(self.template).format(**dict(self.values))


@dataclass(frozen=True, slots=True)
class Proof:
    """What trying the fix of a finding showed."""

    verdict: Verdict
    reason: str
    """One or a few sentences, in the report's language."""
    differences: tuple[Difference, ...] = ()
    """What the patched program leaves otherwise: the values of the original first, then those of the patched one."""
    gradient_errors: tuple[GradientError, ...] = ()
    """Of a silent finding, the gradients that are wrong as the program is written, the worst first."""
    told: tuple[Told, ...] = ()
    """What `reason` is made of."""
    prices: tuple[Price, ...] = ()
    """Where several fixes are proven, what each costs, the one that is shown first; else empty."""


def proof_of(verdict: Verdict, *told: Told, **facts: Any) -> Proof:
    """Return a proof whose reason is these sentences, in the current language."""
    return Proof(verdict, sentences(*map(str, told)), told=told, **facts)


def retold(proof: Proof | None) -> Proof | None:
    """Return the same proof in the current language."""
    return proof and replace(proof, reason=sentences(*map(str, proof.told)))
