"""What the rules "worth knowing" have in common: their findings are about bytes, few, and never an alarm."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_magic.hazards.finding import Hazard

MAX_NOTES = 3
"""Notes in one report, the largest first; more would bury the findings."""
LEAST_BYTES = 2**20
"""Memory below this is not worth a note: the small tensors of a lesson stay quiet."""


def quiet(found: Sequence[Hazard]) -> list[Hazard]:
    """All findings, of the notes only the largest :data:`MAX_NOTES`."""
    notes = sorted((h for h in found if h.severity == "info"), key=lambda hazard: -(hazard.nbytes or 0))[:MAX_NOTES]
    return [*(hazard for hazard in found if hazard.severity != "info"), *notes]


def size(nbytes: int) -> str:
    """``160 B``, ``1.5 MiB``."""
    amount, unit = float(nbytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{nbytes} B" if unit == "B" else f"{amount:.1f} {unit}"
