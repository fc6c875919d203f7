"""Which of several processes this is, by what every launcher of PyTorch puts into the environment."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from inplace_magic.language import ngettext


@dataclass(frozen=True, slots=True)
class Rank:
    """This process among those of its run.

    ``RANK``, ``WORLD_SIZE``, ``MASTER_ADDR``, ``MASTER_PORT`` and the names that begin with ``TORCHELASTIC`` are those
    of https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables.
    """

    number: int
    size: int
    """How many there are, two or more."""
    run: str
    """Identifies this run, and this start of it."""
    store: tuple[str, int] | None = None
    """Host and port of the store of torchrun's agent, which outlives every rank; None where a rank holds it."""


def this_rank() -> Rank | None:
    """Return the rank of this process; None where it runs alone."""
    known = os.environ
    try:
        number, size = int(known["RANK"]), int(known["WORLD_SIZE"])
        port = int(known.get("MASTER_PORT", "0"))
    except (KeyError, ValueError):
        return None
    if size < 2 or not 0 <= number < size:
        return None
    run = "-".join(known.get(name, "0") for name in ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"))
    of_agent = known.get("TORCHELASTIC_USE_AGENT_STORE") == "True" and port > 0
    return Rank(number, size, f"{port}-{run}", (known.get("MASTER_ADDR", "localhost"), port) if of_agent else None)


def ranks_named(numbers: Iterable[int]) -> str:
    """``rank 3``, ``ranks 0–7``, ``ranks 0–2, 5``."""
    ordered = sorted(numbers)
    parts, first = [], 0
    for at, number in enumerate(ordered):
        if at + 1 == len(ordered) or ordered[at + 1] != number + 1:
            parts.append(str(number) if first == at else f"{ordered[first]}–{number}")
            first = at + 1
    return ngettext("rank {ranks}", "ranks {ranks}", len(ordered)).format(ranks=", ".join(parts))
