"""A lesson as a learner opens it: its answers are folded, and running a cell shows its own."""

from __future__ import annotations

import nbformat
import pytest
from browser.conftest import OpenPage
from browser.front_ends import Server, open_notebook, run_all
from playwright.sync_api import expect
from scripts import ROOT

FOLDED = ".jp-OutputPlaceholder"
SHOWN = ".jp-OutputArea-output"


@pytest.mark.parametrize("front_end", ["lab", "notebook"])
def test_answers_are_folded_until_a_cell_is_run(new_page: OpenPage, server: Server, front_end: str) -> None:
    lesson = nbformat.read(ROOT / "notebooks" / "en" / "01_names_tensors_storages.ipynb", as_version=4)
    lesson.cells = [cell for cell in lesson.cells if cell.cell_type == "code"][:3]  # all of them on the screen at once
    name = f"guess-{front_end}.ipynb"
    server.write(name, lesson)
    server.sign(name)
    page = new_page()
    open_notebook(page, getattr(server, front_end)(name))
    expect(page.locator(FOLDED)).to_have_count(2)
    expect(page.locator(SHOWN)).to_have_count(0)
    run_all(page)
    expect(page.locator(FOLDED)).to_have_count(0)
    expect(page.locator(f"{SHOWN} .inplace-magic")).to_be_visible()
