"""What the tests in ``tests/cuda`` share: where they run, how a program is watched there, networks and their steps.

Without a GPU those that can run on the CPU do, so that they stay true; see ``tests/cuda/conftest.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from memory.models import MODELS
from torch import Tensor, nn

import inplace_magic
from inplace_magic.report import Report

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before CUDA begins: deterministic algorithms want it

GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
AT = "cuda:0" if GPU else "cpu"
"""How a report names it."""
LEVELS = ("calls", "ops")
ROOT = Path(__file__).resolve().parent.parent

needs_gpu = pytest.mark.needs_gpu
"""Of a test that says nothing without one."""
at_both_levels = pytest.mark.parametrize("level", LEVELS)


def alarms(report: Report) -> list[tuple[str, str]]:
    """Code and message of what the report says to be wrong."""
    return [(finding.code, finding.message) for finding in report.hazards if finding.is_alarm]


def watched(run: Callable[[], object], level: str = "calls") -> Report:
    """The report of a run, in which nothing of ours has failed."""
    with inplace_magic.watch(level=level) as watch:
        run()
    assert watch.report is not None
    assert watch.report.faults == []
    return watch.report


def quiet(run: Callable[[], object], level: str = "calls") -> Report:
    """The same of a run with nothing wrong."""
    report = watched(run, level)
    assert alarms(report) == []
    return report


def program(
    text: str, level: str | None, folder: Path, device: str = DEVICE, **given: Any
) -> tuple[Any, Report | None]:
    """Runs a text as a file of its own, watched at a level or not: its names, and the report.

    Args:
        text: of the program, in which ``D`` is the device.
        level: of the watch; None: unwatched.
        folder: where the file is written.
        device: where it runs.
        given: more names.
    """
    path = folder / "program.py"
    path.write_text(textwrap.dedent(text))
    names = {"__name__": "__main__", "__file__": str(path), "torch": torch, "D": device, **given}
    code = compile(path.read_text(), str(path), "exec")
    if level is None:
        exec(code, names)
        return names, None
    report = watched(lambda: exec(code, names), level)
    report.to_frame("lines")  # while the file is there
    return names, report


def python(body: str, **environment: str) -> tuple[int, str, str]:
    """Exit status, output and the end of the errors of a process of its own."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"D = {DEVICE!r}\nimport torch, inplace_magic\n{textwrap.dedent(body)}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()[-400:]


def sgd(parameters: Any) -> torch.optim.Optimizer:
    """The optimizer of a test that wants any."""
    return torch.optim.SGD(parameters, 0.05, momentum=0.9)


def trainer(name: str, make: Callable[[Any], torch.optim.Optimizer] = sgd) -> tuple[nn.Module, Callable[[], Tensor]]:
    """A network of ``memory.models`` on the device, new and always the same, and a step of its training."""
    torch.manual_seed(0)
    new, shape = MODELS[name]
    model, x = new().to(DEVICE), torch.randn(shape, device=DEVICE)
    optimizer = make(list(model.parameters()))

    def step() -> Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return model, step


def bits(model: nn.Module, *more: Tensor) -> list[Tensor]:
    """All that a network holds, copied to the CPU."""
    return [tensor.detach().cpu().clone() for tensor in (*model.state_dict().values(), *more)]


def differ(one: Sequence[Tensor], other: Sequence[Tensor]) -> list[int]:
    """Positions of the tensors that are not the same, bit for bit."""
    return [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if not torch.equal(a, b)]


def in_use() -> int:
    """Bytes of the device."""
    return torch.cuda.memory_allocated() if GPU else 0


def net_bytes(report: Report) -> int:
    """What the report says of the change of :func:`in_use`."""
    frame = report.to_frame("memory")
    return int(frame[frame["device"] == AT]["net_bytes"].sum())
