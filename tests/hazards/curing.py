"""Cells with the diffs of their findings applied, and what a run of a program leaves: parameters, gradients, values."""

from __future__ import annotations

import contextlib
import io
import textwrap
import warnings
from typing import Any

import torch
from cells import run_cell
from hazards.patching import patched
from programs.score import unshown

from inplace_magic.report import Report


def watch_cell(shell: Any, source: str) -> Report:
    """The report of a cell with that source below the magic line."""
    with warnings.catch_warnings(), unshown():
        warnings.simplefilter("ignore")
        run_cell(shell, f"%%inplace_watch --out report\n{source}")
    report = shell.user_ns["report"]
    assert isinstance(report, Report)
    assert report.faults == []
    return report


def cured(source: str, report: Report) -> str:
    """The source with the diffs of all its findings applied."""
    diffs = [hazard.diff for hazard in report.hazards if hazard.diff and hazard.severity != "info"]
    return "\n".join(patched(["%%inplace_watch --out report", *source.splitlines()], diffs)[1:])


def diff_of(shell: Any, source: str) -> str:
    """The diff of the first finding of a cell."""
    report = watch_cell(shell, textwrap.dedent(source).strip("\n"))
    assert report.hazards
    return report.hazards[0].diff.partition("\n")[2]


def first_finding(shell: Any, source: str) -> Any:
    """The first finding of a cell, which has no fault of ours."""
    return watch_cell(shell, source).hazards[0]


def run(source: str, *, as_saved: bool = False) -> tuple[dict[str, torch.Tensor], str]:
    """What a program leaves, and the error that it ends with, empty where there is none.

    Args:
        source: the program, which is run as it stands.
        as_saved: everything that autograd saves is copied as it is saved, so that no later write reaches it and
            PyTorch's check does not look: the gradients are those that the forward pass meant.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    torch.manual_seed(0)
    copying = torch.autograd.graph.saved_tensors_hooks(lambda saved: saved.detach().clone(), lambda saved: saved)
    error = ""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            with copying if as_saved else contextlib.nullcontext():
                exec(compile(source, "program.py", "exec"), names)
        except Exception as raised:  # what it raises is what is looked at
            error = f"{type(raised).__name__}: {raised}"
    left: dict[str, torch.Tensor] = {}
    for name, value in names.items():
        if not name.startswith("_"):
            _put(left, name, value)
    return left, error


def _put(left: dict[str, torch.Tensor], name: str, value: Any, depth: int = 0) -> None:
    if isinstance(value, torch.Tensor):
        left[name] = value.detach().clone()
        if value.is_leaf and value.grad is not None:
            left[f"{name}.grad"] = value.grad.detach().clone()
    elif isinstance(value, torch.nn.Module):
        for path, entry in (*value.named_parameters(), *value.named_buffers()):
            _put(left, f"{name}.{path}", entry)
    elif isinstance(value, (list, tuple)) and depth < 3:
        for number, entry in enumerate(value):
            _put(left, f"{name}[{number}]", entry, depth + 1)


def differing(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor], *, within: str = "") -> list[str]:
    """The names under which two runs left other values, of those that begin with `within`."""
    names = [name for name in one.keys() | other.keys() if name.startswith(within)]
    return sorted(n for n in names if n not in one or n not in other or not _equal(one[n], other[n]))


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one.double(), other.double(), atol=1e-6, equal_nan=True)
