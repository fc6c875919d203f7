"""An error that leaves a watched block or cell has the traceback that it has unwatched, entry for entry."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from torch.overrides import TorchFunctionMode

import inplace_magic


def backward() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y.mul_(2)
    y.sum().backward()


def functional() -> None:
    torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 7]))


def caused_by_another() -> None:
    try:
        backward()
    except RuntimeError as error:
        raise ValueError("the step failed") from error


def while_handling_another() -> None:
    try:
        functional()
    except IndexError:
        backward()


def in_a_hook() -> None:
    x = torch.ones(3, requires_grad=True)
    x.register_hook(lambda gradient: gradient @ torch.ones(7))
    x.sum().backward()


class Passing(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def under_a_mode_of_the_users() -> None:
    with Passing():
        backward()


PROGRAMS: tuple[Callable[[], None], ...] = (
    backward,
    functional,
    caused_by_another,
    while_handling_another,
    in_a_hook,
    under_a_mode_of_the_users,
)


def entries(error: BaseException | None) -> list[Any]:
    """File, line and function of each entry, of the error and of all that it came from."""
    found: list[Any] = []
    while error is not None:
        # the first entry is the caller of the program, which differs between the two runs
        found.append([(at.filename, at.lineno, at.name) for at in traceback.extract_tb(error.__traceback__)[-40:]])
        error = error.__cause__ or error.__context__
    found[0] = found[0][1:]
    return found


@pytest.mark.parametrize("level", ["calls", "ops"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_error_that_leaves_the_block_has_the_entries_of_the_unwatched_one(
    program: Callable[[], None], level: str
) -> None:
    with pytest.raises(Exception) as plain:  # noqa: PT011  whichever it is, the other must be the same
        program()
    with pytest.raises(Exception) as watched, inplace_magic.watch(level=level):  # noqa: PT011
        program()
    assert entries(watched.value) == entries(plain.value)
    assert len(entries(plain.value)[-1]) > 1


def test_an_error_that_is_caught_inside_the_block_has_two_entries_more() -> None:
    """Documented in ``docs/no-harm.md``: they are above our handler, and nobody tells us where the error goes."""

    def caught() -> list[str]:
        try:
            backward()
        except RuntimeError as error:
            return [at.name for at in traceback.extract_tb(error.__traceback__)]
        return []

    plain = caught()
    with inplace_magic.watch():
        watched = caught()
    with Passing():
        yardstick = caught()
    at = plain.index("backward", 2)
    assert watched == [*plain[:at], "backward", "handle_torch_function", *plain[at:]]
    assert set(watched) <= set(yardstick)


CELL = """
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.mul_(2)
y.sum().backward()
"""


@pytest.mark.parametrize("how", ["one cell", "story"])
def test_the_traceback_that_a_watched_cell_prints_is_the_unwatched_one(
    loaded_shell: InteractiveShell, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded_shell.run_line_magic("colors", "nocolor")
    plain = loaded_shell.run_cell(CELL).error_in_exec
    printed = capsys.readouterr().out
    assert "overrides.py" not in printed
    if how == "story":
        loaded_shell.run_line_magic("inplace_watch", "on")
        watched = loaded_shell.run_cell(CELL).error_in_exec
        loaded_shell.run_line_magic("inplace_watch", "off")
    else:
        watched = loaded_shell.run_cell("%%inplace_watch" + CELL).error_in_exec
    shown = capsys.readouterr().out
    assert "RuntimeError" in shown
    assert "overrides.py" not in shown
    assert [at.name for at in traceback.extract_tb(watched.__traceback__)] == [
        at.name for at in traceback.extract_tb(plain.__traceback__)
    ]
    assert "showtraceback" not in vars(loaded_shell)


def test_a_method_that_somebody_put_there_is_kept(loaded_shell: InteractiveShell) -> None:
    called = []

    def own(*args: Any, **kwargs: Any) -> None:
        called.append(True)

    vars(loaded_shell)["showtraceback"] = own
    loaded_shell.run_cell("%%inplace_watch" + CELL)
    assert called == [True]
    assert vars(loaded_shell).pop("showtraceback") is own
