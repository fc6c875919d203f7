"""The page of errors says what the table and the tested programs say."""

from __future__ import annotations

from scripts import script

MAKER = script("docs/make_errors.py")


def test_the_page_is_what_the_programs_make() -> None:
    assert MAKER.PAGE.read_text(encoding="utf-8") == MAKER.page(), "run `python docs/make_errors.py`"
