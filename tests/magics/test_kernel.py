"""The same promises through a real kernel: what a notebook stores, and what "Run all" makes of a failing cell."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from forking.kernels import specs
from jupyter_client.manager import KernelManager
from kernel_sockets import kernel_sockets
from talking_to_kernels import PROLOGUE, execute, fails, kinds, text_of

CELLS = {
    "broken": """\
%%inplace_watch -o broken
logits = torch.ones(3, requires_grad=True) * 2
probs = torch.sigmoid(logits)
probs.mul_(2)
probs.sum().backward()""",
    "broken, unwatched": """\
# not watched
logits = torch.ones(3, requires_grad=True) * 2
probs = torch.sigmoid(logits)
probs.mul_(2)
probs.sum().backward()""",
    "proven": """\
%%inplace_watch --prove
probs = torch.sigmoid(torch.ones(3, requires_grad=True))
probs.mul_(2)
probs.sum().backward()""",
    "early failure": "%%inplace_watch  --level ops\nx = torch.ones(2)\nx.add_(torch.ones(3))",
    "bound after a failure": "print([call.callsite.line for call in broken.calls])",
    "last value": "%%inplace_watch\nx = torch.ones(2)\n6 * 7",
    "semicolon": "%%inplace_watch\n6 * 7;",
    "await": """\
%%inplace_watch -o r
import asyncio
await asyncio.sleep(0.01)
x = torch.ones(2)
await asyncio.sleep(0, 'ok')""",
    "line of the await cell": "print(r.calls[0].callsite.line, r.calls[0].callsite.place)",
    "time below": "%%inplace_watch\n%%time\nx = 1",
    "time above": "%%time\n%%inplace_watch\nx = torch.ones(2)",
    "unknown flag": "%%inplace_watch --levle ops\nunwatched = True",
    "not run": "print('unwatched' in globals())",
    "syntax error": "%%inplace_watch\nx = 1\ny = = 2",
    "failure in a function": "%%inplace_watch\ndef half(x):\n    return x / 0\n\n\nhalf(1)",
    "failure in an earlier cell": "%%inplace_watch\n\nhalf(2)",
    "await that fails": "%%inplace_watch\nimport asyncio\nawait asyncio.sleep(0)\n1 / 0",
    "blank lines above": "\n\n%%inplace_watch -o r\n\nx = torch.ones(2)",
    "line below blank lines": "print(r.calls[0].callsite.line, r.trace.cell)",
    "report again": "%inplace_report",
    "exit": "%%inplace_watch\nx = torch.ones(2)\nraise SystemExit(3)",
    "after": "print('alive', torch.overrides._get_current_function_mode_stack())",
}


@pytest.fixture(scope="module")
def ran() -> dict[str, Any]:
    """Every cell above, executed with errors allowed in one notebook, in a kernel as Jupyter starts it."""
    return dict(zip(CELLS, execute(list(CELLS.values()), allow_errors=True, settings=kernel_sockets()), strict=True))


def gutter_lines(cell: Any) -> list[int]:
    """The lines that the traceback's arrows point at."""
    return [int(number) for number in re.findall(r"^-+> (\d+)", plain(cell), flags=re.MULTILINE)]


def test_what_explains_the_error_stands_above_its_traceback_which_is_there_once(ran: dict[str, Any]) -> None:
    assert kinds(ran["broken"]) == ["report", "error"]
    assert ran["broken"].outputs[1].ename == "RuntimeError"
    assert gutter_lines(ran["broken"])[0] == 5


def plain(cell: Any) -> str:
    """A traceback's text without its colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text_of(cell, "error"))


def test_the_error_that_a_notebook_stores_is_that_of_the_unwatched_cell_word_for_word(ran: dict[str, Any]) -> None:
    watched, unwatched = (
        re.sub(rf"In\[{cell.execution_count}\]", "In[N]", "\n".join(cell.outputs[at].traceback)).split("\n")
        for cell, at in ((ran["broken"], 1), (ran["broken, unwatched"], 0))
    )
    assert [(one, other) for one, other in zip(watched, unwatched, strict=True) if one != other] == [
        ("      1 %%inplace_watch -o broken", "\x1b[32m      1\x1b[39m \x1b[38;5;66;03m# not watched\x1b[39;00m")
    ]
    assert ran["broken"].outputs[1].evalue == ran["broken, unwatched"].outputs[0].evalue


def test_the_magic_line_stands_in_a_traceback_as_it_was_typed(ran: dict[str, Any]) -> None:
    assert "      1 %%inplace_watch  --level ops\n" in plain(ran["early failure"])
    assert "inplace_magic" not in plain(ran["early failure"])


def test_the_report_comes_last_where_it_does_not_explain_the_error(ran: dict[str, Any]) -> None:
    assert kinds(ran["early failure"]) == ["error", "report"]
    assert kinds(ran["failure in a function"]) == ["error", "report"]


def test_with_proofs_the_card_is_there_at_once_and_the_report_after_the_traceback(ran: dict[str, Any]) -> None:
    shown = [kind for kind in kinds(ran["proven"]) if kind not in ("stdout", "stderr")]
    assert shown == ["report", "error", "report"]
    assert "Tried" not in text_of(ran["proven"], "report").partition("is below the traceback")[0]


def test_the_report_of_a_failing_cell_is_bound(ran: dict[str, Any]) -> None:
    assert text_of(ran["bound after a failure"], "stdout") == "[2, 2, 3, 4, 5, 5]\n"


def test_a_report_is_one_output_of_plain_html_and_text(ran: dict[str, Any]) -> None:
    (report,) = [output for output in ran["broken"].outputs if output.output_type == "display_data"]
    assert set(report.data) == {"text/html", "text/plain"}
    assert report.metadata == {}


def test_the_last_value_comes_before_the_report(ran: dict[str, Any]) -> None:
    assert kinds(ran["last value"]) == ["execute_result", "report"]
    assert text_of(ran["last value"], "execute_result") == "42"


def test_a_closing_semicolon_hides_the_last_value(ran: dict[str, Any]) -> None:
    assert kinds(ran["semicolon"]) == ["report"]


def test_top_level_await_works_and_is_watched(ran: dict[str, Any]) -> None:
    assert kinds(ran["await"]) == ["execute_result", "report"]
    assert text_of(ran["await"], "execute_result") == "'ok'"
    number = ran["await"].execution_count
    assert text_of(ran["line of the await cell"], "stdout") == f"4 Cell In[{number}], line 4\n"


def test_another_cell_magic_below_is_refused_and_above_it_works(ran: dict[str, Any]) -> None:
    assert kinds(ran["time below"]) == ["stderr"]
    assert "Put `%%time` on the first line" in text_of(ran["time below"], "stderr")
    assert set(kinds(ran["time above"])) == {"report", "stdout"}  # a busy machine sends what was printed in two parts


def test_an_unknown_flag_is_one_line_and_runs_nothing(ran: dict[str, Any]) -> None:
    assert text_of(ran["unknown flag"], "stderr") == (
        "UsageError: %%inplace_watch has no option --levle; did you mean --level?\n"
    )
    assert text_of(ran["not run"], "stdout") == "False\n"


def test_a_syntax_error_is_the_ordinary_one_alone(ran: dict[str, Any]) -> None:
    assert kinds(ran["syntax error"]) == ["error"]
    assert re.search(r"line (\x1b\[[0-9;]*m)*3", text_of(ran["syntax error"], "error"))


def test_traceback_lines_are_the_gutters(ran: dict[str, Any]) -> None:
    assert gutter_lines(ran["failure in a function"]) == [6, 3]
    assert gutter_lines(ran["failure in an earlier cell"]) == [3, 3]
    assert gutter_lines(ran["await that fails"]) == [4]


def test_blank_lines_above_the_magic_count_as_in_the_gutter(ran: dict[str, Any]) -> None:
    number = ran["blank lines above"].execution_count
    assert text_of(ran["line below blank lines"], "stdout") == f"5 {number}\n"


def test_the_report_magic_shows_the_last_report_again(ran: dict[str, Any]) -> None:
    assert ran["report again"].outputs[0].data == ran["blank lines above"].outputs[-1].data


def test_an_exit_still_gets_its_report_and_leaves_nothing_hooked(ran: dict[str, Any]) -> None:
    assert "report" in kinds(ran["exit"])
    assert text_of(ran["after"], "stdout") == "alive []\n"


@pytest.mark.parametrize(
    ("cell", "failure"),
    [
        ("%%inplace_watch\n1 / 0", "ZeroDivisionError"),
        ("%%inplace_watch --levle ops\nx = 1", "did you mean --level?"),
        ("%%inplace_watch\n%%time\nx = 1", "`%%time` on line 2"),
        ("%%inplace_watch", "There is no code below"),
    ],
)
def test_run_all_stops_at_a_watched_cell_that_fails(cell: str, failure: str) -> None:
    assert failure in fails(cell)


def test_run_all_goes_on_after_a_watched_cell_that_works() -> None:
    assert fails("%%inplace_watch\nx = torch.ones(2).mul_(2)") == ""


@pytest.fixture
def client() -> Iterator[Any]:
    """A kernel with the extension and torch, and its manager as ``client.manager``."""
    manager = KernelManager(kernel_name="python3", kernel_spec_manager=specs(), config=kernel_sockets())
    manager.start_kernel()
    client: Any = manager.client()
    client.manager = manager
    try:
        client.start_channels()
        client.wait_for_ready(timeout=120)
        client.execute_interactive(PROLOGUE, timeout=120)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


# ipykernel hands an interrupt to an awaiting cell when its event loop wakes next, so that cell sleeps in short steps.
SLEEPS = {
    "plain": "import time\ntime.sleep(60)",
    "await": "import asyncio\nfor _ in range(600):\n    await asyncio.sleep(0.1)",
}


@pytest.mark.parametrize("sleep", SLEEPS.values(), ids=SLEEPS.keys())
def test_an_interrupted_cell_shows_the_report_of_what_it_did(client: Any, sleep: str) -> None:
    outputs: list[Any] = []

    def keep(message: Any) -> None:
        outputs.append(message)
        if message["header"]["msg_type"] == "stream" and "sleeping" in message["content"]["text"]:
            time.sleep(0.5)
            client.manager.interrupt_kernel()

    reply = client.execute_interactive(
        f"%%inplace_watch -o r\nx = torch.ones(2)\nprint('sleeping')\n{sleep}", timeout=60, output_hook=keep
    )
    kinds_of = [message["header"]["msg_type"] for message in outputs]
    assert reply["content"]["status"] == "error"
    assert kinds_of.count("error") == 1
    assert kinds_of.index("error") < kinds_of.index("display_data")

    outputs.clear()
    modes = "torch.overrides._get_current_function_mode_stack()"
    client.execute_interactive(f"print(len(r.calls), {modes})", timeout=60, output_hook=outputs.append)
    assert [message["content"].get("text") for message in outputs if message["header"]["msg_type"] == "stream"] == [
        "1 []\n"
    ]
