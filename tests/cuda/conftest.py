"""Tests on a GPU: ``make cuda``, or ``pytest -m cuda tests/cuda``. Without one, what the CPU can run of them belongs to
the ordinary tests, and nothing is marked ``cuda``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from on_device import GPU

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the tests of this folder, and leaves out those that need a GPU where there is none."""
    left_out = []
    for item in items:
        if HERE in item.path.parents:
            if GPU:
                item.add_marker("cuda")
            elif item.get_closest_marker("needs_gpu") is not None:
                left_out.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the card, or says that there is none."""
    if GPU:
        terminalreporter.write_line(f"tests/cuda: {torch.cuda.get_device_name()}, torch {torch.__version__}")
    else:
        terminalreporter.write_line("tests/cuda: no CUDA device here, so nothing was tried on one.")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """That no GPU is here is no failure."""
    if not GPU and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and "cuda" in session.config.option.markexpr:
        session.exitstatus = pytest.ExitCode.OK


@pytest.fixture(autouse=True)
def _device_is_as_before() -> Iterator[None]:
    yield
    torch.set_default_device(None)
    if GPU:
        torch.cuda.synchronize()
