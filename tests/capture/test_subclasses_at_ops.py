"""Level `ops` does not keep a program from making an object of a tensor's subclass."""

from __future__ import annotations

from typing import Any

import pytest
from hazards.curing import watch_cell

DEFINED = "import torch\nclass Noise(torch.Tensor):\n    pass\n"
OWN_NEW = """\
import torch
class Noise(torch.Tensor):
    @staticmethod
    def __new__(cls, data):
        return torch.Tensor._make_subclass(cls, data)
"""


def at_ops(shell: Any, source: str) -> Any:
    from cells import run_cell

    run_cell(shell, f"%%inplace_watch --level ops --out report\n{source}")
    return shell.user_ns["report"]


def test_the_watch_goes_on_at_level_calls_and_says_so(loaded_shell: Any) -> None:
    report = at_ops(loaded_shell, DEFINED + "z = Noise(torch.ones(2))\nz.mul_(2)")

    assert report.trace.error is None
    assert report.trace.level == "calls"
    assert any("`Noise`" in sentence and "level `calls`" in sentence for sentence in report.blindness)


def test_so_it_does_for_a_class_of_an_earlier_cell(loaded_shell: Any) -> None:
    watch_cell(loaded_shell, DEFINED)

    assert at_ops(loaded_shell, "z = Noise(torch.ones(2))").trace.level == "calls"


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ntorch.ones(2)",
        DEFINED + "z = torch.ones(2).as_subclass(Noise)",
        OWN_NEW + "z = Noise(torch.ones(2))",
    ],
)
def test_any_other_cell_is_watched_at_the_level_that_was_asked_for(loaded_shell: Any, source: str) -> None:
    report = at_ops(loaded_shell, source)

    assert (report.trace.error, report.trace.level) == (None, "ops")


def test_where_it_could_not_be_known_the_report_says_that_the_watch_made_it_raise(loaded_shell: Any) -> None:
    make = DEFINED + "make = lambda data: Noise(data)"
    watch_cell(loaded_shell, make)

    report = at_ops(loaded_shell, "z = make(torch.ones(2))")

    (finding,) = report.hazards
    assert finding.code == "raised-by-the-watch"
    assert "This watch made the code raise" in report.to_text()
