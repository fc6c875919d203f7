"""A healthy cell of a story does not wait for a report; what is put off comes when somebody asks, or in idle time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from cells import REPORT_WORDS, run_cell
from forking.kernels import specs
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import KernelManager
from kernel_sockets import kernel_sockets
from talking_to_kernels import PROLOGUE

from inplace_magic.magics import cell_story as pace
from inplace_magic.magics.extension import _sessions

SILENT = """\
import torch
probs = torch.sigmoid(torch.ones(3, requires_grad=True))
probs.data[0] = 0.0
probs.sum().backward()"""
"""PyTorch uses the wrong numbers and says nothing."""


@pytest.fixture
def in_a_hurry(loaded_shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A shell with a story on, in which no report can be afforded."""
    monkeypatch.setattr(pace, "AT_ONCE", -1.0)
    monkeypatch.setattr(pace, "SHARE", -1.0)
    run_cell(loaded_shell, "%inplace_watch on")
    return loaded_shell


@pytest.fixture
def kernel_client() -> Iterator[Any]:
    """A kernel with the extension."""
    manager = KernelManager(kernel_name="python3", kernel_spec_manager=specs(), config=kernel_sockets())
    manager.start_kernel()
    client: Any = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=120)
        client.execute_interactive(PROLOGUE, timeout=120)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def story_of(shell: Any) -> Any:
    return _sessions[id(shell)].story


def test_what_is_put_off_is_told_by_whoever_asks(in_a_hurry: Any) -> None:
    assert run_cell(in_a_hurry, SILENT).displays == []
    (shown,) = run_cell(in_a_hurry, "%inplace_report").displays
    assert "overwritten by `probs.data[0] = 0.0`" in shown["text/plain"]
    after = run_cell(in_a_hurry, "torch.ones(2)")
    assert after.error is None
    assert story_of(in_a_hurry).watch.recorded > story_of(in_a_hurry).reported, "the cell that asked goes on watched"


def test_off_tells_what_was_put_off(in_a_hurry: Any) -> None:
    run_cell(in_a_hurry, SILENT)
    (shown,) = run_cell(in_a_hurry, "%inplace_watch off").displays
    assert REPORT_WORDS in shown["text/plain"]
    assert "overwritten by `probs.data[0] = 0.0`" in shown["text/plain"]


def test_an_error_that_a_watch_explains_is_told_at_once(in_a_hurry: Any) -> None:
    failed = run_cell(in_a_hurry, SILENT.replace(".data", ""))
    assert isinstance(failed.error, RuntimeError)
    (shown,) = failed.displays
    assert "overwritten by `probs[0] = 0.0`" in shown["text/plain"]


def test_a_name_for_the_report_is_bound_after_every_cell(
    loaded_shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "AT_ONCE", -1.0)
    run_cell(loaded_shell, "%inplace_watch on -o r")
    run_cell(loaded_shell, SILENT)
    assert loaded_shell.user_ns["r"].hazards[0].code == "saved-values-changed"


def test_a_report_is_put_off_when_it_would_be_noticed() -> None:
    kept = pace.Pace()
    assert kept.can_afford(100)
    assert not kept.can_afford(10_000)
    kept.reported(10_000, 0.01)
    assert kept.can_afford(20_000), "this machine is fast"
    kept.reported(100, 0.01)
    assert kept.can_afford(2_000), "the first calls are not charged with what any report costs"
    kept.ran = 3600.0
    assert kept.can_afford(1_000_000), "it is lost in an hour of training"


def test_what_is_found_in_idle_time_is_shown_below_its_cell(kernel_client: Any) -> None:
    made_at_once = "cell_story.AT_ONCE = cell_story.SHARE = -1.0"
    kernel_client.execute_interactive(f"from inplace_magic.magics import cell_story\n{made_at_once}")
    kernel_client.execute_interactive("%inplace_watch on")
    cell = kernel_client.execute(SILENT)
    reply = kernel_client.get_shell_msg(timeout=60)
    assert reply["content"]["status"] == "ok"
    while True:
        message = kernel_client.get_iopub_msg(timeout=60)
        if message["msg_type"] == "display_data":
            break
    assert message["parent_header"]["msg_id"] == cell
    assert "overwritten by `probs.data[0] = 0.0`" in message["content"]["data"]["text/plain"]
    shown: list[Any] = []
    kernel_client.execute_interactive("1 + 1", output_hook=lambda said: shown.append(said["msg_type"]))
    assert "display_data" not in shown, "once"
