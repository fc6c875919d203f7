"""The answer to an unwatched failure, as text and as a card: what is certain as a fact, what is not as candidates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inplace_magic.language import use_language
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite
from inplace_magic.render.answer import MOST_CANDIDATES, html_of, text_of

WRITE = Callsite(5, "h.mul_(2)", cell=3)
CERTAIN = Answer(
    code="saved-tensor-overwritten",
    message="`h.mul_(2)` (Cell In[3], line 5) overwrote `h`, saved by `h = f(x)` (Cell In[2], line 4).",
    place=Callsite(7, "h.sum().backward()", cell=3),
    candidates=(WRITE,),
    certain=True,
    saved=Callsite(4, "h = f(x)", cell=2),
    saved_by="SigmoidBackward0",
    expected_version=0,
    found_version=1,
    variable="h",
    fix="Write `h = h * 2`.",
)
OPEN = replace(
    CERTAIN,
    certain=False,
    candidates=(WRITE, Callsite(6, "h.add_(1)", cell=3), Callsite(9, "y += 1", file="/home/me/model.py")),
    fix=None,
)


def test_what_is_certain_stands_with_both_lines_and_a_fix_that_was_not_tried() -> None:
    assert text_of(CERTAIN).splitlines() == [
        f"inplace_magic: {CERTAIN.message}",
        "",
        "  Cell In[2]:",
        "    4 | h = f(x)  <- saved here (by SigmoidBackward0)",
        "",
        "  Cell In[3]:",
        "  > 5 | h.mul_(2)  <- overwritten here (version 0 → 1)",
        "",
        "  Fix: Write `h = h * 2`.",
        "  – Not tried: `%inplace_why 3` runs the cell again on copies, watched, and proves a fix.",
    ]
    assert CERTAIN.mutation == WRITE


def test_right_below_the_cell_its_lines_have_no_number_of_a_cell() -> None:
    text = text_of(CERTAIN, below=True)
    assert "`h.mul_(2)` (line 5)" in text
    assert "(Cell In[2], line 4)" in text
    own = replace(CERTAIN, saved=replace(WRITE, line=4, text="h = f(x)"))
    assert "Cell In[3]:" not in text_of(own, below=True)
    assert "Cell In[3]:" in text_of(own)


def test_what_is_not_certain_is_one_of_these_lines_and_never_a_fact() -> None:
    for shown in (text_of(OPEN), html_of(OPEN)):
        assert shown.count("one of these lines") == 3
        assert "overwritten here" not in shown
        assert "`%inplace_why 3`" in shown or "%inplace_why 3" in shown
    assert "<- one of these lines (the likeliest)" in text_of(OPEN)
    assert OPEN.mutation is None
    alone = text_of(replace(OPEN, candidates=OPEN.candidates[:1]))
    assert "possibly here" in alone
    many = replace(OPEN, candidates=tuple(replace(WRITE, line=line) for line in range(5, 25)))
    assert text_of(many).count("one of these lines") == MOST_CANDIDATES
    assert f"{20 - MOST_CANDIDATES} more lines can have done it." in text_of(many)


@pytest.mark.parametrize(
    "answer", [CERTAIN, OPEN, Answer(code="saved-tensor-overwritten", message="Nothing is known.")]
)
def test_the_card_keeps_to_plain_tags_and_escapes_the_users_code(answer: Answer) -> None:
    hostile = replace(answer, message=f"{answer.message} `<script>x</script>`", saved=Callsite(1, "<b>&"))
    card = html_of(hostile).partition("<script>")[0]  # the one that follows the theme
    assert "<style" not in card
    assert "<svg" not in card
    assert "&lt;script&gt;" in card
    assert "&lt;b&gt;&amp;" in card


def test_in_a_script_there_is_no_cell_to_run_again() -> None:
    place = Callsite(7, "h.sum().backward()", file="/home/me/train.py")
    assert text_of(replace(CERTAIN, place=place)).endswith("  – Not tried.")
    assert "inplace_why" not in text_of(replace(OPEN, place=place))


def test_in_chinese_every_word_of_ours_is() -> None:
    with use_language("zh"):
        assert "在此被改写" in text_of(CERTAIN)
        assert "（第 5 行）" in text_of(CERTAIN, below=True) or "(第 5 行)" in text_of(CERTAIN, below=True)
        assert "未试过" in text_of(CERTAIN)
        assert text_of(OPEN).count("这几行之一") == 3
