"""The lessons as files: both languages run the same code, and what is kept is what the text says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from cells import run_cell
from lessons.texts import (
    BUILD,
    CHECK,
    EVERY,
    LESSONS,
    NOTEBOOKS,
    TEXTS,
    code_of,
    exercise_cells,
    named,
    shipped,
)

from inplace_magic.lessons.exercise import exercises
from inplace_magic.render.page.explorer import packed, unpacked

each_lesson = pytest.mark.parametrize("text", TEXTS, ids=named)
each_notebook = pytest.mark.parametrize("text", EVERY, ids=named)


def test_each_lesson_is_there_in_both_languages() -> None:
    names = {language: [text.name for text in TEXTS if text.parent.name == language] for language in BUILD.LANGUAGES}
    assert names["en"] == names["zh"] != []


@pytest.mark.parametrize("lesson", LESSONS)
def test_both_languages_run_the_same_code(lesson: str) -> None:
    en, zh = (BUILD.notebook_of(text) for text in TEXTS if text.name.startswith(lesson))
    assert [BUILD.SPOKEN.sub("", source) for source in code_of(en)] == [
        BUILD.SPOKEN.sub("", source) for source in code_of(zh)
    ]
    assert [cell.cell_type for cell in en.cells] == [cell.cell_type for cell in zh.cells]
    assert [cell.metadata for cell in en.cells] == [cell.metadata for cell in zh.cells]


def test_the_quickstart_runs_the_same_code_in_both_languages() -> None:
    en, zh = (BUILD.notebook_of(text) for text in BUILD.QUICKSTART)
    assert [BUILD.SPOKEN.sub("", BUILD.INSTALL.sub("", source)) for source in code_of(en)] == [
        BUILD.SPOKEN.sub("", BUILD.INSTALL.sub("", source)) for source in code_of(zh)
    ]
    assert [(cell.cell_type, cell.id, cell.metadata) for cell in en.cells] == [
        (cell.cell_type, cell.id, cell.metadata) for cell in zh.cells
    ]


def test_all_lessons_begin_with_the_same_cell_that_installs_only_where_needed() -> None:
    cells = (code_of(BUILD.notebook_of(text))[0].partition("import torch")[0] for text in TEXTS)
    firsts = {re.sub(" --open .*", "", BUILD.SPOKEN.sub("", cell)) for cell in cells}
    assert len(firsts) == 1
    assert firsts.pop().startswith("try:\n    import inplace_magic\nexcept ImportError:\n    import os\n")


@each_notebook
def test_the_language_of_the_reports_depends_on_no_front_end(text: Path) -> None:
    first = code_of(BUILD.notebook_of(text))[0]
    assert BUILD.SPOKEN.findall(first) == ["zh" if text.parent.name == "zh" else "en"]


def test_where_there_is_no_checkout_the_first_cell_says_what_to_do_and_installs_nothing(
    shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "content" / "notebooks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "content" / "notebooks")
    installed: list[str] = []
    shell.register_magic_function(installed.append, magic_name="pip")
    for text in EVERY:
        first = code_of(BUILD.notebook_of(text))[0].replace("import inplace_magic\n", "import of_nobody\n")
        error = run_cell(shell, first).error
        assert isinstance(error, ImportError)
        assert str(error) == "upload a zip of the repository, and run `%pip install inplace_magic.zip` first"
    assert installed == []


@pytest.mark.parametrize("text", [*EVERY, *BUILD.OF_PADDLE], ids=named)
def test_a_notebook_gives_no_answer_before_its_cells_are_run(text: Path) -> None:
    cells = [cell for cell in shipped(text)["cells"] if cell["cell_type"] == "code"]
    assert [(cell["outputs"], cell["execution_count"]) for cell in cells] == [([], None)] * len(cells)


def test_taken_out_and_put_back_the_outputs_are_the_same_bytes() -> None:
    cells = shipped(TEXTS[0])
    for number, cell in enumerate(cell for cell in cells["cells"] if cell["cell_type"] == "code"):
        cell.update(execution_count=number, outputs=[{"name": "stdout", "output_type": "stream", "text": ["1\n"]}])
    whole = BUILD.kept_outputs._written(cells)
    assert BUILD.kept_outputs.put_back(*BUILD.kept_outputs.taken_out(whole)) == whole


@pytest.mark.parametrize("text", [*EVERY, *BUILD.OF_PADDLE], ids=named)
def test_the_notebook_beside_a_text_is_made_of_it(text: Path) -> None:
    made = [(cell.id, cell.source) for cell in BUILD.notebook_of(text).cells]
    found = [(cell["id"], "".join(cell["source"])) for cell in shipped(text)["cells"]]
    assert made == found, f"run `python notebooks/build.py {named(text)}`"


@each_notebook
def test_a_line_of_chinese_does_not_end_in_a_space(text: Path) -> None:
    for cell in BUILD.notebook_of(text).cells:
        assert re.findall(r"[\u3400-\u9fff\uff0c\u3002]\n[\u3400-\u9fff]", cell.source) == []


@each_notebook
def test_a_question_stands_before_each_watched_cell(text: Path) -> None:
    said = ""
    for cell in BUILD.notebook_of(text).cells:
        if cell.cell_type == "markdown":
            said = cell.source
        elif cell.source.startswith("%%inplace_"):
            assert "?" in said or "？" in said, cell.source


def test_each_exercise_of_the_lessons_can_be_checked_and_each_check_has_its_cell() -> None:
    asked = [key for lesson in LESSONS for key in exercise_cells(lesson)]
    assert asked == list(exercises())


@pytest.mark.parametrize("text", EVERY, ids=named)
def test_a_text_begins_with_its_reader_what_comes_first_and_the_time_it_takes(text: Path) -> None:
    words = {"en": ("**For**", "**Needs**", "**Time**"), "zh": ("**适合**", "**先修**", "**用时**")}
    opening = BUILD.notebook_of(text).cells[0].source
    assert all(opening.count(word) == 1 for word in words["zh" if text.parent.name == "zh" else "en"])


@pytest.mark.parametrize("text", EVERY, ids=named)
def test_a_text_ends_with_a_recap_of_a_few_lines(text: Path) -> None:
    heading = "## 小结\n\n" if text.parent.name == "zh" else "## Recap\n\n"
    before, found, recap = BUILD.notebook_of(text).cells[-1].source.partition(heading)
    assert found, before
    assert 2 <= len(recap.split("\n\n")[0].splitlines()) <= 4


@pytest.mark.parametrize("language", BUILD.LANGUAGES)
def test_the_course_page_says_of_each_lesson_what_it_is_about(language: str) -> None:
    page = NOTEBOOKS.parent / "docs" / ("zh/notebooks.md" if language == "zh" else "notebooks.md")
    rows = re.findall(r"^\| \[.*\]\((.*)\) \| (.+) \| .+ \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    told = [(page.parent / link).resolve().with_suffix(".md") for link, about in rows if about.endswith((".", "。"))]
    told = [path for path in told if path.parent.name != "of_paddle"]
    assert told == [text for text in EVERY if (text.parent.name == "zh") == (language == "zh")]


@each_lesson
def test_the_text_tells_of_hints_for_its_exercises(text: Path) -> None:
    whole = text.read_text(encoding="utf-8")
    lesson = str(int(text.name[:2]))
    assert f'`hint("{lesson}.1")`' in whole
    assert f'`solution("{lesson}.1")`' in whole
    assert all(key.split(".")[0] == lesson for key in CHECK.findall(whole))


def test_what_the_live_view_reads_has_no_addresses_either() -> None:
    state = {"T1": [["id", "140123456789012"], ["data_ptr", "0x7f12ab34cd00"]], "T2": 16777216}
    cleaned = BUILD.clean(f'<div data-state="{packed(state)}">')
    assert unpacked(BUILD.STATE.search(cleaned)[0]) == {"T1": [["id", "…"], ["data_ptr", "0x…"]], "T2": 16777216}


def test_addresses_are_taken_out_and_pictures_left_alone() -> None:
    picture = "data:image/svg+xml;base64,AA0xdeadbeefAA140123456789012AA=="
    text = f'<td>140123456789012</td><td>0x7f12ab34cd00</td> T12 16777216 <img src="{picture}">'
    assert BUILD.clean(text) == f'<td>…</td><td>0x…</td> T12 16777216 <img src="{picture}">'


@pytest.mark.parametrize("text", EVERY, ids=named)
def test_a_published_notebook_opens_on_three_services_and_installs_from_the_repository(
    text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BUILD, "REPOSITORY", "somebody/something")
    notebook = BUILD.notebook_of(text)
    path = f"notebooks/{named(text).removesuffix('.md')}.ipynb"
    assert (NOTEBOOKS.parent / path).is_file()
    badges = re.findall(r"\[!\[(\w+)\]\((https://[^)\s]+)\)\]\((https://[^)\s]+)\)", notebook.cells[0].source)
    assert [(name, target) for name, _, target in badges] == [
        ("Colab", f"https://colab.research.google.com/github/somebody/something/blob/main/{path}"),
        (
            "Kaggle",
            f"https://kaggle.com/kernels/welcome?src=https://github.com/somebody/something/blob/main/{path}",
        ),
        ("Binder", f"https://mybinder.org/v2/gh/somebody/something/main?labpath={path}"),
    ]
    title, line, rest = notebook.cells[0].source.split("\n\n", 2)
    assert title.startswith("# ")
    assert line.count("[![") == 3
    assert rest == rest.lstrip() != ""
    installs = re.findall(r"%pip install --quiet (.*)", "\n".join(code_of(notebook)))
    assert set(installs) == {"git+https://github.com/somebody/something"}
    assert "inplace_magic.zip" not in "\n".join(cell.source for cell in notebook.cells)


@pytest.mark.parametrize("text", EVERY, ids=named)
def test_links_of_a_notebook_lead_to_files_that_are_there(text: Path) -> None:
    links = re.findall(r"\]\((?!https?://)([^)#\s]+)", text.read_text(encoding="utf-8"))
    assert [link for link in links if not (text.parent / link).is_file()] == []
