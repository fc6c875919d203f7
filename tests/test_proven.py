"""A proof is left out only while everything it depends on is what it was when its tests passed."""

from __future__ import annotations

from pathlib import Path

import conftest
import proven
import pytest

ROUND, OPERATORS, CURES = (
    "tests/test_rounds.py::test_a_program_of_a_round",
    "tests/no_harm/test_operators.py",
    "tests/hazards/test_fixes.py::test_the_diff_cures",
)


@pytest.mark.parametrize(
    ("file", "again", "still"),
    [
        ("inplace_magic/capture/recorder.py", {ROUND, OPERATORS, CURES}, set()),
        ("inplace_magic/hazards/finding.py", {CURES}, {ROUND, OPERATORS}),
        ("inplace_magic/render/words.py", set(), {ROUND, OPERATORS, CURES}),
        ("tests/programs/rounds/01.md", {ROUND, CURES}, {OPERATORS}),
        ("tests/traces/golden.jsonl", {CURES}, {ROUND, OPERATORS}),
        ("tests/no_harm/lists.py", {OPERATORS}, {ROUND, CURES}),
    ],
)
def test_a_change_of_a_file_asks_for_the_proofs_that_depend_on_it_and_no_other(
    file: str, again: set[str], still: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {proof: proven.digest(proof) for proof in again | still}
    plain = proven._digest
    changed = proven.ROOT / file
    assert changed.exists()
    monkeypatch.setattr(proven, "_digest", lambda path: b"else" if path == changed else plain(path))
    assert {proof for proof in before if proven.digest(proof) != before[proof]} == again


def test_what_no_run_has_proven_is_never_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proven, "is_proven", lambda proof: False)
    assert not any(conftest.is_left_out(f"{ROUND}_ends[{number}]") for number in range(50))
    monkeypatch.setattr(proven, "is_proven", lambda proof: True)
    left_out = [conftest.is_left_out(f"{ROUND}_ends[{number}]") for number in range(500)]
    assert 400 < sum(left_out) < 490, "a tenth runs with each commit"
    assert not conftest.is_left_out("tests/test_watch.py::test_anything")


@pytest.mark.parametrize("proof", proven.PROOFS)
def test_each_proof_names_tests_that_are_there_and_slow(proof: str) -> None:
    file, _colons, name = proof.partition("::")
    path = proven.ROOT / file
    assert path.is_dir() or f"def {name or 'test_'}" in path.read_text(encoding="utf-8")
    assert proof.startswith(conftest.SLOW)
