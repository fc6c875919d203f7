"""Healthy models stay what they are under the watch, and nothing is said against them.

The programs in ``healthy/programs.md`` are whole training loops as people write them: in-place ReLUs and sums, fused
and foreach optimizers, buffers, caches, replay memories, averaged weights. ``benchmarks/healthy_models.py`` runs them
too, with the model families of ``transformers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from healthy.compare import LEVELS, Outcome, changed, programs, run

PROGRAMS = programs()
OVERWRITTEN = """\
import torch
weight = torch.ones(3, requires_grad=True)
probs = torch.sigmoid(weight)
probs[0] = 0.0
kept = [weight, probs]
"""


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """On tensors this small a second thread only waits for the first, on a busy machine ten times as long."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def plainly() -> Callable[[Any, str], Outcome]:
    """Runs a program unwatched, once for all tests."""
    known: dict[str, Outcome] = {}

    def outcome(shell: Any, name: str) -> Outcome:
        if name not in known:
            known[name] = run(shell, PROGRAMS[name])
        return known[name]

    return outcome


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_training_cell_ends_bit_for_bit_as_unwatched_and_nothing_is_found(
    loaded_shell: Any, plainly: Callable[[Any, str], Outcome], name: str, level: str
) -> None:
    plain = plainly(loaded_shell, name)
    watched = run(loaded_shell, PROGRAMS[name], level=level)
    assert watched.report is not None
    assert watched.report.trace.backwards
    assert sum(call.kind == "in-place" for call in watched.report.calls) > 10
    assert "losses[2]" in {path[:9] for path in plain.facts}
    assert changed(plain, watched) == []
    assert watched.alarms == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_model_trained_cell_by_cell_under_on_and_off_is_quiet_too(
    loaded_shell: Any, plainly: Callable[[Any, str], Outcome], name: str
) -> None:
    watched = run(loaded_shell, PROGRAMS[name], "cells", "calls")
    assert changed(plainly(loaded_shell, name), watched) == []
    assert watched.alarms == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_model_trained_in_a_function_is_quiet_too(loaded_shell: Any, name: str) -> None:
    plain = run(loaded_shell, PROGRAMS[name], "function")
    watched = run(loaded_shell, PROGRAMS[name], "function", "calls")
    assert any("weight" in path for path in plain.facts)
    assert changed(plain, watched) == []
    assert watched.alarms == []


@pytest.mark.parametrize("way", ["cell", "cells", "function"])
def test_the_comparison_would_tell_an_alarm(loaded_shell: Any, way: str) -> None:
    watched = run(loaded_shell, OVERWRITTEN, way, "calls")
    assert [line.split()[0] for line in watched.alarms] == ["saved-tensor-overwritten"]


def test_the_comparison_would_tell_a_missing_report() -> None:
    assert Outcome({}).alarms == ["no report was made"]


def test_the_comparison_would_tell_one_changed_bit_of_a_gradient(loaded_shell: Any) -> None:
    program = "import torch\nnet = torch.nn.Linear(2, 1)\nnet(torch.ones(2)).backward()\n"
    plain = run(loaded_shell, program)
    other = run(loaded_shell, program + "net.weight.grad.view(torch.int32)[0, 1] ^= 1\n")
    assert changed(plain, other) == ["net.weight.grad"]
