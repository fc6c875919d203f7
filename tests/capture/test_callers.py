"""Warnings of a watched call fall where they fall unwatched."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from capture.watching import LEVELS

import inplace_magic
from inplace_magic.capture.torch.callers import Callers, call_plainly, is_stand_in


def from_cpp() -> Any:
    return torch.tensor(torch.ones(2))


def from_python() -> Any:
    return F.softmax(torch.ones(2, 2))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("program", [from_cpp, from_python])
def test_a_warning_has_the_file_line_and_text_that_it_has_unwatched(program: Callable[[], Any], level: str) -> None:
    plain = _warned(program)
    with inplace_magic.watch(level=level):
        watched = _warned(program)
    assert watched == plain
    assert plain
    assert {filename for _, _, filename, _ in plain} == {__file__}


def by_tensor(loss: torch.Tensor) -> None:
    loss.backward()


def by_function(loss: torch.Tensor) -> None:
    torch.autograd.backward(loss)


def by_grad(loss: torch.Tensor) -> None:
    torch.autograd.grad(loss, loss.grad_fn.next_functions[0][0].variable)  # type: ignore[union-attr]  # a sum of a leaf


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("backward", "depth"), [(by_tensor, 5), (by_function, 4), (by_grad, 4)])
def test_a_warning_of_a_hook_names_the_caller_that_it_names_unwatched(
    backward: Callable[[torch.Tensor], None], depth: int, level: str
) -> None:
    def program() -> None:
        for stacklevel in range(1, depth + 1):  # from the hook itself up to the line that called backward
            weight = torch.ones(2, requires_grad=True)
            weight.register_hook(lambda _, level=stacklevel: warnings.warn("from a hook", stacklevel=level))
            backward(weight.sum())

    plain = _warned(program)
    with inplace_magic.watch(level=level):
        watched = _warned(program)
    assert watched == plain
    assert plain[-1][2:] == (__file__, backward.__code__.co_firstlineno + 1)


def _warned(program: Callable[[], Any]) -> list[tuple[type, str, str, int]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program()
    return [(each.category, str(each.message), each.filename, each.lineno) for each in caught]


def test_each_line_of_the_users_deserves_its_own_warning() -> None:
    with warnings.catch_warnings(record=True) as caught, inplace_magic.watch():
        warnings.simplefilter("default")
        F.softmax(torch.ones(2, 2))
        F.softmax(torch.ones(2, 2))
    lines = [each.lineno for each in caught if each.filename == __file__]
    assert len(lines) == 2
    assert lines[1] == lines[0] + 1


def test_a_stand_in_carries_file_line_and_name_of_the_caller_and_passes_everything_on() -> None:
    frame = sys._getframe()
    stand_in = Callers().like(frame, None)
    code = stand_in.__code__
    assert (code.co_filename, code.co_name) == (__file__, frame.f_code.co_name)
    assert is_stand_in(code)
    assert not is_stand_in(frame.f_code)
    assert stand_in(lambda *args, **kwargs: (args, kwargs), (1, 2), {"key": 3}) == ((1, 2), {"key": 3})


def test_one_place_has_one_stand_in() -> None:
    callers = Callers()
    frame = sys._getframe()
    made = [callers.like(frame, None) for _ in range(2)]
    assert made[0] is made[1]


def test_without_a_frame_the_call_is_made_all_the_same() -> None:
    assert Callers().like(None, None) is call_plainly
    assert call_plainly(max, (1, 2), {}) == 2
