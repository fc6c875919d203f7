"""Healthy models stay what they are under the watch, and nothing is said against them.

The programs in ``healthy/programs`` are whole training loops as people write them: in-place ReLUs and sums, fused and
foreach optimizers, buffers, caches, replay memories, averaged weights. ``benchmarks/healthy_models.py`` runs them too,
with the model families of ``transformers``.
"""

from __future__ import annotations

from typing import Any

import pytest
from healthy.compare import LEVELS, Outcome, changed, programs, run

PROGRAMS = programs()
OVERWRITTEN = """\
weight = torch.ones(3, requires_grad=True)
probs = torch.sigmoid(weight)
probs[0] = 0.0
"""


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_training_cell_ends_bit_for_bit_as_unwatched_and_nothing_is_found(
    loaded_shell: Any, name: str, level: str
) -> None:
    plain = run(loaded_shell, PROGRAMS[name])
    watched = run(loaded_shell, PROGRAMS[name], level=level)
    assert changed(plain, watched) == []
    assert watched.alarms == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_model_trained_cell_by_cell_under_on_and_off_is_quiet_too(loaded_shell: Any, name: str) -> None:
    plain = run(loaded_shell, PROGRAMS[name], "cells")
    watched = run(loaded_shell, PROGRAMS[name], "cells", "calls")
    assert changed(plain, watched) == []
    assert watched.alarms == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_model_trained_in_a_function_is_quiet_too(loaded_shell: Any, name: str) -> None:
    plain = run(loaded_shell, PROGRAMS[name], "function")
    watched = run(loaded_shell, PROGRAMS[name], "function", "calls")
    assert changed(plain, watched) == []
    assert watched.alarms == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_trains_parameters_and_writes_in_place(loaded_shell: Any, name: str) -> None:
    watched = run(loaded_shell, PROGRAMS[name], level="calls")
    assert watched.report is not None
    assert watched.report.trace.backwards
    assert any(path.endswith((".weight.grad", ".weight_orig.grad", ".original.grad")) for path in watched.facts)
    assert any(path.startswith("losses[2]") for path in watched.facts)
    assert sum(call.kind == "in-place" for call in watched.report.calls) > 10


@pytest.mark.parametrize("way", ["cell", "cells", "function"])
def test_the_comparison_would_tell_an_alarm(loaded_shell: Any, way: str) -> None:
    program = f"import torch\n{OVERWRITTEN}kept = [weight, probs]\n"
    watched = run(loaded_shell, program, way, "calls")
    assert [line.split()[0] for line in watched.alarms] == ["saved-tensor-overwritten"]


def test_the_comparison_would_tell_a_missing_report() -> None:
    assert Outcome({}).alarms == ["no report was made"]


def test_the_comparison_would_tell_one_changed_bit_of_a_gradient(loaded_shell: Any) -> None:
    program = "import torch\nnet = torch.nn.Linear(2, 1)\nnet(torch.ones(2)).backward()\n"
    plain = run(loaded_shell, program)
    other = run(loaded_shell, program + "net.weight.grad.view(torch.int32)[0, 1] ^= 1\n")
    assert changed(plain, other) == ["net.weight.grad"]
