"""Python's cyclic garbage collector, while a report is made: it would search the whole record again and again.

A record of 100,000 calls is a million small objects that all live, and none of them is in a cycle. Each full
collection looks at every one; on the way to a report that happens a dozen times, and takes a third of the time. And the
first collections after it look at all of them twice more.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused(*, lasting: bool = False) -> Iterator[None]:
    """No cyclic collection starts by itself inside the block; a collector that was off before stays off after it.

    What the user's code left in cycles is collected right after the block instead of within it.

    Args:
        lasting: the block makes so many objects that stay that a look at each is felt. They count as old from its end
            on, without one. What the user's code left in cycles lately is collected before, since the end makes it old,
            too; unless the user has frozen objects, which nobody but the user may thaw.
    """
    if not gc.isenabled():
        yield
        return
    lasting = lasting and not gc.get_freeze_count()
    if lasting:
        gc.collect(1)
    gc.disable()
    try:
        yield
    finally:
        try:
            if lasting and not gc.get_freeze_count():
                _made_old()
        finally:
            gc.enable()


def _made_old() -> None:
    """All of the young objects at once: thawed ones are old. An interrupt in between leaves none frozen."""
    try:
        gc.freeze()
    finally:
        gc.unfreeze()
