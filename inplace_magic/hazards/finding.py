"""A finding of a rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from inplace_magic.language import _
from inplace_magic.record.outcomes import Proof, retold
from inplace_magic.record.places import Callsite

Severity = Literal["error", "silent", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "silent", "warning", "info")
"""Worst first. ``error``: PyTorch raises, or will raise on backward. ``silent``: a wrong result without an error.
``warning``: likely not what was meant. ``info``: worth knowing, nothing wrong."""


@dataclass(frozen=True, slots=True)
class Badges:
    """Labels of the marked lines, if the usual words would be wrong; empty for the usual ones."""

    wrote: str = ""
    """Instead of ``written here``: ``adds to it here``."""
    read: str = ""
    """Instead of ``read here``: ``gets the older result here``."""
    origin: str = ""
    """Instead of ``made here``: ``handed over here``."""

    def translated(self) -> Badges:
        """Return them in the reader's language."""
        return Badges(*(_(text) if text else "" for text in (self.wrote, self.read, self.origin)))


@dataclass(frozen=True, slots=True)
class Hazard:
    """One finding: what the code did, both places, and one change that cures it."""

    code: str
    """Stable code of the finding, e.g. ``saved-tensor-overwritten``."""
    severity: Severity
    message: str
    """What happened, with the names and lines of the user's code, then why PyTorch cares."""
    fix: str
    """One change that cures it."""
    variable: str | None = None
    """The code's name for the tensor; None if it has none."""
    mutation: Callsite | None = None
    """The first write after the save; None if it was not seen."""
    saved: Callsite | None = None
    """The line that saved the tensor for backward; None if nothing saved it or the watch did not see it."""
    mutations: tuple[Callsite, ...] = ()
    """Every write that the finding is about, oldest first."""
    saved_by: str | None = None
    """The autograd node that keeps it, e.g. ``SigmoidBackward0``."""
    expected_version: int | None = None
    found_version: int | None = None
    origin: Callsite | None = None
    """The line that made the view or the leaf, if it matters."""
    read: Callsite | None = None
    """The line that reads the new values as if they were the old ones; None if no read was seen."""
    freed: Callsite | None = None
    """The line of the earlier backward that freed the saved tensors, in a finding about that."""
    tensor: int | None = None
    """Serial number of the written tensor in the trace (``T3`` is 3)."""
    call: int | None = None
    """Index of the writing call in ``Report.calls``."""
    saved_call: int | None = None
    """Index of the saving call in ``Report.calls``."""
    read_call: int | None = None
    """Index of the reading call in ``Report.calls``."""
    raised: bool = False
    """True if PyTorch raised the error in this watch; False if it will."""
    diff: str = ""
    """The fix as a diff of the user's lines; empty if unknown."""
    price_bytes: int | None = None
    """Bytes of the copy that the fix makes at each run; None if it makes none or the size is unknown."""
    count: int = 1
    """Number of times that the statement did it, by any chain of callers; this finding is the first."""
    nbytes: int | None = None
    """Bytes cloned, spared or kept, in a note about memory; otherwise None."""
    proof: Proof | None = None
    """The result of trying the fix; None if it was not tried."""
    badges: Badges = Badges()
    """Labels of this finding's lines."""

    def __post_init__(self) -> None:
        if not self.mutations and self.mutation is not None:
            object.__setattr__(self, "mutations", (self.mutation,))

    @property
    def is_alarm(self) -> bool:
        """True if something is wrong, or likely is; False for a note."""
        return self.severity != "info"


def with_proofs(findings: tuple[Hazard, ...], proven: tuple[Hazard, ...]) -> tuple[Hazard, ...]:
    """Return new findings with the proofs of the old ones, and without refuted fixes."""
    if len(findings) != len(proven):
        return findings
    pairs = zip(findings, proven, strict=True)
    kept = [(new, old, old.fix if new.diff != old.diff else new.fix) for new, old in pairs]
    return tuple(
        new if old.proof is None else replace(new, proof=retold(old.proof), diff=old.diff, fix=fix)
        for new, old, fix in kept
    )
