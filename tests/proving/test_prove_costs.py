"""What trying a fix costs: how far runs go, and what is said beforehand."""

from __future__ import annotations

from typing import Any

import pytest
from cells import run_cell
from proving.trying import BROKEN, first, watched

from inplace_magic.magics import output as progress
from inplace_magic.rerun import memory as room


def test_a_long_loop_is_stopped_some_passes_after_the_one_that_failed(ip: Any) -> None:
    cell = "for n in range(1000):\n    assert n < 20\n    y = torch.sigmoid(x)\n    y.mul_(2)\n    y.sum().backward()"
    report = watched(ip, cell)

    proof = first(report.prove()).proof

    assert proof is not None
    assert proof.verdict == "proven"
    assert "stopped 8 backward passes after the failing one" in proof.reason


def test_copies_that_take_over_half_of_what_is_free_are_told_of_beforehand(
    ip: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = watched(ip, BROKEN)
    report.prove()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(room, "free_bytes", lambda _device: 31)  # of 16 B and a view's 16

    report.prove()

    assert capsys.readouterr().err.count("over half of the 0.0 GiB that are free on the CPU") == 1


def test_before_the_cell_runs_two_copies_are_counted_its_own_and_that_of_a_run(
    ip: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for free in (65, 63):  # two copies of 16 B are half of 64
        monkeypatch.setattr(room, "free_bytes", lambda _device, free=free: free)
        told.append(run_cell(ip, f"%%inplace_watch --prove -o report\n{BROKEN}").err + capsys.readouterr().err)
    assert [text.count("the copies for a second run take") for text in told] == [0, 1]


def test_runs_are_counted_by_a_bar_where_somebody_waits(
    ip: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "DELAY_OF_RUNS", 0.0)
    for there in (False, True):
        monkeypatch.setattr(progress, "is_somebody_there", lambda *_shell, there=there: there)
        run_cell(ip, BROKEN)
        told = run_cell(ip, "%inplace_why").err + capsys.readouterr().err
        assert ("%inplace_why: " in told and "runs" in told) == there
