"""What two runs of a comparison left behind, as plain frozen data: how they differ, and what they cost.

Part of the floor: the capture side measures, the read side words and draws. Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inplace_magic.language import N_

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
