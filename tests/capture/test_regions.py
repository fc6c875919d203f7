"""The elements that ``x[index] = …`` writes, worked out without asking torch."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
from capture.watching import call_of, report_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import inplace_magic
from inplace_magic.capture.elements.regions import basic_index_region
from inplace_magic.record.events import Region

BOUNDS = st.one_of(st.none(), st.integers(-6, 6))
ENTRIES = st.one_of(
    st.integers(-4, 3), st.none(), st.just(Ellipsis), st.builds(slice, BOUNDS, BOUNDS, st.sampled_from((None, 1, 2, 3)))
)


def elements(region: Region) -> set[int]:
    return {
        region.offset + sum(i * step for i, step in zip(at, region.strides, strict=True))
        for at in product(*map(range, region.shape))
    }


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=3), st.booleans(), st.one_of(ENTRIES, st.lists(ENTRIES, max_size=4)))
def test_the_region_of_a_basic_index_is_the_one_that_torch_takes(sizes: list[int], turned: bool, index: Any) -> None:
    x = torch.zeros(sizes)
    x = x.permute(tuple(reversed(range(x.dim())))) if turned else x
    index = tuple(index) if isinstance(index, list) else index
    assume(not isinstance(index, tuple) or index.count(Ellipsis) < 2)
    try:
        view = x[index]
    except (IndexError, ValueError):
        return
    found = basic_index_region(tuple(x.shape), x.stride(), int(x.storage_offset()), index)
    assert found is not None
    assert found.shape == tuple(view.shape)
    assert elements(found) == elements(Region(int(view.storage_offset()), tuple(view.shape), view.stride()))


@pytest.mark.parametrize("index", [[0, 1], (0, [1]), torch.tensor([0]), True, "name", 1.5])
def test_any_other_index_has_no_region(index: Any) -> None:
    assert basic_index_region((2, 2), (2, 1), 0, index) is None


@pytest.mark.parametrize("index", [(0, 0, 0), (slice(torch.tensor(0), None),)])
def test_an_index_that_torch_must_judge_has_none(index: Any) -> None:
    assert basic_index_region((2, 2), (2, 1), 0, index) is None


def test_a_write_by_index_is_recorded_with_its_region() -> None:
    x = torch.zeros(3, 4)
    with inplace_magic.watch() as watch:
        x[1:, 2] = 1
    (mutation,) = call_of(watch, "Tensor.__setitem__").mutations
    assert mutation.region == Region(6, (2,), (4,))


def test_a_write_by_mask_is_recorded_with_unknown_elements() -> None:
    x = torch.zeros(3)
    with inplace_magic.watch() as watch:
        x[x == 0] = 1
    (mutation,) = call_of(watch, "Tensor.__setitem__").mutations
    assert mutation.region is None


def test_two_ellipses_in_one_index_are_taken_as_torch_takes_them() -> None:
    x = torch.zeros(2, 3)
    with inplace_magic.watch() as watch:
        x[..., ...] = 1
    assert report_of(watch).faults == []
    (mutation,) = call_of(watch, "Tensor.__setitem__").mutations
    assert mutation.region in (None, Region(0, (2, 3), (3, 1)))
