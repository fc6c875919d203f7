"""A notebook as a learner opens it: nothing in sight gives an answer, and running a cell shows its own."""

from __future__ import annotations

import nbformat
import pytest
from browser.conftest import OpenPage, Show, in_notebook_7
from browser.front_ends import Server, run_all
from playwright.sync_api import expect
from scripts import ROOT

BELOW_CELLS = ".jp-CodeCell .jp-Cell-outputWrapper"
"""What stands below code: outputs or, where they are folded, a line with the beginning of the first one."""
FOUND = ".jp-OutputArea-output .inplace-magic"


@pytest.mark.parametrize("front_end", ["lab", "notebook"])
@pytest.mark.parametrize("name", ["quickstart", "en/04_what_autograd_saves"])
def test_no_answer_is_seen_before_a_cell_is_run(
    new_page: OpenPage, show: Show, server: Server, front_end: str, name: str
) -> None:
    lesson = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    lesson.cells = [cell for cell in lesson.cells if cell.cell_type == "code"][:3]  # all of them on the screen at once
    file = f"guess-{name.replace('/', '-')}-{front_end}.ipynb"
    server.write(file, lesson)
    server.sign(file)
    page = show(file) if front_end == "lab" else in_notebook_7(new_page, server, file)
    expect(page.locator(".jp-CodeCell")).to_have_count(3)
    assert [text.strip() for text in page.locator(BELOW_CELLS).all_inner_texts()] == [""] * 3
    run_all(page)
    expect(page.locator(FOUND).first).to_be_visible()
    assert all(text.strip() for text in page.locator(BELOW_CELLS).all_inner_texts()[:2])
