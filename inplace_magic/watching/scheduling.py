"""Choose the watched steps of a long run, like ``torch.profiler.schedule``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inplace_magic.errors import OptionError
from inplace_magic.language import _

Schedule = Callable[[int], bool]
"""Returns True if a step, counted from 0, is watched."""


def schedule(*, active: int, wait: int = 0, repeat: int = 0, skip_first: int = 0) -> Schedule:
    """Return a function for ``watch(schedule=…)``: skip `skip_first` steps, then alternate `wait` steps without a watch
    and `active` watched steps, which get a report.

    Args:
        active: number of watched steps in a row.
        wait: number of unwatched steps before them.
        repeat: number of cycles; 0: to the end.
        skip_first: number of steps before the first cycle.

    Raises:
        OptionError: a negative number, or no step to watch.

    Example:
        >>> with inplace_magic.watch(schedule=inplace_magic.schedule(wait=98, active=2)) as w:
        ...     for batch in loader:
        ...         train(batch)
        ...         w.step()
    """
    for name, count in {"active": active, "wait": wait, "repeat": repeat, "skip_first": skip_first}.items():
        least = 1 if name == "active" else 0
        if count < least:
            sentence = _("schedule({name}={count}) cannot be; it is {least} or more.")
            raise OptionError(sentence.format(name=name, count=count, least=least))
    return _Cycles(active, wait, repeat, skip_first)


@dataclass(frozen=True, slots=True)
class _Cycles:
    """A record, not a closure, so that it can be pickled."""

    active: int
    wait: int
    repeat: int
    skip_first: int

    def __call__(self, step: int) -> bool:
        cycle, place = divmod(step - self.skip_first, self.wait + self.active)
        return step >= self.skip_first and place >= self.wait and (self.repeat == 0 or cycle < self.repeat)
