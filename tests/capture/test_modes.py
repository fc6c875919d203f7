"""Taking our modes off torch's stacks, wherever they are by then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from conftest import torch_modes
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

import inplace_magic
from inplace_magic.capture.torch.modes import any_active, take_off
from inplace_magic.errors import InplaceMagicError


class Function(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Dispatch(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@pytest.fixture(autouse=True)
def _empty_afterwards() -> Iterator[None]:
    yield
    take_off([*_get_current_function_mode_stack(), *_get_current_dispatch_mode_stack()])


@pytest.mark.parametrize("ours", [[0], [1], [2], [0, 2], [0, 1, 2], []])
def test_ours_go_and_theirs_stay_in_their_order(ours: list[int]) -> None:
    functions, dispatches = [Function() for _ in range(3)], [Dispatch() for _ in range(3)]
    for mode in (*functions, *dispatches):
        mode.__enter__()
    take_off([pile[at] for pile in (functions, dispatches) for at in ours])
    assert _get_current_function_mode_stack() == [m for at, m in enumerate(functions) if at not in ours]
    assert _get_current_dispatch_mode_stack() == [m for at, m in enumerate(dispatches) if at not in ours]


def test_taking_off_what_is_not_on_does_nothing() -> None:
    theirs = Function()
    theirs.__enter__()
    take_off([Function(), Dispatch()])
    assert _get_current_function_mode_stack() == [theirs]


def test_a_mode_is_known_to_be_active_by_its_class() -> None:
    assert not any_active(Function)
    with Function():
        assert any_active(Function)
        assert not any_active(Dispatch)


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_a_watch_puts_on_what_its_level_needs_and_takes_it_off(level: str) -> None:
    with inplace_magic.watch(level=level):
        on = torch_modes()
    assert on == (["torch mode CallProbe"] if level == "calls" else ["torch mode CallProbe", "torch mode OpProbe"])
    assert torch_modes() == []


def test_a_second_watch_on_one_thread_is_refused_in_one_sentence_and_the_first_goes_on() -> None:
    with inplace_magic.watch() as outer:
        with pytest.raises(InplaceMagicError, match=r"^A watch is running already: end it before another begins\.$"):
            inplace_magic.watch().start()
        torch.ones(2)
    assert outer.report is not None
    assert [call.name for call in outer.report.calls] == ["torch.ones"]


def test_a_watch_in_a_users_mode_sees_its_calls_and_the_mode_stays() -> None:
    with Function() as theirs, inplace_magic.watch() as watch:
        torch.ones(2)
    assert watch.report is not None
    assert [call.name for call in watch.report.calls] == ["torch.ones"]
    assert theirs not in _get_current_function_mode_stack()
