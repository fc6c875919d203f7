"""The code that a report tells somebody to write works as it stands: the variable is there, and holds that report."""

from __future__ import annotations

import re
from typing import Any

import pytest
from cells import run_cell

import inplace_magic
from inplace_magic.report import Report

MANY_LINES = "\n".join(
    ["x = torch.ones(2, requires_grad=True)", *(f"y{n} = torch.sigmoid(x + {n})" for n in range(40))]
)
HINT = re.compile(r"`((?:[a-z]+)\.(?:to_frame|memory|saved|tensors|hazards)[^`]*)`(?: \(after `([^`]+)`\))?")


@pytest.fixture
def ip(loaded_shell: Any) -> Any:
    """A shell with the extension and torch."""
    run_cell(loaded_shell, "import torch")
    return loaded_shell


def hints(data: dict[str, Any]) -> set[tuple[str, str]]:
    """What the text tells to write, and what to write first."""
    page = re.sub(r"<code[^>]*>|</code>", "`", data["text/html"]).replace("&quot;", '"')
    return {*HINT.findall(data["text/plain"]), *HINT.findall(page)}


@pytest.mark.parametrize("option", ["", "-o unet"])
def test_each_hint_names_a_variable_that_exists(ip: Any, option: str) -> None:
    (data,) = run_cell(ip, f"%%inplace_watch {option}\n{MANY_LINES}\nNone").reports
    found = hints(data)
    assert {code.partition(".")[2] for code, _first in found} >= {"memory", "saved", 'to_frame("calls")'}
    for code, first in found:
        assert (code.partition(".")[0], first) in [("unet", ""), ("report", "report = %inplace_report")]
        ran = run_cell(ip, f"{first}\nlen({code})")
        assert ran.error is None
        assert ran.result.result >= 40


def test_the_magic_gives_the_report_where_it_is_asked_for_and_shows_it_where_it_is_not(ip: Any) -> None:
    run_cell(ip, "%%inplace_watch\nx = torch.ones(2).add_(1)\nNone")
    ran = run_cell(ip, "r = %inplace_report")
    assert ran.displays == []
    assert isinstance(ip.user_ns["r"], Report)
    assert ip.user_ns["r"] is inplace_magic.last_report()
    for cell in ("%inplace_report", "%inplace_report\nNone"):
        ran = run_cell(ip, cell)
        assert len(ran.reports) == 1
        assert ran.result.result is None


def test_the_last_report_is_the_one_of_a_story_that_goes_on(ip: Any) -> None:
    run_cell(ip, "%inplace_watch on")
    run_cell(ip, "z = torch.ones(2).add_(1)")
    report = inplace_magic.last_report()
    assert report is not None
    assert report.calls[-1].name == "Tensor.add_"
    run_cell(ip, "%inplace_watch off")


def test_a_block_knows_the_variable_that_holds_its_report(ip: Any) -> None:
    indented = MANY_LINES.replace("\n", "\n    ")
    run_cell(ip, f"import inplace_magic\nwith inplace_magic.watch() as seen:\n    {indented}")
    assert "`seen.report.memory` gives all of them" in ip.user_ns["seen"].report._repr_mimebundle_()["text/plain"]


def test_a_report_shows_itself_in_a_notebook(ip: Any) -> None:
    run_cell(ip, "%%inplace_watch -o r\nx = torch.ones(2).add_(1)\nNone")
    assert len(run_cell(ip, "r.show()").reports) == 1
