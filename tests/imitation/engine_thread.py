"""Runs each backward on a thread of the autograd engine, as PyTorch does for CUDA tensors, where no GPU is.

    PYTHONPATH=tests python -m pytest -p imitation.engine_thread tests/…

For CPU tensors the engine works on the thread that called backward, below the caller's frames. For CUDA tensors it
works on a thread of its own: the caller's modes are on there, ``threading.get_ident()`` is another, and below a hook
stands no Python frame. The engine also takes a thread of its own when backward is called within backward 60 times over
(``MAX_DEPTH`` in ``torch/csrc/autograd/engine.h``). So the backward asked for is put below that many empty ones.

Three things differ from a GPU: the caller's thread has 180 frames more meanwhile, anomaly mode tells of the empty
backwards too, and what a hook raises comes out as a ``SystemError``, watched or not. So four tests cannot pass here
(``-k "not ctrl_c_leaves and not operator_of_backward_that_fails"``), nor can six that count the frames below a hook
(``not a_warning_of_a_hook``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as tests/conftest.py has it, which is imported later than a plugin

import torch
from torch.utils import _python_dispatch

EMPTY = 61
"""So many empty backwards stay on the caller's thread; the next one is the first on the engine's."""

_run_backward = torch.autograd.graph._engine_run_backward
PLACES = (torch.autograd, torch.autograd.graph)
"""Where PyTorch looks that function up, under the name ``_engine_run_backward``."""
moved = 0
"""How many backwards ran on the engine's thread."""


class _Empty(torch.autograd.Function):
    """A node whose backward is another backward, and so on; the last one runs a function."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, more: int, run: Callable[[], None]) -> torch.Tensor:
        ctx.more, ctx.run = more, run
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *_gradients: Any) -> tuple[None, None, None]:
        if ctx.more:
            _below(ctx.more - 1, ctx.run)
        else:
            ctx.run()
        return None, None, None


def _below(more: int, run: Callable[[], None]) -> None:
    with torch.enable_grad():
        root = _Empty.apply(torch.zeros((), requires_grad=True), more, run)
    torch.autograd.Variable._execution_engine.run_backward(
        (root,), (torch.ones(()),), False, False, (), allow_unreachable=True, accumulate_grad=True
    )


@contextmanager
def _modes_off() -> Iterator[Callable[[], Any]]:
    """Takes all modes off: the empty backwards are nobody's. Gives a context manager within which they are on."""
    functions = [torch.overrides._pop_mode() for _ in range(torch._C._len_torch_function_stack())][::-1]
    dispatch = [_python_dispatch._pop_mode() for _ in _python_dispatch._get_current_dispatch_mode_stack()][::-1]

    def put_back() -> None:
        for mode in functions:
            torch.overrides._push_mode(mode)
        for mode in dispatch:
            _python_dispatch._push_mode(mode)

    @contextmanager
    def modes_on() -> Iterator[None]:
        put_back()
        try:
            yield
        finally:
            for _ in functions:
                torch.overrides._pop_mode()
            for _ in dispatch:
                _python_dispatch._pop_mode()

    try:
        yield modes_on
    finally:
        put_back()


def run_backward(*args: Any, **kwargs: Any) -> Any:
    """Stands for the function of PyTorch's that runs the engine. A backward within a backward stays where it is, and so
    does one within a transform such as ``torch.func.grad``, of which the empty ones would be part."""
    global moved
    within_transform = torch._C._functorch.peek_interpreter_stack() is not None
    if within_transform or torch._C._current_graph_task_id() != -1:
        return _run_backward(*args, **kwargs)
    result: list[Any] = []
    error: list[BaseException] = []
    grad_mode = torch.is_grad_enabled()

    with _modes_off() as modes_on:

        def run() -> None:
            try:
                with torch.set_grad_enabled(grad_mode), modes_on():
                    result.append(_run_backward(*args, **kwargs))
            except BaseException as raised:
                error.append(raised)

        _below(EMPTY - 1, run)
    moved += 1
    if error:
        raise error.pop()
    return result.pop()


def install() -> None:
    """Runs every backward of this process so, from now on."""
    for module in PLACES:
        module._engine_run_backward = run_backward  # type: ignore[attr-defined]


def pytest_configure() -> None:
    """Begins with the tests."""
    install()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says that it took place."""
    terminalreporter.write_line(f"{moved} backwards ran on a thread of the autograd engine")
