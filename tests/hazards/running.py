"""The programs of a rule's page, run for real in a file of their own: plainly, and under ``inplace_magic.watch()``."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from inplace_magic.hazards import Hazard
from inplace_magic.hazards.all_rules import page_of
from inplace_magic.hazards.rule import Rule, findings
from inplace_magic.record.places import Callsite
from inplace_magic.report import Report

IMPORTS = """\
import copy
import torch
import torch.nn.functional as F
from torch import nn
import inplace_magic
torch.manual_seed(0)
"""
WATCH = "with inplace_magic.watch() as watched:\n"


def module_of(rule: Rule) -> str:
    """Return where a rule stands, in full: the module of its check, or of what its first row searches by."""
    check = getattr(rule.check, "func", rule.check)
    search = rule.check.args[0][0].search if check is findings else check  # type: ignore[attr-defined]  # of a partial
    return getattr(search, "func", search).__module__


@dataclass(frozen=True)
class Ran:
    """How a program ended."""

    path: Path
    names: dict[str, Any]
    error: Exception | None

    @property
    def report(self) -> Report:
        """The report of a watched program, which had no fault of ours."""
        report: Report = self.names["watched"].report
        assert report.faults == []
        return report

    def the(self, code: str) -> Hazard:
        """The program's one finding of that code."""
        found = [hazard for hazard in self.report.hazards if hazard.code == code]
        assert len(found) == 1, self.report.to_text()
        return found[0]

    def codes(self) -> set[str]:
        """The codes of all findings."""
        return {hazard.code for hazard in self.report.hazards}

    def at(self, site: Callsite | None) -> str:
        """The statement at a place, which must lie in this program, at the line where the program has it."""
        assert site is not None
        assert site.file == str(self.path)
        assert site.place == f"{self.path.name}:{site.line}"
        line = self.path.read_text(encoding="utf-8").splitlines()[site.line - 1]
        assert site.text == line.strip()
        return site.statement


def code_of(rule: ModuleType | str) -> str:
    """The code of a rule's findings: of a module with one, or as it is given."""
    return rule if isinstance(rule, str) else str(rule.CODE)


def example(rule: ModuleType | str, title: str) -> str:
    """The program under ``Bad::`` or ``Good::`` of a rule's page, by its module or its code."""
    codes = [rule] if isinstance(rule, str) else [value for value in vars(rule).values() if isinstance(value, str)]
    page = next(filter(None, map(page_of, codes)), None)
    found = re.search(rf"^{title}::\n\n((?:    .*\n|\n)+)", page or "", re.MULTILINE)
    assert found is not None
    return textwrap.dedent(found[1]).strip("\n")


def cure(hazard: Hazard) -> str:
    """The fix of a finding: its sentence, and its diff where there is one."""
    return f"{hazard.fix}\n{hazard.diff}"


def plainly(folder: Path, *parts: str) -> Ran:
    """Runs a program, given in parts, without us."""
    return _run(folder / "plain.py", IMPORTS + "".join(map(_clean, parts)))


def watched(folder: Path, *parts: str) -> Ran:
    """Runs a program, given in parts, under a watch."""
    body = textwrap.indent("".join(map(_clean, parts)), "    ")
    return _run(folder / "watched_program.py", IMPORTS + WATCH + body)


def _clean(part: str) -> str:
    return textwrap.dedent(part).strip("\n") + "\n"


def _run(path: Path, source: str) -> Ran:
    path.write_text(source, encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    error: Exception | None = None
    try:
        exec(compile(source, str(path), "exec"), names)
    except Exception as raised:  # whatever the program raises is what the test looks at
        error = raised
    return Ran(path, names, error)
