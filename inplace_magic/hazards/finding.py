"""A finding of a rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from inplace_magic.analysis.accesses import Write
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.record.proofs import Proof, retold

Severity = Literal["error", "silent", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "silent", "warning", "info")
"""Worst first. ``error``: PyTorch raises, or will raise on backward. ``silent``: a wrong result without an error.
``warning``: likely not what was meant. ``info``: worth knowing, nothing wrong."""


@dataclass(frozen=True, slots=True)
class Badges:
    """What stands beside the marked lines where the usual words would not be true; empty for the usual ones."""

    wrote: str = ""
    """Instead of ``written here``: ``adds to it here``."""
    read: str = ""
    """Instead of ``read here``, which sees the new values: ``gets the older result here``."""
    origin: str = ""
    """Instead of ``made here``: ``handed over here``."""


@dataclass(frozen=True, slots=True)
class Hazard:
    """One thing that the watched code did, with both places and one change that cures it."""

    code: str
    """The rule, e.g. ``saved-tensor-overwritten``."""
    severity: Severity
    message: str
    """What happened, with the names and lines of the user's code, then why PyTorch cares."""
    fix: str
    """One change that cures it."""
    variable: str | None = None
    """The tensor as the user's code calls it; None when the code has no name for it."""
    mutation: Callsite | None = None
    """The first write after the save; None when it was not observed."""
    saved: Callsite | None = None
    """Where the tensor was saved for backward; None when nothing saved it or the watch did not see it."""
    mutations: tuple[Callsite, ...] = ()
    """Every write of it that the finding is about, oldest first; of one alone, that."""
    saved_by: str | None = None
    """The autograd node that keeps it, e.g. ``SigmoidBackward0``."""
    expected_version: int | None = None
    found_version: int | None = None
    origin: Callsite | None = None
    """Where the tensor came from, where that matters: the view's making, the leaf's."""
    read: Callsite | None = None
    """Where the new values are read as if they were the old ones; None where no read was observed."""
    freed: Callsite | None = None
    """Where an earlier backward freed what was saved; None where that is not what the finding is about."""
    tensor: int | None = None
    """Serial number of the written tensor in the trace (``T3`` is 3)."""
    call: int | None = None
    """Index of the writing call in ``Report.calls``."""
    saved_call: int | None = None
    """Index of the saving call in ``Report.calls``."""
    read_call: int | None = None
    """Index of the reading call in ``Report.calls``."""
    raised: bool = False
    """True when PyTorch did raise it in this watch; False when it will."""
    diff: str = ""
    """The fix as a diff of the user's own lines; empty where it could not be derived."""
    price_bytes: int | None = None
    """Bytes of the copy that the fix makes each time it runs; None where it makes none or the size is not known."""
    count: int = 1
    """How many times the same statement did it, by whatever way it was reached; this finding is the first."""
    nbytes: int | None = None
    """Bytes that a note is about: cloned, spared or kept; None in findings that are not about memory."""
    proof: Proof | None = None
    """What trying the fix showed; None where nothing was tried."""
    badges: Badges = Badges()
    """Words for the lines of this finding."""

    def __post_init__(self) -> None:
        if not self.mutations and self.mutation is not None:
            object.__setattr__(self, "mutations", (self.mutation,))

    @property
    def is_alarm(self) -> bool:
        """Whether something is wrong, or likely is; else it is a note."""
        return self.severity != "info"


def finding(
    code: str,
    severity: Severity,
    *,
    message: str,
    fix: str,
    write: CallEvent | Write,
    tensor: int | None = None,
    variable: str | None = None,
    read: CallEvent | None = None,
    at: Callsite | None = None,
    origin: Callsite | None = None,
    badges: Badges = Badges(),  # frozen
) -> Hazard:
    """A finding about one write.

    Args:
        code: of the rule.
        severity: how bad it is.
        message: what happened.
        fix: one change that cures it.
        write: the write, or the call that made it.
        tensor: what it wrote.
        variable: what the user's code calls that.
        read: the call that read what the write left.
        at: where it did so, if not at the place of the call.
        origin: where the tensor came from.
        badges: words for the lines.
    """
    seen = write.call if isinstance(write, Write) else write
    return Hazard(
        code=code,
        severity=severity,
        message=message,
        fix=fix,
        variable=variable,
        mutation=write.site if isinstance(write, Write) else write.callsite,
        origin=origin,
        read=at or (read.callsite if read is not None else None),
        tensor=tensor,
        call=seen.index if seen is not None else None,
        read_call=read.index if read is not None else None,
        badges=badges,
    )


def with_proofs(findings: tuple[Hazard, ...], proven: tuple[Hazard, ...]) -> tuple[Hazard, ...]:
    """Findings that were made anew with the proofs of before, and without the fixes that were refuted."""
    if len(findings) != len(proven):
        return findings
    pairs = zip(findings, proven, strict=True)
    kept = [(new, old, old.fix if new.diff != old.diff else new.fix) for new, old in pairs]
    return tuple(
        new if old.proof is None else replace(new, proof=retold(old.proof), diff=old.diff, fix=fix)
        for new, old, fix in kept
    )
