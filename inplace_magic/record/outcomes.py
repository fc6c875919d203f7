"""What runs of one program showed, as plain frozen data: how two differ, what they cost, and what became of a fix.

Part of the floor: the capture side measures, the read side words and draws. Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from inplace_magic.language import N_, _, sentences

Group = Literal["output", "gradient", "state"]
"""``output``: what the code returned or bound. ``gradient``: ``.grad`` of the leaves. ``state``: what it was given or
read, as it was afterwards: parameters, buffers, inputs, optimizer state."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that two runs left differently, at the first element that differs bit for bit."""

    group: Group
    name: str
    """As the code reaches it: ``loss``, ``model.conv.weight.grad``."""
    element: tuple[int, ...] | None
    """Index of the first element that differs; None where shapes, dtypes or the values themselves differ."""
    values: tuple[str, str]
    differing: int = 1
    """How many elements differ."""
    elements: int = 1
    """Of how many."""
    versions: tuple[int | None, int | None] = (None, None)
    """Version counters of the two tensors; different ones tell an overwritten tensor."""

    @property
    def place(self) -> str:
        """``h[0, 3]``."""
        index = "" if not self.element else f"[{', '.join(map(str, self.element))}]"
        return f"{self.name}{index}"


@dataclass(frozen=True, slots=True)
class Agreement:
    """What was compared, and what differs."""

    compared: tuple[tuple[Group, int], ...] = ()
    """How many values of each group."""
    differences: tuple[Difference, ...] = ()
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Names that one run left and the other did not; they are not compared."""
    gradients_of: str = ""
    """``the code`` where it ran backward itself; ``the result`` where we did, with fixed weights; else empty."""

    def differing(self, group: Group) -> int:
        """How many values of a group differ."""
        return sum(difference.group == group for difference in self.differences)

    def count(self, group: Group) -> int:
        """How many values of a group were compared."""
        return dict(self.compared).get(group, 0)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one operator computed in one module; see :data:`CONVENTION`."""

    module: str
    """Path from the outermost module that ran, ``ConvBlock.conv.2``; empty outside modules."""
    cls: str
    operator: str
    """Without the underscore of in-place operators, so that twins have equal rows."""
    backward: bool
    calls: int
    macs: int
    """Multiply-accumulates of matrix products and convolutions."""
    elements: int
    """One operation per element: elementwise operators, normalisation, pooling, softmax, reductions, added biases."""

    @property
    def operations(self) -> int:
        """Both together: the figure that model summaries print as MACs."""
        return self.macs + self.elements


CONVENTION = N_(
    "MACs: one per multiply-accumulate of a matrix product or convolution, by the formulas of "
    "torch.utils.flop_counter; FLOPs: two per MAC. Element operations: one per element for elementwise operators, "
    "normalisation, softmax, pooling, reductions and added biases. Both together is what ptflops prints as MACs of a "
    "layer. Copies, views, padding and random numbers count nothing."
)

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
