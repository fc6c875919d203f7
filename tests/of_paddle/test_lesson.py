"""The lesson on Paddle is run in a real kernel: its cells do what its text says, in both languages."""

from __future__ import annotations

from pathlib import Path

import build
from kernel_sockets import kernel_sockets
from talking_to_kernels import execute, kinds, text_of

FOLDER = Path(build.__file__).parent / "of_paddle"


def code_of(language: str) -> list[str]:
    """The code cells of the lesson."""
    notebook = build.notebook_of(FOLDER / f"{language}.md")
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def test_both_languages_have_the_same_code() -> None:
    english, chinese = code_of("en"), code_of("zh")
    assert [cell.replace("--lang en", "--lang zh") for cell in english] == chinese
    for language in ("en", "zh"):
        assert build.OF_PADDLE[language == "zh"] == FOLDER / f"{language}.md"
        assert (FOLDER / f"{language}.ipynb").exists()


def test_the_cells_show_what_the_text_says() -> None:
    cells = execute(
        code_of("zh"), allow_errors=True, settings=kernel_sockets(), prologue=""
    )  # who learns has no torch there
    printed = [text_of(cell, "stdout").strip() for cell in cells[1:] if "stdout" in kinds(cell)]
    assert printed[:4] == [
        "True True [6.0, 6.0]",
        "[1.0, 2.0]",
        "[[1.0, 3.0, 5.0], [7.0, 9.0, 11.0]]",
        "False [1.0, 1.0]",
    ]
    assert printed[4:7] == ["[2.0, 2.0, 2.0, 2.0]", "[16.0, 16.0, 2.0, 2.0]", "[0.0, 0.0]"]
    errors = [text_of(cell, "error") for cell in cells if "error" in kinds(cell)]
    assert ["Leaf Var" in errors[0], "modified by an inplace operation" in errors[1], len(errors)] == [True, True, 2]
    assert "'two': ['history-missed']" in str(cells[-1].outputs)
    verdicts = [text_of(cell, "report").splitlines()[0] for cell in cells if "report" in kinds(cell)]
    assert [verdict[0] for verdict in verdicts] == list("✓✗✓✓✓✗≠✓≠≠")
