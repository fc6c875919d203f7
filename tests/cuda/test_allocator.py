"""The allocator's own account, on a machine with a GPU."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from memory.models import MODELS, conv_block
from memory.oracle import PassesOn
from on_device import (
    AT,
    DEVICE,
    GPU,
    LEVELS,
    at_both_levels,
    in_use,
    needs_gpu,
    net_bytes,
    program,
    python,
    quiet,
    trainer,
    watched,
)

import inplace_magic

LINES = {
    "a = torch.ones(1000, device=D)": 4000,
    "b = a.double() + 1": 8000,
    "a.add_(2)": 0,
    "c = b.view(10, 100).t()": 0,
    "d = torch.cat([c.float(), c.float()])": 8000,
    "e = torch.ones(3, device=D).unsqueeze(0)": 12,
    "f = (b * 2).sum()": 8,
    "g = torch.empty(1 << 20, dtype=torch.uint8, device=D)": 1 << 20,
    "g.resize_(3 << 20)": 2 << 20,
}
"""Lines of a program, and what each leaves allocated on a CPU."""


@at_both_levels
def test_each_line_has_the_bytes_that_the_allocator_tells_without_a_watch(level: str, tmp_path: Path) -> None:
    torch.ones(1, device=DEVICE)
    names, plain = {"torch": torch, "D": DEVICE}, []
    for line, on_cpu in LINES.items():
        before = in_use()
        exec(line, names)
        plain.append(in_use() - before if GPU else on_cpu)
    _names, report = program("\n".join(LINES), level, tmp_path)
    assert report is not None
    frame = report.to_frame("lines")
    frame = frame[frame["device"] == AT]
    assert [int(frame[frame["line"] == at]["net_bytes"].sum()) for at in range(1, len(LINES) + 1)] == plain


@at_both_levels
def test_an_in_place_relu_allocates_one_result_less(level: str) -> None:
    x, found = torch.randn(2, 3, 64, 64, device=DEVICE), {}
    for inplace in (False, True):
        block, kept = conv_block(inplace).to(DEVICE), []
        block(x)
        before = allocated()
        kept.append(block(x))
        plain = allocated() - before
        frame = watched(lambda block=block, kept=kept: kept.append(block(x)), level).to_frame("memory")
        found[inplace] = int(frame[frame["device"] == AT]["allocated_bytes"].sum())
        assert not GPU or plain == found[inplace]
    result = 2 * 10 * 62 * 62 * 4
    assert found[False] - found[True] == (-(-result // 512) * 512 if GPU else result)


def allocated() -> int:
    """Bytes that the allocator gave so far, those that came back included."""
    return int(torch.cuda.memory_stats()["allocated_bytes.all.allocated"]) if GPU else 0


@needs_gpu
@pytest.mark.parametrize("level", [*LEVELS, "writes"])
def test_a_watch_sets_back_no_peak_and_allocates_nothing(level: str) -> None:
    """At level `ops` PyTorch copies some gradients, as under any dispatch mode."""
    _model, step = trainer("ResNet-18")
    for _ in range(3):
        step()

    def counts(run: Callable[[], object]) -> list[int]:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        keys = ("allocation.all.allocated", "allocated_bytes.all.allocated")
        before = torch.cuda.memory_stats()
        run()
        after = torch.cuda.memory_stats()
        return [*(after[key] - before[key] for key in keys), torch.cuda.max_memory_allocated()]

    plain, seen = counts(step), counts(lambda: watched(step, level))
    assert plain == seen or level == "ops"
    large = torch.empty(64 << 20, device=DEVICE)
    del large
    before = torch.cuda.max_memory_allocated()
    watched(lambda: torch.ones(9, device=DEVICE) + 1, level)
    assert torch.cuda.max_memory_allocated() == before


@needs_gpu
def test_counters_that_were_set_back_before_the_watch_still_give_the_change() -> None:
    x, kept = torch.ones(1 << 18, device=DEVICE), []
    torch.cuda.reset_accumulated_memory_stats()
    for make in (lambda: x + 1, lambda: torch.ones(96 << 20, device=DEVICE)):  # from the cache, and with a new segment
        before = in_use()
        report = watched(lambda make=make: kept.append(make()))
        assert net_bytes(report) == in_use() - before


ALLOCATORS = ("expandable_segments:True", "backend:cudaMallocAsync")
OTHER_ALLOCATOR = """
with inplace_magic.watch() as watch:
    x = torch.ones(1 << 20, device=D)
    y = x * 2
    x.add_(1)
frame = watch.report.to_frame("memory")
print(watch.report.faults, int(frame["net_bytes"].sum()) - torch.cuda.memory_allocated(), sorted(set(frame["device"])))
"""


@needs_gpu
@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_another_allocator_is_counted_as_well(allocator: str) -> None:
    done = python(OTHER_ALLOCATOR, PYTORCH_CUDA_ALLOC_CONF=allocator, PYTORCH_ALLOC_CONF=allocator)
    assert done[:2] == (0, "[] 0 ['cuda:0']"), done


@needs_gpu
@at_both_levels
def test_a_report_keeps_no_memory_of_the_device(level: str) -> None:
    _model, step = trainer("GPT block")
    for _ in range(2):
        step()
    gc.collect()
    before = in_use()
    report = watched(step, level)
    repr(report), report.to_frame("tensors")
    step()
    gc.collect()
    assert in_use() == before


@needs_gpu
@at_both_levels
def test_work_on_a_side_stream_is_counted_and_gives_the_same_numbers(level: str) -> None:
    side, x = torch.cuda.Stream(), torch.randn(512, 512, device=DEVICE)

    def run(results: list[torch.Tensor]) -> None:
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x @ x
            y.relu_()
        torch.cuda.current_stream().wait_stream(side)
        y.record_stream(torch.cuda.current_stream())
        results.append(y + 1)

    plain: list[torch.Tensor] = []
    seen: list[torch.Tensor] = []
    run(plain)
    torch.cuda.synchronize()
    before = in_use()
    report = quiet(lambda: run(seen), level)
    assert net_bytes(report) == in_use() - before
    assert torch.equal(plain[0], seen[0])


@needs_gpu
def test_pinned_memory_is_not_numpys_and_a_late_copy_into_it_is_no_foreign_write() -> None:
    buffer, out = torch.zeros(256).pin_memory(), torch.zeros(1 << 16).pin_memory()
    x = torch.randn(4096, 4096, device=DEVICE)

    def run() -> torch.Tensor:
        for _ in range(20):
            y = x @ x
        buffer.copy_(y[0, :256], non_blocking=True)
        out.copy_(y.flatten()[: 1 << 16], non_blocking=True)
        a = torch.ones(2) + 1
        torch.cuda.synchronize()
        return a * 2 + buffer[:2]

    report = quiet(run)
    assert report.trace.foreign == ()
    assert [storage for storage in report.trace.storages if storage.foreign] == []
    assert not any("NumPy" in sentence for sentence in report.blindness)


def step_on_gpu(name: str) -> Callable[[], None]:
    make, shape = MODELS[name]
    torch.manual_seed(0)
    model, x = make().cuda(), torch.randn(shape, device="cuda")

    def step() -> None:
        model(x).square().mean().backward()
        model.zero_grad()

    step()
    torch.cuda.synchronize()
    return step


@needs_gpu
@at_both_levels
@pytest.mark.parametrize("name", MODELS)
def test_the_rows_sum_to_the_change_of_memory_allocated(name: str, level: str) -> None:
    make, shape = MODELS[name]
    before = torch.cuda.memory_allocated()
    with inplace_magic.watch(level=level) as watch:
        model, x = make().cuda(), torch.randn(shape, device="cuda")
        model(x).square().mean().backward()
    change = torch.cuda.memory_allocated() - before

    for view in ("memory", "lines", *(["ops"] if level == "ops" else [])):
        frame = watch.report.to_frame(view)
        assert frame[frame["device"] == "cuda:0"]["net_bytes"].sum() == change


@needs_gpu
@at_both_levels
@pytest.mark.parametrize("name", MODELS)
def test_the_watched_peak_is_the_unwatched_peak(name: str, level: str) -> None:
    """At level `ops` that of a run under an empty dispatch mode: with any mode, PyTorch copies some gradients."""
    step = step_on_gpu(name)
    torch.cuda.reset_peak_memory_stats()
    with PassesOn() if level == "ops" else nullcontext():
        step()
    plain = torch.cuda.max_memory_allocated()

    torch.cuda.reset_peak_memory_stats()
    with inplace_magic.watch(level=level):
        step()

    assert torch.cuda.max_memory_allocated() == plain


FIRST_USE = """
with inplace_magic.watch(level={level!r}) as watch:
    x = torch.randn(64, 64, device="cuda")
    y = x @ x
frame = watch.report.to_frame("memory")
assert watch.report.faults == []
assert frame["net_bytes"].sum() == torch.cuda.memory_allocated()
results = frame[~frame["name"].str.startswith("memory of no tensor")]
assert results["allocated_bytes"].sum() == 2 * 64 * 64 * 4, frame.to_string()
"""


@needs_gpu
@at_both_levels
def test_the_first_use_of_a_gpu_is_in_the_sum_and_the_workspace_on_a_row_of_its_own(level: str) -> None:
    done = python(FIRST_USE.format(level=level))
    assert done[0] == 0, done


@needs_gpu
def test_cuda_is_not_initialised_by_a_watch() -> None:
    done = python("""
with inplace_magic.watch(): torch.ones(2) + 1
assert not torch.cuda.is_initialized() and not torch.cuda._is_in_bad_fork()
""")
    assert done[0] == 0, done
