"""Regions of one storage, compared with a plain enumeration of their elements."""

from __future__ import annotations

from itertools import product

from builders import tensor
from hypothesis import given, settings
from hypothesis import strategies as st

from inplace_magic.analysis.overlap import may_meet, reads_what_it_writes, region_of, writes_one_element_twice
from inplace_magic.record.events import Region

SIZES = st.lists(st.integers(0, 4), max_size=3).map(tuple)


@st.composite
def regions(draw: st.DrawFn, shape: tuple[int, ...] | None = None) -> Region:
    sizes = draw(SIZES) if shape is None else shape
    return Region(draw(st.integers(0, 12)), sizes, tuple(draw(st.integers(0, 6)) for _ in sizes))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Region, Region]:
    """A written region, and one that broadcasts to it."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple))
    narrow = tuple(draw(st.sampled_from((1, size))) for size in shape)[draw(st.integers(0, len(shape) - 1)) :]
    return draw(regions(shape=shape)), draw(regions(shape=narrow))


def elements(region: Region) -> list[tuple[tuple[int, ...], int]]:
    return [
        (at, region.offset + sum(i * step for i, step in zip(at, region.strides, strict=True)))
        for at in product(*map(range, region.shape))
    ]


def broadcast(region: Region, shape: tuple[int, ...]) -> Region:
    pad = len(shape) - len(region.shape)
    sizes, strides = (1,) * pad + region.shape, (0,) * pad + region.strides
    return Region(region.offset, shape, tuple(0 if n == 1 else s for n, s in zip(sizes, strides, strict=True)))


@settings(deadline=None)
@given(regions(), regions())
def test_two_regions_meet_when_they_share_an_element(one: Region, other: Region) -> None:
    shared = {offset for _, offset in elements(one)} & {offset for _, offset in elements(other)}
    assert may_meet(one, other) == bool(shared)
    assert may_meet(other, one) == bool(shared)


def test_an_unknown_region_may_meet_any() -> None:
    assert may_meet(None, Region(0, (1,), (1,)))
    assert may_meet(Region(0, (1,), (1,)), None)


def test_of_large_regions_too_it_is_told_whether_they_meet() -> None:
    even, odd = Region(0, (100_000,), (2,)), Region(1, (100_000,), (2,))
    assert not may_meet(even, odd)
    assert may_meet(even, Region(2, (100_000,), (2,)))
    assert may_meet(even, Region(99_999, (100_000,), (1,)))
    assert not may_meet(even, Region(200_001, (100_000,), (2,)))
    left, right = Region(0, (1_000, 500), (1_000, 1)), Region(500, (1_000, 500), (1_000, 1))
    assert not may_meet(left, right)
    assert may_meet(Region(0, (1_000, 501), (1_000, 1)), right)


@settings(deadline=None)
@given(pairs())
def test_a_region_that_is_read_for_one_position_and_written_for_another_is_found(pair: tuple[Region, Region]) -> None:
    written, read = pair
    if writes_one_element_twice(written):
        return  # which of several positions an element is written for is not defined there
    at = {offset: position for position, offset in elements(written)}
    clash = any(at.get(offset, position) != position for position, offset in elements(broadcast(read, written.shape)))
    assert reads_what_it_writes(written, read) == clash


def test_each_element_read_for_its_own_position_is_no_clash() -> None:
    region = Region(3, (4, 5), (5, 1))
    assert not reads_what_it_writes(region, region)


def test_a_transposed_read_of_a_square_is_a_clash() -> None:
    assert reads_what_it_writes(Region(0, (3, 3), (3, 1)), Region(0, (3, 3), (1, 3)))


def test_a_clash_in_a_large_tensor_is_found_on_its_first_entries() -> None:
    rows = 1_000_000
    assert reads_what_it_writes(Region(1, (rows,), (1,)), Region(0, (rows,), (1,)))


def test_a_read_that_does_not_broadcast_to_the_written_shape_is_none() -> None:
    assert not reads_what_it_writes(Region(0, (4,), (1,)), Region(0, (3,), (1,)))
    assert not reads_what_it_writes(Region(0, (4,), (1,)), Region(0, (2, 4), (4, 1)))
    assert reads_what_it_writes(Region(1, (4,), (1,)), Region(0, (1, 4), (4, 1)))


@settings(deadline=None)
@given(regions())
def test_an_element_that_stands_for_two_positions_is_found(region: Region) -> None:
    offsets = [offset for _, offset in elements(region)]
    assert writes_one_element_twice(region) == (len(set(offsets)) != len(offsets))


def test_a_layout_that_is_not_known_has_no_region() -> None:
    assert region_of(tensor(1)) == Region(0, (8,), (1,))
    for unknown in ({"shape": None}, {"strides": None}, {"offset": None}):
        assert region_of(tensor(1, **unknown)) is None
