"""Source text: the one statement that can have written, and the statements that give a second name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from inplace_magic.record.places import Callsite
from inplace_magic.source.places import Sources


def written(folder: Path, text: str) -> tuple[Sources, dict[str, Callsite]]:
    """The sources of a file, and a place for each function of it."""
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    sources = Sources()
    places: dict[str, Callsite] = {}

    def visit(code: object) -> None:
        site = sources.locate(code, 0, None)  # type: ignore[arg-type]  # a code object
        places[site.function] = site
        for constant in code.co_consts:  # type: ignore[attr-defined]  # as above
            if hasattr(constant, "co_code"):
                visit(constant)

    visit(compile(text, str(path), "exec"))
    return sources, places


def between(folder: Path, text: str, first: int, last: int | None, *names: str, called: tuple[str, ...] = ()) -> str:
    """The line of the only statement that can have written between two lines of a program; empty when there is none."""
    sources, places = written(folder, text)
    base = places["<module>"]
    before = replace(base, line=first, end_line=first)
    after = None if last is None else replace(base, line=last)
    seen = [before, *(replace(base, expression=each) for each in called)]
    found = sources.between.only_statement(before, after, names, seen)
    return found.text if found is not None else ""


@pytest.mark.parametrize(
    ("lines", "names", "answer"),
    [
        (["frame *= 2"], ("frame",), "frame *= 2"),
        (["frame[0] = 2"], ("frame",), "frame[0] = 2"),
        (["fill(frame)"], ("frame",), "fill(frame)"),
        (["load()"], ("frame",), "load()"),
        (["print(a)", "frame *= 2"], ("frame",), "frame *= 2"),
        (["import os", "pass", "'text'", "frame *= 2"], (), "frame *= 2"),
        (["frame *= 2", "frame += 1"], ("frame",), "frame *= 2"),
        (["if wide:", "    frame *= 2", "frame += 1"], ("frame",), ""),
        (["if wide:", "    frame *= 2", "else:", "    frame += 1"], ("frame",), ""),
        (["first()", "second()"], ("frame",), ""),
        (["a = 1"], ("frame",), ""),
        ([], ("frame",), ""),
    ],
)
def test_the_only_statement_that_can_have_written_is_named(
    tmp_path: Path, lines: list[str], names: tuple[str, ...], answer: str
) -> None:
    text = "\n".join(["before()", *lines, "after()"]) + "\n"
    assert between(tmp_path, text, 1, 2 + len(lines), *names) == answer


def test_until_the_end_of_the_block_the_rest_of_the_program_counts(tmp_path: Path) -> None:
    assert between(tmp_path, "before()\nframe *= 2\n", 1, None, "frame") == "frame *= 2"


def test_a_call_that_the_watch_saw_is_no_candidate(tmp_path: Path) -> None:
    text = "before()\nx.mul_(2)\nfill(frame)\nafter()\n"
    assert between(tmp_path, text, 1, 4, called=("x.mul_(2)",)) == "fill(frame)"


def test_in_a_loop_that_runs_backwards_nothing_is_named(tmp_path: Path) -> None:
    assert between(tmp_path, "for i in x:\n    frame *= 2\n    before()\n", 3, 2, "frame") == ""


@pytest.mark.parametrize(
    ("below", "answer"),
    [
        (["    frame *= 2"], "frame *= 2"),
        (["    frame -= low", "    frame /= high"], "frame -= low"),
        (["    if wide:", "        frame *= 2"], ""),
        (["    fill(frame)"], ""),
        (["frame *= 2"], ""),
        ([], ""),
    ],
)
def test_where_a_loop_came_round_what_assigns_in_place_below_is_named(
    tmp_path: Path, below: list[str], answer: str
) -> None:
    """From the last call of a pass to the first of the next: only what stands below it in that pass ran for sure."""
    text = "\n".join(["for t in steps:", "    s = wrap(frame)", "    before(s)", *below]) + "\n"
    assert between(tmp_path, text, 3, 3, "frame") == answer


def test_between_two_files_nothing_is_named(tmp_path: Path) -> None:
    sources, places = written(tmp_path, "before()\nframe *= 2\nafter()\n")
    first = replace(places["<module>"], line=1, end_line=1)
    other = replace(first, line=3, file="/elsewhere.py")
    assert sources.between.only_statement(first, other, ("frame",), [first]) is None


@pytest.mark.parametrize(
    ("statement", "pairs"),
    [
        ("labels = ids", [("labels", "ids")]),
        ("labels = ids.detach()", [("labels", "ids")]),
        ("a, b = c, d", [("a", "c"), ("b", "d")]),
        ("self.state = hidden", [("self.state", "hidden")]),
        ('kept["pre"] = out', [('kept["pre"]', "out")]),
        ("history.append(state)", [("history[]", "state")]),
        ("history.append(state.detach())", [("history[]", "state")]),
        ("a = b = f()", [("b", "a")]),
        ("labels = ids.clone()", []),
        ("labels = ids + 1", []),
        ("history.append(state.clone())", []),
        ("labels += ids", []),
    ],
)
def test_a_statement_that_gives_a_second_name_is_found(
    tmp_path: Path, statement: str, pairs: list[tuple[str, str]]
) -> None:
    sources, _ = written(tmp_path, f"{statement}\n")
    found = sources.aliases()
    assert [(alias.target, alias.source) for alias in found] == pairs
    assert {(alias.function, alias.line, alias.text) for alias in found} <= {("<module>", 1, statement)}


def test_what_a_function_gives_back_is_an_alias_called_return(tmp_path: Path) -> None:
    sources, _ = written(tmp_path, "def mask(ids):\n    labels = ids\n    return ids, labels\n")
    assert [(alias.function, alias.target, alias.source) for alias in sources.aliases()] == [
        ("mask", "labels", "ids"),
        ("mask", "return", "ids"),
        ("mask", "return", "labels"),
    ]


def test_a_file_that_is_gone_or_is_no_python_has_lines_without_text(tmp_path: Path) -> None:
    code = compile("x = 1\n", str(tmp_path / "gone.py"), "exec")
    site = Sources().locate(code, 0, None)
    assert (site.text, site.statement, site.expression) == ("", "", "")
    broken = tmp_path / "broken.py"
    broken.write_text("x = = 1\n", encoding="utf-8")
    sources = Sources()
    site = sources.locate(compile("x = 1\n", str(broken), "exec"), 0, None)
    assert (site.statement, sources.aliases()) == ("", ())


def test_the_shown_text_of_a_cell_wins_over_the_compiled_one(tmp_path: Path) -> None:
    path = str(tmp_path / "cell.py")
    Path(path).write_text("begin()\nx = f()\n", encoding="utf-8")
    sources = Sources(7, path, "%%inplace_watch\nx = f()  # shown\n")
    code = compile("begin()\nx = f()\n", path, "exec")
    places = {sources.locate(code, lasti, None).place for lasti in range(0, len(code.co_code), 2)}
    assert {"Cell In[7], line 1", "Cell In[7], line 2"} <= places
    assert {sources.locate(code, lasti, None).text for lasti in range(0, len(code.co_code), 2)} >= {"x = f()  # shown"}
