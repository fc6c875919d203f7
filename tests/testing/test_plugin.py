"""``pytest --inplace-watch``, in other processes: what it tells, what it changes, and what it does not load."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from forking.starting import python
from scripts import ROOT

NAME = "inplace_magic.testing.plugin"
INSTALLED = any(point.value == NAME for point in entry_points(group="pytest11"))
LOADED = () if INSTALLED else ("-p", NAME)
UNUSED = ("cacheprovider", "randomly", "hypothesispytest", "anyio")
"""Plugins of pytest that happen to be installed; to load the last two takes a fifth of the time of a process here."""

SUITE = """
import sys, unittest
import pytest, torch

def step(write):
    weight = torch.ones(3, requires_grad=True)
    probs = torch.sigmoid(weight)
    if write:
        probs[0] = 0.0
    probs.sum().backward()

def test_healthy():
    step(False)

def test_fails():
    step(True)

def test_fails_otherwise():
    assert torch.ones(2).add_(1).sum() == 5

def test_warned():
    ids = torch.arange(1, 9).view(2, 4)
    labels = ids
    ids[:, 1] = 0
    assert torch.nn.functional.one_hot(ids, 9).sum() + labels.sum() == 36

def test_silent():
    probs = torch.sigmoid(torch.ones(3, requires_grad=True))
    probs.data[0] = 0.0
    probs.sum().backward()

def test_expects_the_error():
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        step(True)

def test_watches_itself():
    import inplace_magic
    with inplace_magic.watch() as w:
        torch.ones(3).add_(1)
    assert w.report.calls

class OldStyle(unittest.TestCase):
    def setUp(self):
        assert torch._C._len_torch_function_stack() == 0, "setUp was watched"
    def test_fails_in_a_method(self):
        step(True)
"""
GUILTY = "`probs` was overwritten by `probs[0] = 0.0`"


def ran(folder: Path, *words: str, settings: str = "", by: str = "") -> tuple[int, str]:
    """Exit status and output of pytest on the suite.

    Args:
        folder: where it lies.
        words: what stands behind ``pytest``.
        settings: those of a ``pytest.ini``.
        by: a Python, where it may not be one that has imported torch.
    """
    if not (folder / "test_it.py").exists():
        (folder / "test_it.py").write_text(SUITE)
    (folder / "pytest.ini").write_text(f"[pytest]\n{settings}\n")
    left_out = [word for name in UNUSED for word in ("-p", f"no:{name}")]
    command = [by or python(), "-m", "pytest", *left_out, *LOADED, *words]
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(
        command, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=300, check=False
    )
    assert "INTERNALERROR" not in done.stdout + done.stderr
    return done.returncode, done.stdout + done.stderr


def outcomes(output: str) -> dict[str, str]:
    """Each test's, of a run with ``-rA``."""
    found = {}
    for line in output.splitlines():
        word, _space, rest = line.partition(" ")
        if word in ("PASSED", "FAILED", "ERROR"):
            found[rest.split(" - ")[0].split("::", 1)[-1]] = word
    return found


def sections(output: str) -> dict[str, str]:
    """The text under the heading of each failed test."""
    found: dict[str, str] = {}
    title = ""
    for line in output.splitlines():
        if line.startswith("___") and line.endswith("___"):
            title = line.strip("_ ")
        elif line.startswith("==="):
            title = ""
        elif title:
            found[title] = found.get(title, "") + line + "\n"
    return found


PLAIN = {
    "test_healthy": "PASSED",
    "test_fails": "FAILED",
    "test_fails_otherwise": "FAILED",
    "test_warned": "PASSED",
    "test_silent": "PASSED",
    "test_expects_the_error": "PASSED",
    "test_watches_itself": "PASSED",
    "OldStyle::test_fails_in_a_method": "FAILED",
}


def test_without_the_option_nothing_is_loaded_and_nothing_is_hooked(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import sys\n"
        "def pytest_unconfigure(config):\n"
        "    ours = sorted(name for name in sys.modules if name.startswith('inplace_magic'))\n"
        "    print('LOADED', ours, 'torch' in sys.modules)\n"
        "    print('AT WORK', config.pluginmanager.has_plugin('inplace_magic at work'))\n"
    )
    (tmp_path / "test_it.py").write_text("def test_nothing(): pass\n")
    _status, output = ran(tmp_path, "-s", by=sys.executable)
    assert "AT WORK False" in output
    loaded = output.split("LOADED ")[1].splitlines()[0]
    assert loaded.endswith(" False"), "torch is not loaded"
    assert "inplace_magic.testing.plugin" in loaded
    assert "inplace_magic.watching.api" not in loaded
    assert "inplace_magic.testing.watched" not in loaded


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_a_failed_test_shows_its_finding_and_no_outcome_changes(tmp_path: Path, workers: tuple[str, ...]) -> None:
    status, output = ran(tmp_path, "-rA", "--inplace-watch", *workers)
    assert (status, outcomes(output)) == (1, PLAIN)
    told = sections(output)
    for name in ("test_fails", "OldStyle.test_fails_in_a_method"):
        assert told[name].count("-- inplace_magic --") == 1
        assert told[name].count(GUILTY) == 1
        assert "inplace_magic/testing" not in told[name], "no entry of ours in a traceback"
        assert "watched.py" not in told[name], "no place of ours in a chain of callers"
        assert "handle_torch_function" not in told[name]
    assert "inplace_magic" not in told["test_fails_otherwise"]
    summary = output.split("inplace_magic: found in tests that passed")[1]
    for name, code in (("test_warned", "alias-written"), ("test_silent", "saved-values-changed")):
        assert f"test_it.py::{name}" in summary
        assert code in summary
    assert "test_it.py::test_healthy" not in summary.split("short test summary")[0]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_each_finding_is_an_annotation_once_and_no_outcome_changes(tmp_path: Path, workers: tuple[str, ...]) -> None:
    status, output = ran(tmp_path, "-rA", "--inplace-watch", "--inplace-annotate", *workers)
    assert (status, outcomes(output)) == (1, PLAIN)
    told = [line for line in output.splitlines() if line.startswith("::")]
    line = SUITE.splitlines().index("        probs[0] = 0.0") + 1
    assert any(f"::error title=saved-tensor-overwritten,file=test_it.py,line={line}," in each for each in told)
    assert any(each.startswith("::warning title=alias-written") for each in told)
    assert len(told) == len(set(told))


def test_the_plain_run_gives_the_same_outcomes(tmp_path: Path) -> None:
    status, output = ran(tmp_path, "-rA")
    assert (status, outcomes(output)) == (1, PLAIN)
    assert "saved-tensor-overwritten" not in output


def test_a_test_that_passes_with_a_silent_finding_can_be_made_to_fail(tmp_path: Path) -> None:
    _status, output = ran(tmp_path, "-rA", "--inplace-fail-on=silent", settings="inplace_watch = calls")
    assert outcomes(output) == {**PLAIN, "test_silent": "FAILED"}
    told = sections(output)["test_silent"]
    assert told.count("saved-values-changed") == 1
    assert "probs.data[0] = 0.0" in told


MARKED = """
import pytest, torch

@pytest.mark.inplace_watch(level="ops", fail_on="silent")
def test_marked():
    probs = torch.sigmoid(torch.ones(3, requires_grad=True))
    probs.data[0] = 0.0
    probs.sum().backward()

def test_by_fixture(inplace_watch):
    assert inplace_watch.report.calls == []
    probs = torch.sigmoid(torch.ones(3, requires_grad=True))
    probs[0] = 0.0
    first = inplace_watch.report
    assert [call.name for call in first.calls][-1] == "Tensor.__setitem__"
    assert first.hazards[0].variable == "probs"
    torch.ones(3).add_(1)
    assert len(inplace_watch.report.calls) > len(first.calls)

def test_not_marked():
    assert torch._C._len_torch_function_stack() == 0

@pytest.mark.inplace_watch(levle="ops")
def test_misspelt():
    pass
"""


def test_a_marker_and_a_fixture_watch_one_test_without_the_option(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(MARKED)
    _status, output = ran(tmp_path, "-rA", "--strict-markers")
    assert outcomes(output) == {
        "test_marked": "FAILED",
        "test_by_fixture": "PASSED",
        "test_not_marked": "PASSED",
        "test_misspelt": "FAILED",
    }, output
    assert "@pytest.mark.inplace_watch: there is no option 'levle'." in output


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("--inplace-watch=all", "level 'all' does not exist; choose one of calls, ops"),
        ("--inplace-fail-on=never", "fail-on 'never' does not exist; choose one of silent, warning."),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(tmp_path: Path, word: str, sentence: str) -> None:
    status, output = ran(tmp_path, "--inplace-watch", "--co", word)
    assert status == 4
    assert sentence in output


def test_a_file_behind_the_option_is_a_file_and_no_level(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_it(): pass\n", encoding="utf-8")
    for words in (["test_one.py"], ["test_one.py::test_it"], ["ops", "test_one.py"]):
        status, output = ran(tmp_path, "-rA", "--inplace-watch", *words)
        assert (status, outcomes(output)) == (0, {"test_it": "PASSED"}), output


def test_installing_the_package_registers_the_plugin() -> None:
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'[project.entry-points.pytest11]\ninplace_magic = "{NAME}"\n' in settings


@pytest.mark.parametrize("asked", [("--inplace-answer",), ()], ids=["option", "setting"])
def test_unwatched_tests_show_the_answer_and_run_as_without_us(tmp_path: Path, asked: tuple[str, ...]) -> None:
    status, output = ran(tmp_path, "-rA", *asked, settings="" if asked else "inplace_answer = true")
    assert status == 1
    assert outcomes(output) == PLAIN
    told = sections(output)
    answer = "\ninplace_magic: `probs[0] = 0.0` (test_it.py:9"
    assert {name for name, text in told.items() if answer in text} == {"test_fails", "OldStyle.test_fails_in_a_method"}
    assert output.count("inplace_magic: ") == 2


def test_a_watched_test_shows_its_finding_and_no_answer(tmp_path: Path) -> None:
    _status, output = ran(tmp_path, "--inplace-watch", "--inplace-answer")
    assert GUILTY in sections(output)["test_fails"]
    assert "inplace_magic: `" not in output
