"""The questions on Paddle: each report is what the cell above it shows, and both languages ask the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import paddle
import pytest
from scripts import script

MEMORY = re.compile(r"(Memory by line|各行内存).*\n(.+\n)+")
"""Paddle's counters count the tensors of whoever else lives in the process."""
NUMBERED = re.compile(r"generated_tensor_\d+")
"""Paddle counts its tensors over the whole process."""
MAKER = script("docs/make_faq.py")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.skipif(not paddle.__version__.startswith("3.3."), reason="the pages show what Paddle 3.3 does")
@pytest.mark.parametrize("path", MAKER.OF_PADDLE, ids=lambda path: path.parent.name)
def test_each_report_on_a_page_is_what_its_cell_shows(shell: Any, path: Path) -> None:
    pages = (NUMBERED.sub("…", text) for text in (MAKER.page(shell, read(path)), read(path)))
    again, kept = (MEMORY.sub("…", text) for text in pages)
    assert again == kept, "out of date: run `python docs/make_faq.py paddle`"


def test_both_languages_have_the_same_cells() -> None:
    english, chinese = (MAKER.cells(read(path)) for path in MAKER.OF_PADDLE)
    assert english == chinese
    assert len(english) == 5
