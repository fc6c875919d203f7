"""Hand-written programs do watched what they do plain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from no_harm import programs_autograd, programs_lifetime, programs_modes
from no_harm.differential import Mode, Program, compare, run

import inplace_magic

PROGRAMS = (*programs_autograd.PROGRAMS, *programs_modes.PROGRAMS, *programs_lifetime.PROGRAMS)

LEVELS: tuple[Mode, ...] = ("calls", "ops", "writes")


def whole(function: Callable[[], Any]) -> Program:
    """A program that makes all it needs itself."""
    return Program(function.__name__, prepare=lambda: None, forward=lambda _: function(), one_call=False)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda function: function.__name__)
def test_program_does_the_same_watched(program: Callable[[], Any], level: Mode) -> None:
    run(whole(program), "plain")  # warnings that torch gives once per process are given here
    found = compare(whole(program), level)
    assert found.differences == ()
    assert found.births == () or level == "ops"
    assert found.unsteady == ()
    assert found.faults == ()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda function: function.__name__)
def test_program_gets_to_its_end_when_it_is_meant_to(program: Callable[[], Any]) -> None:
    meant_to_raise = program is programs_autograd.checkpoint_of_what_is_written_later
    assert (run(whole(program), "plain").facts["error"] is not None) is meant_to_raise


def test_refused_writes_are_all_refused() -> None:
    assert all(entry[0] == "RuntimeError" for entry in programs_autograd.refused_writes())


def test_gradient_is_stolen_in_the_unwatched_program_too() -> None:
    stolen, in_place, _, _ = programs_lifetime.stolen_gradients()
    assert (stolen, in_place) == (True, True)


@pytest.mark.parametrize("level", LEVELS)
def test_warning_is_shown_at_the_users_line_once_per_line(level: str) -> None:
    cell = "x.T\nx.T\nfor _ in range(3): x.T\n"
    plain = _shown_warnings(cell, None)
    assert [line for _, line in plain] == [1, 2, 3]
    assert _shown_warnings(cell, level) == plain


def _shown_warnings(cell: str, level: str | None) -> list[tuple[str, int]]:
    import contextlib
    import warnings

    code = compile(cell, "<ipython-input-7>", "exec")
    names = {"x": torch.zeros(2, 2, 2), "__name__": "__main__"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        torch.set_warn_always(True)
        try:
            with inplace_magic.watch(level=level) if level else contextlib.nullcontext():
                exec(code, names)
        finally:
            torch.set_warn_always(False)
    return [(warning.filename, warning.lineno) for warning in caught]
