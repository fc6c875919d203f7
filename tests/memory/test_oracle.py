"""Level `ops` against PyTorch's profiler, which hears of every block from the allocator and shares no code with us."""

from __future__ import annotations

from collections import Counter

import pytest
from memory.models import MODELS, step_of
from memory.oracle import allocations, total

import inplace_magic


@pytest.mark.parametrize("name", MODELS)
def test_the_rows_are_what_the_allocator_gave_to_operators_to_the_byte(name):
    step = step_of(name)
    with inplace_magic.watch(level="ops"):
        step()

    def watched():
        with inplace_magic.watch(level="ops") as watch:
            step()
        return watch.report

    seen, report = allocations(watched)

    ours = Counter(s.nbytes for s in report.trace.storages if s.born is not None and s.nbytes)
    assert seen.sizes - seen.scratch - seen.numbers == ours
    assert set(seen.numbers) <= {8}
    for view in ("ops", "memory", "lines"):
        assert report.to_frame(view)["allocated_bytes"].sum() == total(ours)
    assert report.to_frame("lines")["retained_bytes"].sum() == seen.kept


@pytest.mark.parametrize("level", ["calls", "ops"])
@pytest.mark.parametrize("name", MODELS)
def test_the_rows_sum_to_the_change_of_live_bytes(name, level):
    step = step_of(name)
    with inplace_magic.watch(level=level) as watch:
        step()

    storages = watch.report.trace.storages
    before = sum(s.nbytes for s in storages if s.born is None)
    after = sum(s.nbytes for s in storages if s.ended is None)
    for view in ("memory", "lines", *(["ops"] if level == "ops" else [])):
        assert watch.report.to_frame(view)["net_bytes"].sum() == after - before


def test_gradients_that_backward_made_are_billed_to_it_at_level_calls():
    import torch

    weight = torch.randn(100, requires_grad=True)
    with inplace_magic.watch() as watch:
        weight.sum().backward()

    rows = watch.report.to_frame("memory").set_index("name")
    assert rows.loc["Tensor.backward", "allocated_bytes"] == 400
    assert weight.grad is not None
