"""An unwatched cell that fails with an error that a watch explains gets an answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cells import Ran, run_cell

from inplace_magic.magics.unwatched import is_explained

FAILING = {
    "saved tensor overwritten": "y = torch.sigmoid(torch.ones(2, requires_grad=True))\ny.mul_(2)\ny.sum().backward()",
    "graph used twice": "y = torch.sigmoid(torch.ones(2, requires_grad=True)).sum()\ny.backward()\ny.backward()",
    "leaf": "torch.ones(2, requires_grad=True).mul_(2)",
    "view of a leaf": "torch.ones(2, requires_grad=True)[0].mul_(2)",
    "multi-output view": "a, b = (torch.ones(2, requires_grad=True) * 1).unbind()\na.mul_(2)",
    "view under no_grad": "w = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    v = w[:1]\nv.mul_(2)",
}

WITHOUT_TORCH = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "inplace_magic")
shell.run_cell("raise RuntimeError('a leaf Variable that requires grad is being used in an in-place operation.')")
assert "torch" not in sys.modules
"""


@pytest.fixture
def ip(loaded_shell: Any) -> Any:
    """A shell with the extension and torch."""
    run_cell(loaded_shell, "import torch")
    return loaded_shell


def hinted(ran: Ran) -> bool:
    assert ran.out.count("inplace_magic: ") + len(ran.answers) <= 1
    return bool(ran.answers)


@pytest.mark.parametrize("cell", FAILING.values(), ids=FAILING.keys())
def test_an_unwatched_cell_that_fails_so_gets_the_line_after_its_traceback(ip: Any, cell: str) -> None:
    ran = run_cell(ip, cell)
    assert isinstance(ran.error, RuntimeError)
    assert hinted(ran)


@pytest.mark.parametrize("cell", FAILING.values(), ids=FAILING.keys())
def test_a_watched_cell_does_not(ip: Any, cell: str) -> None:
    assert not hinted(run_cell(ip, f"%%inplace_watch\n{cell}"))
    run_cell(ip, "%inplace_watch on")
    assert not hinted(run_cell(ip, cell))
    run_cell(ip, "%inplace_watch off")
    assert hinted(run_cell(ip, cell))


def test_a_cell_that_a_watched_cell_runs_does_not(ip: Any) -> None:
    ran = run_cell(ip, f"%%inplace_watch\nget_ipython().run_cell({FAILING['leaf']!r});")
    assert ran.answers == []


@pytest.mark.parametrize(
    "cell",
    ["1 / 0", "raise RuntimeError", "raise RuntimeError('other')", "raise RuntimeError(7)", "x = = 1", "", "7"],
)
def test_other_cells_do_not(ip: Any, cell: str) -> None:
    assert not hinted(run_cell(ip, cell))


def test_an_error_that_was_wrapped_is_still_known(ip: Any) -> None:
    body = FAILING["leaf"]
    assert hinted(
        run_cell(ip, f"try:\n    {body}\nexcept RuntimeError as e:\n    raise ValueError('step failed') from e")
    )
    assert hinted(run_cell(ip, f"try:\n    {body}\nexcept RuntimeError:\n    raise ValueError('step failed')"))
    hidden = f"try:\n    {body}\nexcept RuntimeError:\n    raise ValueError('another matter') from None"
    assert not hinted(run_cell(ip, hidden))


def test_errors_that_cause_each_other_end() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert not is_explained(one)


def test_no_code_of_the_users_runs_to_read_the_error() -> None:
    class Loud(RuntimeError):
        def __str__(self) -> str:
            raise AssertionError("run")

    assert not is_explained(Loud("what"))


def test_an_error_that_only_reads_like_one_of_torch_s_loads_no_torch(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH],
        capture_output=True,
        text=True,
        timeout=120,
        env={"IPYTHONDIR": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "inplace_magic" not in done.stdout
