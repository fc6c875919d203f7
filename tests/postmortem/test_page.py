"""The pages of errors: each error text that is answered has one in both languages, and its cells do what it says."""

from __future__ import annotations

import re

import pytest
from postmortem.refused import run, texts
from scripts import script

from inplace_magic.postmortem.kinds import KINDS

MAKER = script("docs/make_errors.py")
PAGES = MAKER.pages()
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def test_every_code_that_is_answered_has_a_page_in_both_languages() -> None:
    for folder in MAKER.FOLDERS.values():
        assert {f"{folder}/{kind.code}.md" for kind in KINDS} | {f"{folder}/index.md"} == {
            name for name in PAGES if name.startswith(f"{folder}/")
        }


@pytest.mark.parametrize("error", MAKER.errors(), ids=lambda error: error.code)
def test_the_cells_of_a_page_run_as_they_stand_and_fail_as_it_says(error: object) -> None:
    code = error.code  # type: ignore[attr-defined]  # an Error of the loaded module
    for folder in MAKER.FOLDERS.values():
        (_, said), (_, bad), (_, answer), (_, cured) = BLOCK.findall(PAGES[f"{folder}/{code}.md"])
        raised, given = run(bad, names={})
        assert given is not None
        assert (given.code, f"{type(raised).__name__}: {raised}".strip()) == (code, said.strip())
        assert f"Cell In[1], line {given.candidates[0].line}" in answer
        assert run(cured, names={}) == (None, None)


def test_a_search_knows_each_text_of_an_error_by_its_pattern() -> None:
    known = MAKER.asked()
    for code, _, text in texts():
        assert (
            next(each["code"] for each in known if re.search(each["pattern"].replace("(?<", "(?P<"), text, re.DOTALL))
            == code
        )
