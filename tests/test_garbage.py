"""The garbage collector while a report is made: it waits, nothing of the user's is lost to it, or thawed."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from inplace_magic.record.garbage import collection_paused


class Circle:
    """An object that only the collector can free."""

    def __init__(self) -> None:
        self.own = self


@pytest.fixture
def quiet() -> Iterator[None]:
    """Nothing is frozen, as the test run's own objects are, all that lives counts as old, and the collector is on."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    gc.collect()
    yield
    gc.enable()
    gc.unfreeze()
    if frozen:
        gc.freeze()


def _searched_after(*, lasting: bool) -> int:
    """How many records of a block were young when it ended."""
    with collection_paused(lasting=lasting):
        kept = [[number] for number in range(50_000)]
    young = gc.get_count()[0]
    assert kept
    return young


def test_records_that_stay_are_not_searched_right_after_they_were_made(quiet: None) -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)  # so that the count is what is left to search
    try:
        assert _searched_after(lasting=False) >= 50_000
        gc.collect()
        assert _searched_after(lasting=True) < 100
    finally:
        gc.set_threshold(*before)


def test_what_the_users_code_left_in_circles_is_freed_before_a_block_makes_it_old(quiet: None) -> None:
    circle = Circle()
    gone = weakref.ref(circle)
    del circle
    with collection_paused(lasting=True):
        assert gone() is None


def test_what_the_user_froze_stays_frozen(quiet: None) -> None:
    kept = Circle()
    gc.freeze()
    assert not any(each is kept for each in gc.get_objects())  # lists all but what is frozen
    with collection_paused(lasting=True):
        pass
    assert not any(each is kept for each in gc.get_objects())


@pytest.mark.parametrize("lasting", [False, True])
def test_a_collector_that_was_off_stays_off(quiet: None, lasting: bool) -> None:
    gc.disable()
    with collection_paused(lasting=lasting):
        assert not gc.isenabled()
    assert not gc.isenabled()
