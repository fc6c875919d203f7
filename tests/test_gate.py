"""What the rules say of the recorded traces of all labelled programs is what the golden file says."""

from __future__ import annotations

import json
from pathlib import Path

import gate
import proven
import pytest
import stored
from programs import packed

SETS = [pytest.param(each, id=stored.name_of(each)) for each in packed.SETS]


@pytest.mark.parametrize("programs", SETS)
def test_the_recorded_programs_are_told_as_the_golden_file_says(programs: Path) -> None:
    rows = gate.judged(programs)
    names = {case["case"] for case in packed.cases_in(programs)}
    assert {row.name for row in rows} == names - proven.without_trace(), "run `python tests/proven.py`"
    assert [text for row in rows for text in gate.complaints(row)] == []
    changed = [row for row in rows if json.loads(json.dumps(row.golden)) != gate.golden().get(row.name)]
    assert changed == [], "if that is meant: `make gate ACCEPT=1`"


def test_the_golden_file_has_each_program_and_no_healthy_one_with_an_alarm() -> None:
    cases = [case for programs in packed.SETS for case in packed.cases_in(programs)]
    assert gate.golden().keys() == {case["case"] for case in cases}
    assert [row for row in gate.golden().values() if row[0].startswith("ok_") and not row[1]] == []


def test_a_report_comes_out_of_an_archive_as_it_went_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (name, report), *_ = stored.stored_in(packed.FIRST)
    monkeypatch.setattr(stored, "TRACES", tmp_path)
    assert stored.write(packed.FIRST, {name: report})
    assert not stored.write(packed.FIRST, {name: report})
    assert dict(stored.stored_in(packed.FIRST)) == {name: report}
