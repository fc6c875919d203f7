"""What a watch costs on a GPU, and what it leaves as it is: figures for ``benchmarks/on_gpu_page.py``.

    python benchmarks/on_gpu.py FOLDER

writes ``FOLDER/figures.json``. Times are medians of ten steps, each between two waits for the device. Without a GPU
it runs on the CPU, where most of it says nothing: so it can be tried anywhere.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from memory.models import MODELS
from peers import EmptyFunctionMode
from torch import nn

import inplace_magic

GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
LEVELS = ("writes", "calls", "ops")
NETS = {"resnet": "ResNet-18", "gpt": "GPT block"}
"""Small ones, of ``tests/memory/models.py``."""
RUNS = 10 if GPU else 1
LINES = (
    "a = torch.ones(1000, device=D)",
    "b = a.double() + 1",
    "a.add_(2)",
    "c = b.view(10, 100).t()",
    "d = torch.cat([c.float(), c.float()])",
    "e = torch.ones(3, device=D).unsqueeze(0)",
    "f = (b * 2).sum()",
    "g = torch.empty(1 << 20, dtype=torch.uint8, device=D)",
    "g.resize_(3 << 20)",
)
Step = Callable[[], object]


def training(name: str, make: Callable[[Any], torch.optim.Optimizer]) -> Step:
    """A training step, after three that are not counted."""
    torch.manual_seed(0)
    net, shape = MODELS[NETS[name]]
    model, x = net().to(DEVICE), torch.randn(shape, device=DEVICE)
    optimizer = make(list(model.parameters()))

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    for _ in range(3):
        step()
    return step


def milliseconds(step: Step) -> list[float]:
    """The median of some steps."""
    walls = []
    for _ in range(RUNS):
        wait()
        began = time.perf_counter()
        step()
        wait()
        walls.append(1e3 * (time.perf_counter() - began))
    return [sorted(walls)[RUNS // 2]]


def wait() -> None:
    """For the device."""
    if GPU:
        torch.cuda.synchronize()


def sgd(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, 0.05, momentum=0.9)


def overhead(name: str) -> dict[str, list[float]]:
    """Milliseconds by the way in which the step is run."""
    step = training(name, sgd)
    found = {"plain": milliseconds(step)}
    ways: dict[str, AbstractContextManager[Any]] = {"empty mode": EmptyFunctionMode()}
    for way, context in (ways | {level: inplace_magic.watch(level=level) for level in LEVELS}).items():
        with context:
            step()
            found[way] = milliseconds(step)
    return found


def allocations(step: Step) -> dict[str, int]:
    """Blocks and bytes that a step allocates, and the most that is in use within it."""
    if not GPU:
        return dict.fromkeys(("allocation", "allocated_bytes", "peak"), 0)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_stats()
    step()
    after = torch.cuda.memory_stats()
    keys = ("allocation", "allocated_bytes")
    changes = {key: after[f"{key}.all.allocated"] - before[f"{key}.all.allocated"] for key in keys}
    return {**changes, "peak": torch.cuda.max_memory_allocated()}


def driver_calls(step: Step) -> dict[str, int]:
    """How often the step waits, copies to the host and launches, as the profiler counts it."""
    wait()
    with torch.profiler.profile() as seen:
        step()
    names = [event.name for event in seen.events()]
    return {key: sum(key in name for name in names) for key in ("Synchronize", "DtoH", "cudaLaunchKernel")}


def watched(step: Step, level: str | None) -> Step:
    def run() -> None:
        with nullcontext() if level is None else inplace_magic.watch(level=level):
            step()

    return run


def bytes_of(run: Step) -> int:
    before = torch.cuda.memory_allocated() if GPU else 0
    run()
    return torch.cuda.memory_allocated() - before if GPU else 0


def relu(*, inplace: bool) -> list[int]:
    """Bytes that the forward pass of a block allocates."""
    block = nn.Sequential(nn.Conv2d(3, 10, 3), nn.InstanceNorm2d(10), nn.ReLU(inplace=inplace)).to(DEVICE)
    x = torch.randn(2, 3, 64, 64, device=DEVICE)
    block(x)
    return [allocations(lambda: block(x))["allocated_bytes"]]


def main() -> None:
    """Measures, and writes the file."""
    figures: dict[str, Any] = {f"overhead_{name}": overhead(name) for name in NETS}
    step = training("resnet", sgd)
    launching = training("gpt", lambda parameters: torch.optim.AdamW(parameters, 1e-3, fused=True))
    for level in LEVELS:
        ways = (None, level)
        watched(step, level)()
        figures[f"counts_{level}"] = [allocations(watched(step, way)) for way in ways]
        figures[f"cuda_calls_{level}"] = [driver_calls(watched(launching, way)) for way in ways]
    names = {"torch": torch, "D": DEVICE}
    told = [bytes_of(lambda line=line: exec(line, names)) for line in LINES]  # type: ignore[misc]
    figures["lines"] = {"code": LINES, "bytes": told}
    figures["relu_calls"] = {str(inplace).lower(): relu(inplace=inplace) for inplace in (False, True)}
    began = time.perf_counter()
    for _ in range(1000):
        torch.cuda.memory.memory_stats_as_nested_dict(0)
    figures["us_a_reading"] = 1e3 * (time.perf_counter() - began)
    device = torch.cuda.get_device_name() if GPU else "no GPU"
    facts = {"torch": torch.__version__, "device": device, "nets": NETS, "figures": figures}
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "figures.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
