"""Suspects: the writes that another holder of the memory sees, likeliest first. A list to look through, no alarm."""

from __future__ import annotations

from pathlib import Path

import pytest
from hazards.running import plainly, watched

SHARED = {
    "an entry of a list": (
        """
        x = torch.ones(3) * 2
        kept = [x]
        x += 1
        total = kept[0].sum()
        """,
        ("x += 1", "kept[0]", "total = kept[0].sum()"),
    ),
    "an argument": (
        """
        def scaled(rows):
            rows.mul_(3)
            return rows.sum()
        x = torch.ones(3) * 2
        y = scaled(x)
        z = x.mean()
        """,
        ("rows.mul_(3)", None, None),
    ),
    "a second name": (
        """
        a = torch.arange(4.0)
        b = a
        b -= 1
        c = a * 2
        """,
        ("b -= 1", "a", "c = a * 2"),
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_a_write_that_another_name_sees_is_the_first_suspect(name: str, tmp_path: Path) -> None:
    program, (wrote, holder, read) = SHARED[name]
    first = watched(tmp_path, program).report.suspects()[0]
    assert first.mutation.statement == wrote
    if holder is not None:
        assert first.holder == holder
        assert first.read is not None
        assert first.read.statement == read
        assert f"`{holder}`" in str(first)


def test_a_write_that_nobody_else_sees_is_last_and_has_no_read(tmp_path: Path) -> None:
    program = """
    total = torch.zeros(2)
    total += 1
    a = torch.ones(2) * 3
    b = a
    b *= 2
    c = a + total
    """
    found = watched(tmp_path, program).report.suspects()
    assert [each.mutation.statement for each in found] == ["b *= 2", "total += 1"]
    assert found[1].read is None


def test_a_suspect_is_no_alarm(tmp_path: Path) -> None:
    program = """
    def moved(state):
        state += 1
        return state
    place = torch.ones(2) * 2
    place = moved(place)
    end = place.sum()
    """
    assert plainly(tmp_path, program).error is None
    ran = watched(tmp_path, program)
    assert ran.codes() == set()
    assert ran.report.suspects()


@pytest.mark.parametrize("question", ["old.shape", "len(old)", "old.numel()", "torch.zeros_like(old)"])
def test_a_question_for_a_shape_is_no_read(question: str, tmp_path: Path) -> None:
    program = f"""
    x = torch.ones(3) * 2
    old = x
    x += 1
    size = {question}
    """
    (found,) = watched(tmp_path, program).report.suspects()
    assert found.read is None
