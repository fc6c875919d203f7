"""PyTorch's own operator, module and optimizer databases do watched what they do plain, and the kinds are true.

A sample of operators here, fixed by name; ``python tests/no_harm/run.py`` runs them all.
"""

from __future__ import annotations

import warnings
import zlib
from functools import cache
from typing import get_args

import pytest
import torch

pytest.importorskip("expecttest", reason="PyTorch's operator database needs it: pip install expecttest")

from no_harm.differential import Mode, Program, compare, run
from no_harm.exclusions import NOT_ON_CPU
from no_harm.lists import LISTS
from no_harm.operators import dtype_for, full_name, operator_database
from no_harm.run import Tally, tallies

ONE_IN = {"op_db": 4, "op_db in place": 2, "op_db errors": 4, "binary_ufuncs": 4, "modules": 2}
"""Share of the operators of a list that runs here; the other lists run whole."""

LEVELS: tuple[Mode, ...] = ("calls", "ops")


def sampled(title: str, name: str) -> bool:
    """Whether this operator runs here; the same ones every time."""
    return zlib.crc32(name.encode()) % ONE_IN.get(title, 1) == 0


@cache
def both(title: str) -> dict[Mode, Tally]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(zip(LEVELS, tallies(title, LEVELS, 2, lambda name: sampled(title, name)), strict=True))


def results(title: str, level: Mode) -> Tally:
    return both(title)[level]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("title", LISTS)
def test_watched_programs_are_the_users_programs(title: str, level: Mode) -> None:
    found = results(title, level)
    assert [(c.program, c.differences, c.faults) for c in found.changed] == []
    assert found.unmade == []


@pytest.mark.parametrize("title", LISTS)
def test_level_calls_changes_no_version_not_even_at_birth(title: str) -> None:
    assert [(c.program, c.births) for c in results(title, "calls").done if c.births] == []


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("title", ["op_db", "op_db in place", "op_db errors", "binary_ufuncs", "foreach"])
def test_kinds_are_true(title: str, level: Mode) -> None:
    found = results(title, level)
    assert [c.kind_note for c in found.wrong_kinds] == []
    assert any(c.kind == "agreed" for c in found.done)


def test_stale_graph_still_raises_after_every_optimizer_that_counts_its_writes() -> None:
    stale = [c for c in results("optimizers", "ops").done if c.program.endswith("stale graph")]
    silent = sorted(
        {c.program.split("[")[0] for c in stale if c.error is None or "modified by an inplace" not in c.error}
    )
    assert silent == ["Adagrad fused", "Adam fused", "AdamW fused", "SGD fused"]
    assert len(stale) > 40


def test_operators_without_a_program_are_those_that_have_no_cpu_kernel() -> None:
    without = {full_name(op) for op in operator_database() if dtype_for(op) is None}
    assert without == set(NOT_ON_CPU)


@pytest.mark.parametrize("title", [title for title in LISTS if title != "op_db errors"])
def test_every_list_has_programs_that_run_to_their_end(title: str) -> None:
    ended = [c for c in results(title, "calls").done if c.error is None]
    assert len(ended) > 5


@pytest.mark.parametrize("mode", get_args(Mode))
def test_a_difference_would_be_seen(mode: Mode) -> None:
    """The comparison is not blind: a program that asks whether a mode is on gives itself away."""

    asks = Program(
        "asks", lambda: None, lambda _: torch._C._len_torch_function_stack() + torch._C._len_torch_dispatch_stack()
    )
    assert bool(compare(asks, mode).differences) is (mode != "plain")
    assert run(asks, "plain").facts["error"] is None
