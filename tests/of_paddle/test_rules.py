"""Every rule has a Paddle twin: a program in which it is found and one in which it is not; or a reason why not.

The programs stand in ``twins.md``, under the name of the rule. What stands above ``# Bad`` is part of
both programs. Of a rule that does not run on Paddle's tensors, both programs show that it would find nothing.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import paddle
import pytest
from hazards.patching import patched

from inplace_magic import hazards
from inplace_magic.hazards import FOR_PADDLE, RULES
from inplace_magic.hazards.of_paddle import NOT_FOR_PADDLE

_TWIN = re.compile(r"^## ([\w-]+)\n\n```python\n(.*?)```$", re.M | re.S)
TWINS = dict(_TWIN.findall((Path(__file__).parent / "twins.md").read_text(encoding="utf-8")))
NAMES = sorted(TWINS)
HEAD = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
import inplace_magic
paddle.seed(0)
with inplace_magic.watch() as watched:
"""
NO_PROGRAM = {
    *("array-shares-memory", "bucket-left-behind", "view-written"),
}
"""Paddle has no program of that kind: its reason says so."""
SINCE = {"out-is-input": (3, 2), "out-outgrown": (3, 2), "taken-memory-trained": (3, 3)}
"""The first version of Paddle in which the program is possible, or does what it does: ``out=``; ``w.data = start``."""
HERE = tuple(int(part) for part in paddle.__version__.split(".")[:2])
RUNNING = [name for name in NAMES if name not in NOT_FOR_PADDLE and SINCE.get(name, (3, 0)) <= HERE]


def program(name: str, title: str) -> str:
    """The program of a twin under a heading, watched."""
    setup, bad, good = re.split(r"^# (?:Bad|Good)\n", TWINS[name], flags=re.M)
    return HEAD + textwrap.indent(setup + {"Bad": bad, "Good": good}[title], "    ")


def run(folder: Path, source: str) -> Any:
    """The report of a program."""
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, str(path), "exec"), names)
    report = names["watched"].report
    assert report.faults == []
    return report


def serious(report: Any) -> list[Any]:
    return [finding for finding in report.hazards if finding.severity != "info"]


def codes_of(name: str) -> set[str]:
    """The codes of a rule's findings."""
    rule = next(rule for rule in RULES if rule.name == name)
    return {rule.name, *rule.cures}


def test_each_rule_has_a_twin_or_a_reason_and_none_has_both() -> None:
    names = {rule.name for rule in RULES}
    assert set(NOT_FOR_PADDLE) <= names
    assert {rule.name for rule in FOR_PADDLE} == names - set(NOT_FOR_PADDLE)
    assert set(NAMES) == names - NO_PROGRAM
    assert set(NOT_FOR_PADDLE) >= NO_PROGRAM


@pytest.mark.parametrize("name", RUNNING)
def test_the_bad_program_is_found_and_the_good_one_is_quiet(tmp_path: Path, name: str) -> None:
    bad, good = run(tmp_path, program(name, "Bad")), run(tmp_path, program(name, "Good"))
    assert codes_of(name) & {finding.code for finding in bad.hazards}, bad.to_text()
    assert serious(good) == [], good.to_text()
    assert not codes_of(name) & {finding.code for finding in good.hazards}
    for finding in bad.hazards:
        told = f"{finding.message} {finding.fix} {finding.diff}"
        assert "torch" not in told.lower(), told


@pytest.mark.parametrize("name", RUNNING)
def test_the_diff_of_a_finding_is_code_of_paddle_and_cures_it(tmp_path: Path, name: str) -> None:
    source = program(name, "Bad")
    found = run(tmp_path, source)
    first = next(finding for finding in found.hazards if finding.code in codes_of(name))
    if not first.diff:
        return
    cured = "\n".join(patched(source.splitlines(), [first.diff]))
    assert first.code not in {finding.code for finding in run(tmp_path, cured).hazards}


@pytest.mark.parametrize("name", [name for name in NAMES if name in NOT_FOR_PADDLE])
def test_a_rule_that_does_not_run_would_find_nothing(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hazards, "FOR_PADDLE", RULES)
    for title in ("Bad", "Good"):
        report = run(tmp_path, program(name, title))
        assert not codes_of(name) & {finding.code for finding in report.hazards}, report.to_text()
