"""The FAQ: every report on its pages is what the cell above it shows, and both languages ask the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from scripts import ROOT, script

QUOTED_ERROR = re.compile(r'^## [^\n]*"([^"\n]+)"$\n.*?```python\n(.*?)```', re.MULTILINE | re.DOTALL)
"""A question that quotes PyTorch's message, and the first cell below it."""


MAKER = script("docs/make_faq.py")
PAGES = [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in MAKER.PAGES]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the pages show what torch 2.13 does")
@pytest.mark.parametrize("path", PAGES)
def test_each_report_on_a_page_is_what_its_cell_shows(shell: Any, path: Path) -> None:
    assert MAKER.page(shell, read(path)) == read(path), "out of date: run `python docs/make_faq.py`"


def test_both_languages_have_the_same_cells() -> None:
    english, chinese = (MAKER.cells(read(path)) for path in MAKER.PAGES)
    assert english == chinese


@pytest.mark.parametrize("path", PAGES)
def test_every_question_has_a_cell_with_its_report(path: Path) -> None:
    for question in read(path).split("\n## ")[1:]:
        assert len(MAKER.cells(question)) == question.count("<details>") == 1, question.splitlines()[0]


@pytest.mark.parametrize("path", PAGES)
def test_a_cell_under_a_quoted_error_raises_that_error(shell: Any, path: Path) -> None:
    quoted = QUOTED_ERROR.findall(read(path))
    assert len(quoted) == 2
    for message, cell in quoted:
        shell.reset()
        shell.run_cell(MAKER.setup(read(path)))
        assert message in str(shell.run_cell(cell).error_in_exec)
