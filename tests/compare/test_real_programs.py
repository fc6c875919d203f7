"""Training programs with optimizers, schedulers, scalers, replay memories and recurrent states: a comparison runs what
the cell would run, bit for bit, and leaves no trace of it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from cells import run_cell
from healthy.compare import facts, programs

from inplace_magic.magics.compare import program_of_cell
from inplace_magic.rerun.program import unprinted
from inplace_magic.rerun.run import Runner

NAMES = ("dqn", "transformer_mixed_precision", "wgan_penalty")


def prepare(shell: Any, name: str) -> tuple[str, str]:
    """Runs the program's first part; gives back the part to compare."""
    first, _, rest = programs()[name].partition("# %%\n")
    torch.manual_seed(0)
    assert run_cell(shell, first).error is None
    return first, rest


def everything(shell: Any) -> dict[str, str]:
    left = {name: value for name, value in shell.user_ns.items() if not name.startswith("_") and name != "result"}
    return dict(facts("", left, set()))


@pytest.mark.parametrize("name", NAMES)
def test_a_comparison_leaves_a_training_program_untouched(loaded_shell: Any, name: str) -> None:
    _, rest = prepare(loaded_shell, name)
    before, generator = everything(loaded_shell), torch.get_rng_state()
    ran = run_cell(loaded_shell, f"%%inplace_compare --flip --repeats 0 -o result\n{rest}")
    assert ran.error is None or "nothing to flip" in str(ran.error)
    assert everything(loaded_shell) == before
    assert torch.equal(torch.get_rng_state(), generator)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_on_copies_gives_what_the_cell_itself_gives(loaded_shell: Any, name: str) -> None:
    _, rest = prepare(loaded_shell, name)
    outcome, failure = Runner(program_of_cell(loaded_shell, "cell", rest, 1), None, unprinted).outcome()
    assert failure is None
    assert run_cell(loaded_shell, rest).error is None
    own = everything(loaded_shell)
    checked = 0
    for (group, path), value in outcome.values.items():
        tensor = getattr(value, "tensor", None)
        if group == "state" and tensor is not None and path in own:
            checked += 1
            assert dict(facts(path, tensor, set())) == {path: own[path]}
    assert checked >= 4
