"""Two variants of one program, side by side, in one frozen record."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from inplace_magic.hazards import Hazard
from inplace_magic.language import LANGUAGES
from inplace_magic.record.outcomes import Agreement, Cost, Difference

if TYPE_CHECKING:
    import pandas as pd

ComparisonView = Literal["variants", "costs", "differences", "times"]


@dataclass(frozen=True, slots=True)
class Variant:
    """The measurements of one variant. A figure is None if the variant raised before it was known."""

    name: str
    error: str | None = None
    """Its exception, as ``RuntimeError: text``."""
    in_backward: bool = False
    """The code itself ran, and backward of its result raised."""
    findings: tuple[Hazard, ...] = ()
    """Findings of its watch, worst first."""
    parameters: int | None = None
    """Elements of the parameters of all modules that ran."""
    costs: tuple[Cost, ...] | None = None
    uncounted: tuple[tuple[str, int], ...] = ()
    """Operators that the counter knows nothing about, and how often they ran."""
    fault: str = ""
    """Why its compute is unknown although it ran."""
    allocations: int | None = None
    """Storages that the run made, backward and temporaries included."""
    allocated_bytes: int | None = None
    peak_bytes: int | None = None
    """The most that was alive at once, inputs and parameters included where they were used; of several devices, the
    sum of their peaks."""
    saved_bytes: int | None = None
    """What autograd kept for backward."""
    saved_is_least: bool = False
    """`saved_bytes` is a lower bound: ``CopySlices`` (an in-place write to a view) does not show what it keeps, and
    saved-tensor hooks pack it away."""
    seconds: tuple[float, ...] = ()
    """Wall time of each repetition; those of two variants were taken in turns."""

    @property
    def macs(self) -> int | None:
        """Multiply-accumulates of matrix products and convolutions."""
        return None if self.costs is None else sum(cost.macs for cost in self.costs)

    @property
    def flops(self) -> int | None:
        """Two for each MAC, as ``torch.utils.flop_counter`` counts."""
        return None if self.macs is None else 2 * self.macs

    @property
    def elements(self) -> int | None:
        """Element operations; see :data:`inplace_magic.record.outcomes.CONVENTION`."""
        return None if self.costs is None else sum(cost.elements for cost in self.costs)

    @property
    def operations(self) -> int | None:
        """MACs and element operations together, as ptflops sums a model's layers."""
        return None if self.costs is None else sum(cost.operations for cost in self.costs)

    @property
    def median_seconds(self) -> float | None:
        """Seconds of the median repetition."""
        return median(self.seconds) if self.seconds else None

    @property
    def mad_seconds(self) -> float | None:
        """Median distance of the repetitions from their median."""
        return _mad(self.seconds)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The result of ``%%inplace_compare`` and of :func:`inplace_magic.compare`."""

    first: Variant
    second: Variant
    agreement: Agreement | None = None
    """None when a variant raised."""
    flipped: tuple[tuple[str, int], ...] = ()
    """With ``--flip``: classes of the modules whose flag was set, and how many of each."""
    notes: tuple[str, ...] = ()
    """Notes on the figures, as sentences."""
    language: str = LANGUAGES[0]
    """Language of its notes, findings and views: ``en`` or ``zh``."""

    @property
    def variants(self) -> tuple[Variant, Variant]:
        """Both, the first one first."""
        return self.first, self.second

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What both left differently, outputs first."""
        return self.agreement.differences if self.agreement is not None else ()

    @property
    def time_ratio(self) -> tuple[float, float] | None:
        """Median of the second's time over the first's, repetition by repetition, and its median absolute deviation."""
        pairs = zip(self.first.seconds, self.second.seconds, strict=False)
        ratios = tuple(other / one for one, other in pairs if one > 0)
        spread = _mad(ratios)
        return None if spread is None else (median(ratios), spread)

    @property
    def verdict(self) -> str:
        """One sentence: the second variant against the first."""
        from inplace_magic.render.comparison.words import verdict

        return verdict(self)

    def to_frame(self, view: ComparisonView = "variants") -> pd.DataFrame:
        """Return a table of plain numbers and strings; bytes are integers, times are seconds.

        Args:
            view: ``variants`` (one row per variant), ``costs`` (one row per variant, module and operator),
                ``differences``, ``times`` (one row per repetition).

        Raises:
            ValueError: another view; the text lists them.
        """
        from inplace_magic.render.comparison.tables import to_frame

        return to_frame(self, view)

    def to_text(self) -> str:
        """Return the whole comparison as text."""
        from inplace_magic.render.comparison.views import to_text

        return to_text(self)

    def to_html(self) -> str:
        """Return one self-contained page: no network, no kernel."""
        from inplace_magic.render.comparison.views import to_page

        return to_page(self)

    def __repr__(self) -> str:
        return f"<Comparison: {self.verdict}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from inplace_magic.render.comparison.views import to_mimebundle

        return to_mimebundle(self)


def _mad(values: tuple[float, ...]) -> float | None:
    if not values:
        return None
    middle = median(values)
    return median(abs(value - middle) for value in values)
