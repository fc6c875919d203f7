"""Ctrl-C at any moment, and cells that leave a mess: nothing of ours stays hooked, nothing of theirs is taken away."""

from __future__ import annotations

import ast
import gc
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch
from cells import run_cell
from conftest import hooks_left, torch_modes
from no_harm.differential import empty_stacks
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

import inplace_magic
from inplace_magic.capture.past import repeats
from inplace_magic.record.blindness import NO_ROOM

LEVELS = ("calls", "ops")
POINTS = 250


@pytest.fixture(autouse=True)
def _clean_stacks() -> Iterator[None]:
    yield
    empty_stacks()


def small_program() -> None:
    weight = torch.randn(3, 3, requires_grad=True)
    weight.register_hook(lambda grad: grad * 2)
    hidden = torch.sigmoid(weight @ weight)
    hidden.view(-1).sum().backward()
    weight.data.mul_(2)
    buffer = torch.zeros(3)
    buffer[1] = 2


@pytest.mark.parametrize("level", LEVELS)
def test_interrupt_anywhere_in_capture_leaves_no_mode(level: str) -> None:
    gc.collect()  # what earlier tests left may compute something when it dies, where Python drops what is raised
    _interrupted(0, level)  # fills the caches of the process
    total, *_ = _interrupted(0, level)
    assert total > POINTS
    left = []
    lost = []
    dropped = []
    reached = 0
    for point in range(1, total, max(1, total // POINTS)):
        _, where, raised, swallowed = _interrupted(point, level)
        reached += bool(where)
        if torch_modes():
            left.append(where)
        if where and not raised:
            lost.append(where)
        if swallowed:
            dropped.append(where)
        empty_stacks()
        assert torch._C._is_torch_function_enabled(), where
    assert left == []
    assert lost == []
    assert dropped == []  # none of our Python code runs while an object dies, where Python drops what is raised
    assert reached > 0.9 * POINTS  # the garbage collector has its own times: the last few moments may not come


@pytest.mark.parametrize("level", LEVELS)
def test_interrupt_as_hooks_come_off_leaves_none(level: str) -> None:
    total, *_ = _interrupted(0, level, "_unhook")
    assert total > 3
    for point in range(1, total + 1):
        _, where, raised, _dropped = _interrupted(point, level, "_unhook")
        assert raised
        assert hooks_left() == [], where


def repeating_program() -> None:
    buffer = torch.zeros(3)
    for _ in range(5):
        buffer.add_(1)
    buffer.sum()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("within", ["within_call", "again", "passed", "settle"])
def test_interrupt_where_one_row_stands_for_several_calls_leaves_no_mode(
    monkeypatch: pytest.MonkeyPatch, level: str, within: str
) -> None:
    monkeypatch.setattr(repeats, "FULL", 1)
    total, *_ = _interrupted(0, level, within, repeating_program)
    assert total > 0
    for point in range(1, total + 1):
        _, where, raised, dropped = _interrupted(point, level, within, repeating_program)
        assert torch_modes() == [], where
        assert raised or not where, where
        assert not dropped, where


def _interrupted(
    point: int, level: str, within: str = "", program: Callable[[], None] = small_program
) -> tuple[int, str, bool, bool]:
    """Runs the program with a KeyboardInterrupt at one of the moments at which Python looks for signals.

    These are the entry of a function and the return from a call into C, as a profile function sees them; a trace
    function would also stop between a ``with`` block and its exit, where no signal is ever delivered.

    Args:
        point: which moment; 0 for none.
        level: of the watch.
        within: the one function of ours whose moments count; empty for all.
        program: what is watched.

    Returns:
        How many moments there were, where the interrupt was raised, whether it came out, and whether Python dropped
        it, as it drops whatever is raised in a callback while an object dies (``sys.unraisablehook`` hears of it).
    """
    moments = 0
    where = ""

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal moments, where
        ours = "inplace_magic/capture" in frame.f_code.co_filename.replace("\\", "/")
        if ours and event in ("call", "c_return") and within in ("", frame.f_code.co_name):
            moments += 1
            if moments == point:
                caller = frame.f_back.f_code.co_name if frame.f_back is not None else ""
                where = f"{caller} > {frame.f_code.co_name}:{frame.f_lineno} {event}"
                sys.setprofile(None)
                raise KeyboardInterrupt

    raised = False
    dropped: list[type[BaseException]] = []
    torch.manual_seed(0)
    before, hook = sys.getprofile(), sys.unraisablehook
    sys.unraisablehook = lambda unraisable: dropped.append(unraisable.exc_type)
    sys.setprofile(profile)
    try:
        with inplace_magic.watch(level=level):
            program()
    except KeyboardInterrupt:
        raised = True
    finally:
        sys.setprofile(before)
        sys.unraisablehook = hook
    return moments, where, raised, KeyboardInterrupt in dropped


@pytest.mark.parametrize("level", LEVELS)
def test_interrupt_in_the_users_code_comes_out_as_it_is(level: str) -> None:
    watch = inplace_magic.watch(level=level)
    with pytest.raises(KeyboardInterrupt), watch:
        _interrupt_itself()
    assert watch.report is not None
    assert watch.report.trace.error == "KeyboardInterrupt: "
    assert torch_modes() == []


def _interrupt_itself() -> None:
    torch.ones(2).add_(1)
    raise KeyboardInterrupt


class TheirFunctionMode(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class TheirDispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("level", LEVELS)
def test_modes_that_the_block_leaves_on_stay_and_ours_go(level: str) -> None:
    function_mode, dispatch_mode = TheirFunctionMode(), TheirDispatchMode()
    with inplace_magic.watch(level=level) as watch:
        function_mode.__enter__()
        dispatch_mode.__enter__()
        torch.ones(2).add_(1)
    assert _get_current_function_mode_stack() == [function_mode]
    assert _get_current_dispatch_mode_stack() == [dispatch_mode]
    assert watch.report is not None


@pytest.mark.parametrize("level", LEVELS)
def test_modes_that_the_block_takes_off_are_no_loss_to_anybody(level: str) -> None:
    """The block pops a mode that it found: with a watch on, the top one is ours."""
    outer = TheirFunctionMode()
    outer.__enter__()
    with inplace_magic.watch(level=level):
        torch.overrides._pop_mode()
    assert [mode for mode in _get_current_function_mode_stack() if mode is not outer] == []
    assert _get_current_dispatch_mode_stack() == []


MESSES = {
    "exits": "import sys; sys.exit(3)",
    "replaces torch.add": (
        "import torch\nold = torch.add\ntorch.add = lambda *a, **k: 'theirs'\nr = torch.add(1, 2)\ntorch.add = old"
    ),
    "recurses without end": (
        "import sys, torch\ndef f(x): return f(x.add(1))\nlimit = sys.getrecursionlimit()\nsys.setrecursionlimit(400)\n"
        "try:\n    f(torch.ones(1))\nfinally:\n    sys.setrecursionlimit(limit)"
    ),
    "interrupts itself": "raise KeyboardInterrupt",
    "does not compile": "import torch\ntorch.ones(",
    "runs out in a thread": (
        "import threading, torch\ndef f():\n    torch.ones(2).add_(1)\n"
        "t = threading.Thread(target=f); t.start(); t.join()"
    ),
    "leaves grad mode off": "import torch\ntorch.set_grad_enabled(False)",
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("mess", MESSES)
def test_messy_cell_ends_as_it_ends_unwatched_and_leaves_nothing_hooked(
    mess: str, level: str, loaded_shell: Any, recwarn: pytest.WarningsRecorder
) -> None:
    loaded_shell.InteractiveTB.set_mode("Minimal")  # else IPython searches all modules for each of 300 frames
    plain = _ending(loaded_shell, MESSES[mess])
    watched = _ending(loaded_shell, f"%%inplace_watch --level {level}\n{MESSES[mess]}")
    assert watched == plain
    assert torch_modes() == []


def _ending(shell: Any, cell: str) -> Any:
    try:
        ran = run_cell(shell, cell)
    except KeyboardInterrupt:
        return "KeyboardInterrupt left the shell"
    finally:
        grad = torch.is_grad_enabled()
        torch.set_grad_enabled(True)
    if isinstance(ran.error, RecursionError):
        return RecursionError  # its text says where the stack ended, which is chance
    return type(ran.error), str(getattr(ran.error, "msg", ran.error)), repr(shell.user_ns.get("r")), grad


def _descend(x: torch.Tensor) -> torch.Tensor:
    return _descend(x.add(1))


@pytest.mark.parametrize("level", LEVELS)
def test_wherever_in_our_code_the_stack_ends_the_error_is_the_users_own(level: str) -> None:
    """Each frame of ours can be the first for which Python's stack has no room left."""
    limit, here, said = sys.getrecursionlimit(), len(inspect.stack(0)), 0
    for room in range(100, 130):
        with inplace_magic.watch(level=level) as w:
            sys.setrecursionlimit(here + room)
            try:
                _descend(torch.ones(1))
            except RecursionError as caught:
                error = caught
            finally:
                sys.setrecursionlimit(limit)
        assert error.__context__ is None
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if _is_ours(frame)]
        assert [frame for frame in frames if "__tracebackhide__" not in frame.f_locals] == []
        assert w.report is not None
        assert w.report.faults == []
        assert torch_modes() == []
        said += NO_ROOM in w.report.blindness
    assert said or level == "ops"  # there torch itself needs more room, to ask the dispatch mode, than we do


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(str(Path(inplace_magic.__file__).parent))


def test_no_look_of_ours_leaves_a_generator_behind_that_has_not_ended() -> None:
    """``any(… for …)`` that ends early leaves one; Python closes it as it dies, and drops an interrupt that strikes
    there. Of a list all entries are looked at."""
    left = []
    for file in sorted((Path(inplace_magic.__file__).parent / "capture").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) and node.args else None
            early = isinstance(called, ast.Name) and called.id in ("any", "all", "next")
            if early and isinstance(node, ast.Call) and isinstance(node.args[0], ast.GeneratorExp):
                left.append(f"{file.name}:{node.lineno}")
    assert left == []
