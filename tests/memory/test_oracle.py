"""Level `ops` against PyTorch's profiler, which hears of every block from the allocator and shares no code with us."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from memory.models import MODELS, step_of
from memory.oracle import PassesOn, allocations, names_operators, older, total
from torch import nn

import inplace_magic


def watched(name, level):
    """A function that runs a training step under a watch and gives the report."""
    step = step_of(name)

    def run():
        with inplace_magic.watch(level=level) as watch:
            step()
        return watch.report

    return run


@pytest.mark.parametrize("name", MODELS)
def test_the_rows_are_what_the_allocator_gave_to_operators_to_the_byte(name):
    if not names_operators():
        pytest.skip("this PyTorch's profiler does not tell what an operator allocated from what none did")
    seen, report = allocations(watched(name, "ops"))

    ours = Counter(s.nbytes for s in report.trace.storages if s.born is not None and s.nbytes)
    assert seen.sizes - seen.scratch - seen.numbers == ours
    assert set(seen.numbers) <= {8}
    for view in ("ops", "memory", "lines"):
        frame = report.to_frame(view)
        assert frame["allocated_bytes"].sum() == total(ours)
        assert frame["net_bytes"].sum() == seen.net
        assert frame["retained_bytes"].sum() == seen.kept
        assert frame["peak_bytes"].max() - older(report) == seen.peak


@pytest.mark.parametrize("name", MODELS)
def test_a_watch_of_calls_changes_no_allocation_of_the_program(name):
    plain, _ = allocations(step_of(name))
    seen, _ = allocations(watched(name, "calls"))

    assert seen.sizes == plain.sizes


@pytest.mark.parametrize("name", ["ResNet-18", "GPT block"])
def test_a_watch_of_operators_allocates_no_more_than_any_dispatch_mode(name):
    step = step_of(name)

    def empty():
        with PassesOn():
            step()

    plain, _ = allocations(empty)
    seen, _ = allocations(watched(name, "ops"))

    assert seen.sizes == plain.sizes


@pytest.mark.parametrize(("inplace", "wanted"), [(False, 1_021_024), (True, 713_504)])
def test_the_in_place_twin_of_a_block_allocates_one_result_fewer(inplace, wanted):
    block = nn.Sequential(nn.Conv2d(3, 10, 3), nn.InstanceNorm2d(10), nn.ReLU(inplace=inplace))
    with inplace_magic.watch(level="ops") as watch:
        block(torch.randn(2, 3, 64, 64))

    for view in ("ops", "memory", "lines"):
        assert watch.report.to_frame(view)["allocated_bytes"].sum() == wanted


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
    weight = torch.randn(100, requires_grad=True)
    with inplace_magic.watch() as watch:
        weight.sum().backward()

    rows = watch.report.to_frame("memory").set_index("name")
    assert rows.loc["Tensor.backward", "allocated_bytes"] == 400
    assert weight.grad is not None


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_a_resized_storage_gives_its_block_back_and_takes_a_new_one(level):
    with inplace_magic.watch(level=level) as watch:
        buffer = torch.empty(10)
        buffer.resize_(1000)
        out = torch.empty(0)
        torch.add(buffer[:50], 1, out=out)

    rows = watch.report.to_frame("memory").groupby("name")[["allocated_bytes", "freed_bytes", "retained_bytes"]].sum()
    assert rows.loc["Tensor.resize_"].tolist() == [4000, 40, 4000]
    assert rows.loc["torch.add"].tolist() == [200, 0, 200]
    assert rows["retained_bytes"].sum() == 4200


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_a_storage_that_is_emptied_where_no_probe_sees_it_is_freed_once(level):
    with inplace_magic.watch(level=level) as watch:
        shard = torch.ones(100)
        shard.untyped_storage().resize_(0)

    frame = watch.report.to_frame("lines")
    assert (frame["allocated_bytes"].sum(), frame["freed_bytes"].sum(), frame["retained_bytes"].sum()) == (400, 400, 0)


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_memory_that_torch_does_not_allocate_is_not_counted(level):
    with inplace_magic.watch(level=level) as watch:
        shared = torch.from_numpy(np.zeros(1000))
        shape_only = torch.empty(1000, device="meta")

    assert watch.report.to_frame("lines")["allocated_bytes"].sum() == 0
    assert watch.report.to_frame("lines")["peak_bytes"].sum() == 0
    assert (shared.numel(), shape_only.numel()) == (1000, 1000)


def test_an_operator_below_no_call_is_counted_though_none_is_there_to_bill():
    x = torch.ones(100)
    with inplace_magic.watch(level="ops") as watch, torch._C.DisableTorchFunction():
        y = x + 1

    assert watch.report.to_frame("ops").set_index("name").loc["aten.add.Tensor", "allocated_bytes"] == y.nbytes
    lines = watch.report.to_frame("lines").set_index("place")
    assert lines.loc["outside any torch call", "allocated_bytes"] == y.nbytes
