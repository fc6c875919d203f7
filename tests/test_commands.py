"""The commands that people and CI are told to type are there, and nothing is left out for good."""

from __future__ import annotations

import re

import drawing_lots
import pytest
from scripts import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TOLD = [ROOT / "README.md", ROOT / ".ci" / "run", *WORKFLOWS, *(ROOT / "docs").glob("*.md"), ROOT / "docs/zh/README.md"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("page", TOLD, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_make_command_is_a_target(page: object) -> None:
    text = page.read_text(encoding="utf-8")  # type: ignore[attr-defined]  # a path
    assert set(re.findall(r"(?:^\s*|`|run: |exec )make ([a-z-]+)\b", text, re.MULTILINE)) <= TARGETS


def test_ci_runs_everything_and_the_readme_names_both_commands() -> None:
    assert "exec make test-all " in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "`make test`" in readme
    assert "`make test-all`" in readme


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_yaml_with_jobs_that_have_steps(workflow: object) -> None:
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]  # type: ignore[attr-defined]  # a path
    assert jobs
    assert all(job["steps"] and job["timeout-minutes"] for name, job in jobs.items() if name != "publish")


@pytest.mark.parametrize("first", [0, 7, 5_000])
def test_ten_commits_in_a_row_run_every_slow_test_that_can_be_drawn(first: int) -> None:
    names = [f"tests/no_harm/test_{letter}.py::test[{number}]" for letter in "abc" for number in range(200)]
    drawn = [name for commits in range(first, first + 10) for name in names if drawing_lots.is_drawn(name, commits)]
    assert sorted(drawn) == sorted(names)
    assert all(len([n for n in names if drawing_lots.is_drawn(n, first + i)]) < len(names) // 5 for i in range(10))


def test_smoke_tests_run_at_every_commit_and_files_with_a_shared_kernel_are_drawn_whole() -> None:
    assert all(drawing_lots.is_drawn(f"{drawing_lots.SMOKE[0]}::test", commits) for commits in range(10))
    whole = [f"tests/ranks/test_torchrun.py::test_{number}" for number in range(20)]
    for commits in range(10):
        assert len({drawing_lots.is_drawn(name, commits) for name in whole}) == 1


@pytest.mark.parametrize("beginning", [*drawing_lots.SMOKE, *drawing_lots.IN_TEST_ALL_ALONE])
def test_what_is_named_is_there(beginning: str) -> None:
    file, _, name = beginning.partition("::")
    path = ROOT / file
    assert path.is_dir() or f"def {name}" in path.read_text(encoding="utf-8")
