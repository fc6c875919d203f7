"""Every exercise of the course: its cell as it stands, its hints, its solution, in both languages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from lessons.asking import begin, mistaken, solved, speaks_chinese, untouched

from inplace_magic.errors import OptionError
from inplace_magic.language import LANGUAGES, use_language
from inplace_magic.lessons import check, hint, solution
from inplace_magic.lessons.exercise import exercises

KEYS = list(exercises())
each_exercise = pytest.mark.parametrize("key", KEYS)


@pytest.fixture
def lesson(loaded_shell: Any, key: str) -> Any:
    """A shell in which the first cell of the exercise's lesson ran."""
    begin(loaded_shell, f"{int(key.split('.')[0]):02}")
    return loaded_shell


@pytest.fixture(params=LANGUAGES)
def tongue(request: pytest.FixtureRequest) -> Iterator[str]:
    with use_language(request.param):
        yield request.param


@each_exercise
def test_a_cell_that_nobody_touched_is_not_right(lesson: Any, key: str, tongue: str) -> None:
    told = untouched(lesson, key)
    assert told.status in ("open", "wrong")
    assert told.sentences
    assert all(speaks_chinese(sentence) == (tongue == "zh") for sentence in (told.title, told.sentences[0]))


@each_exercise
def test_a_mistake_is_explained_by_the_code_that_was_handed_in(lesson: Any, key: str, tongue: str) -> None:
    told = mistaken(lesson, key)
    assert told.status == "wrong"
    assert "`" in " ".join(told.sentences), told
    assert all(speaks_chinese(sentence) == (tongue == "zh") for sentence in (told.title, told.sentences[0]))


@each_exercise
def test_the_solution_is_right_and_says_why(lesson: Any, key: str, tongue: str) -> None:
    told = solved(lesson, key)
    assert told.passed, told
    assert told.sentences
    assert all(speaks_chinese(sentence) == (tongue == "zh") for sentence in (told.title, *told.sentences))


@each_exercise
def test_hints_lead_on_and_end(key: str, tongue: str) -> None:
    first, last = hint(key), hint(key, 99)
    assert first.status == last.status == "hint"
    assert f'hint("{key}", 2)' in repr(first)
    assert f'hint("{key}"' not in repr(last)
    assert speaks_chinese(first.sentences[0]) == (tongue == "zh")


@each_exercise
def test_the_solution_is_shown_as_code_with_its_reason(key: str, tongue: str) -> None:
    told = solution(key)
    compile(told.code, "solution", "exec")
    assert speaks_chinese(told.sentences[0]) == (tongue == "zh")


def test_an_exercise_that_does_not_exist_is_named_with_those_there_are() -> None:
    with pytest.raises(OptionError, match=r"no exercise '1\.9'; there are '1\.1', '1\.2'\."):
        check("1.9", 3)


def test_a_hint_is_counted_from_one() -> None:
    with pytest.raises(OptionError, match=r"counted from 1"):
        hint("1.1", 0)


def test_a_check_without_its_answers_says_how_many_it_takes() -> None:
    with pytest.raises(OptionError, match=r"takes 2 answers, and got 1"):
        check("1.1", {"a"})
