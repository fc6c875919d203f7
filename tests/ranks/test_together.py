"""What ranks say is said once, by whoever is there to say it."""

from __future__ import annotations

import io
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from inplace_magic.hazards import Hazard
from inplace_magic.ranks import together
from inplace_magic.ranks.boards import Folder
from inplace_magic.ranks.rank import Rank, ranks_named, this_rank
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.render.deliver import say
from inplace_magic.report import Report
from inplace_magic.watching.api import analyze


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def report(line: int | None) -> Report:
    """Of a rank that has a finding in this line, or none."""
    fine = analyze(Trace())
    if line is None:
        return fine
    site = Callsite(cell=None, file="train.py", line=line, text="x *= 2")
    return replace(
        fine, findings=(Hazard("alias-written", "silent", f"Line {line} wrote.", "Write a copy.", mutation=site),)
    )


def told_by(lines: dict[int, int | None], size: int, err: pytest.CaptureFixture[str], **how: bool) -> str:
    """What ranks with findings in these lines say, all at a time."""
    ranks = [
        threading.Thread(target=together.tell_together, args=(Rank(number, size, "run"), report(line)), kwargs=how)
        for number, line in lines.items()
    ]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join()
    return err.readouterr().err


def test_ranks_that_say_the_same_are_said_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = told_by(dict.fromkeys(range(4), 7), 4, capsys)
    assert said.count("inplace_magic: ranks 0–3:") == said.count("Line 7 wrote.") == 1
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


def test_a_rank_that_differs_is_told_apart_and_the_serious_first(capsys: pytest.CaptureFixture[str]) -> None:
    said = told_by({0: None, 1: 9, 2: None}, 3, capsys)
    assert said.index("inplace_magic: rank 1:") < said.index("inplace_magic: ranks 0, 2: ")


def test_where_nothing_is_wrong_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert told_by({0: None, 1: None}, 2, capsys, quiet=True) == ""


def test_what_a_rank_saw_is_told_although_another_died(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "PATIENCE", 0.0)
    said = told_by({0: 5}, 3, capsys)
    assert "inplace_magic: rank 0:" in said
    assert "inplace_magic: ranks 1–2: not heard of until now." in said
    assert told_by({1: 5}, 3, capsys).splitlines() == ["inplace_magic: rank 1: the same as above."]
    assert "Line 6 wrote." in told_by({2: 6}, 3, capsys), "the last of them, and other than the first"


def test_what_an_earlier_run_left_is_not_taken_for_this_one_s(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "PATIENCE", 0.0)
    told_by({0: 5}, 2, capsys)
    for number in range(2):
        together.begin_together(Rank(number, 2, "run"))
    said = told_by({0: 5}, 2, capsys)
    assert "Line 5 wrote." in said


def test_what_the_note_of_an_error_tells_is_not_told_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert told_by({0: 5}, 2, capsys, told=True) == ""
    said = told_by({1: 5}, 2, capsys)
    assert "Line 5 wrote." not in said


def test_a_board_that_somebody_else_made_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rank = Rank(0, 2, "run")
    folder = Folder(rank).path
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    together.tell_together(rank, report(3))
    assert "Line 3 wrote." in capsys.readouterr().err, "the rank speaks for itself"
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    ("numbers", "named"), [([3], "rank 3"), (range(8), "ranks 0–7"), ([0, 1, 2, 5, 7, 8], "ranks 0–2, 5, 7–8")]
)
def test_ranks_are_named_in_runs(numbers: list[int], named: str) -> None:
    assert ranks_named(numbers) == named


@pytest.mark.parametrize(
    ("environment", "number"),
    [
        ({"RANK": "1", "WORLD_SIZE": "4", "MASTER_PORT": "29500"}, 1),
        ({"RANK": "0", "WORLD_SIZE": "1"}, None),
        ({"RANK": "x", "WORLD_SIZE": "2"}, None),
        ({}, None),
    ],
)
def test_a_rank_is_known_by_its_environment(
    environment: dict[str, str], number: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    rank = this_rank()
    assert (rank.number if rank else None) == number


class Pipe(io.RawIOBase):
    """Where several ranks write."""

    def __init__(self) -> None:
        self.came: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        self.came.append(bytes(data))  # type: ignore[call-overload]
        return len(self.came[-1])


def test_what_is_said_comes_with_its_end_of_line_so_that_no_other_ranks_line_is_glued_to_it() -> None:
    pipe = Pipe()
    say("Finding 1\n  in two lines", io.TextIOWrapper(io.BufferedWriter(pipe), line_buffering=True))
    assert pipe.came == [b"Finding 1\n  in two lines\n"]
