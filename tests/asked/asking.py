"""Asking a report about a program: the program runs as a cell, once plainly and once watched, in namespaces of its own.

Both runs must end alike, tensor for tensor; only then does the report speak about the user's program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from cells import run_cell

from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.report import Report

PRELUDE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
"""


@dataclass(frozen=True)
class Asked:
    """What a watched cell left behind."""

    report: Report
    error: BaseException | None
    """What the cell raised; the same, in type and text, as without the watch."""
    user: dict[str, Any]
    """The namespace after the watched run."""

    def calls(self, line: int) -> list[CallEvent]:
        """The calls that a line of the cell made, looks at a tensor left out; the magic is line 1."""
        return [
            call
            for call in self.report.calls
            if call.callsite is not None and call.callsite.line == line and call.kind != "query"
        ]

    def call(self, line: int) -> CallEvent:
        """The one call that a line of the cell made."""
        (call,) = self.calls(line)
        return call

    def frame(self, view: Any) -> pd.DataFrame:
        """A table of the report, with the cell's line numbers as its index where it has them."""
        table = self.report.to_frame(view)
        return table.set_index("line", drop=False) if "line" in table else table

    def node(self, number: int | None) -> str | None:
        """The name of an autograd node."""
        return next((node.name for node in self.report.trace.nodes if node.node == number), None)


@dataclass(frozen=True)
class Asker:
    """Runs programs in one shell, at one level."""

    shell: Any
    level: str

    def __call__(self, cell: str, *, given: str = "") -> Asked:
        """Runs `cell` plainly and watched, each after ``PRELUDE`` and the unwatched cell `given`."""
        plain_error, plain = self._run(given, cell)
        error, user = self._run(given, f"%%inplace_watch -o report --level {self.level}\n{cell}")
        assert (type(error), str(error)) == (type(plain_error), str(plain_error))
        for name, tensor in tensors_of(plain).items():
            assert_same_tensor(user[name], tensor, name)
        report = user["report"]
        assert isinstance(report, Report)
        assert report.faults == []
        return Asked(report, error, user)

    def _run(self, given: str, cell: str) -> tuple[BaseException | None, dict[str, Any]]:
        before = set(self.shell.user_ns)
        for text in (PRELUDE, given):
            ran = run_cell(self.shell, text)
            assert ran.error is None, ran.error
        error = run_cell(self.shell, cell).error
        user = dict(self.shell.user_ns)
        for name in user.keys() - before:  # not `shell.reset`, which collects garbage for as long as the tests take
            del self.shell.user_ns[name]
        return error, user


def tensors_of(namespace: dict[str, Any]) -> dict[str, torch.Tensor]:
    """The tensors of a namespace, IPython's own history left out."""
    return {
        name: value for name, value in namespace.items() if isinstance(value, torch.Tensor) and not name.startswith("_")
    }


def assert_same_tensor(found: torch.Tensor, wanted: torch.Tensor, name: str) -> None:
    """Values, version, place in the graph and gradient are equal, bit for bit."""
    assert torch.equal(found, wanted), name
    assert found._version == wanted._version, name
    assert (found.requires_grad, found.is_leaf) == (wanted.requires_grad, wanted.is_leaf), name
    assert type(found.grad_fn) is type(wanted.grad_fn), name
    if wanted.is_leaf and wanted.grad is not None:
        assert found.grad is not None, name
        assert torch.equal(found.grad, wanted.grad), name


def only_write(call: CallEvent) -> Mutation:
    """The one mutation of a call."""
    (mutation,) = call.mutations
    return mutation


def alarms(report: Report) -> list[str]:
    """Codes of the findings that say that something is wrong."""
    return [finding.code for finding in report.hazards if finding.severity != "info"]


def births(report: Report) -> int:
    """How many storages the watched calls made."""
    return sum(storage.born is not None for storage in report.trace.storages)
