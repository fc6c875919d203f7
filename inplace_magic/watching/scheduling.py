"""Which steps of a long run are watched, in the manner of ``torch.profiler.schedule``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inplace_magic.errors import OptionError
from inplace_magic.language import _

Schedule = Callable[[int], bool]
"""Whether a step, counted from 0, is watched."""


def schedule(*, active: int, wait: int = 0, repeat: int = 0, skip_first: int = 0) -> Schedule:
    """Return a function for ``watch(schedule=…)``: after `skip_first` steps, in turn `wait` steps without a watch and
    `active` steps with one, whose report is made when they are over.

    Args:
        active: steps that are watched in a row.
        wait: steps before them that are not.
        repeat: how often; 0: to the end.
        skip_first: steps before all of this.

    Raises:
        OptionError: a negative number, or no step to watch.

    Example:
        >>> with inplace_magic.watch(schedule=inplace_magic.schedule(wait=98, active=2)) as w:
        ...     for batch in loader:
        ...         train(batch)
        ...         w.step()
    """
    for name, count, least in (
        ("active", active, 1),
        ("wait", wait, 0),
        ("repeat", repeat, 0),
        ("skip_first", skip_first, 0),
    ):
        if count < least:
            raise OptionError(
                _("schedule({name}={count}) cannot be; it is {least} or more.").format(
                    name=name, count=count, least=least
                )
            )

    return _Cycles(active, wait, repeat, skip_first)


@dataclass(frozen=True, slots=True)
class _Cycles:
    """A record and no closure: it is pickled with whatever is sent to another process."""

    active: int
    wait: int
    repeat: int
    skip_first: int

    def __call__(self, step: int) -> bool:
        cycle, place = divmod(step - self.skip_first, self.wait + self.active)
        return step >= self.skip_first and place >= self.wait and (self.repeat == 0 or cycle < self.repeat)
