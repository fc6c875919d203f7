"""When the report of a story is made: at once where nobody notices, else when somebody asks or the kernel is idle.

The report of a story is about all of it, so it takes the longer the more cells there were; a healthy cell shall not
keep the user waiting for a report that nobody sees.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

AT_ONCE = 0.03
"""Seconds that nobody notices at the prompt."""
SHARE = 0.01
"""Of the time that the cells themselves took, what reports may take besides."""
IDLE_AFTER = 0.5
"""Seconds after a cell from which on the kernel counts as idle: the next cell of "Run all" has begun by then."""
_FIRST_GUESS = 6e-5
"""Seconds a call, while no report was made yet."""


@dataclass(slots=True)
class Pace:
    """What reports of a story have cost, and what the cells took."""

    a_call: float = _FIRST_GUESS
    """Seconds of the last report, by call."""
    ran: float = 0.0
    """Seconds that cells ran since then."""
    _began: float | None = None

    def cell_begins(self) -> None:
        """A cell runs from now on."""
        self._began = time.perf_counter()

    def cell_ends(self) -> None:
        """It has ended."""
        if self._began is not None:
            self.ran += time.perf_counter() - self._began
        self._began = None

    def can_afford(self, calls: int) -> bool:
        """Whether a report of so many calls can be made at once."""
        return calls * self.a_call <= max(AT_ONCE, SHARE * self.ran)

    def reported(self, calls: int, seconds: float) -> None:
        """A report of so many calls took so long."""
        self.a_call = seconds / max(calls, 1000)  # a part of it does not depend on the calls
        self.ran = 0.0
