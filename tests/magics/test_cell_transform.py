"""The cell's text: one line is replaced, every other line keeps its number and its characters."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inplace_magic.magics.cell_transform import KEPT_SOURCES, WatchLine, rewrite


def lines_of(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def call_in(line: str) -> tuple[str, list[object]]:
    """Name and literal arguments of our call on a line."""
    statement = ast.parse(line.strip()).body[0]
    assert isinstance(statement, ast.Expr)
    call = statement.value
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    return call.func.attr, [node.value for node in call.args if isinstance(node, ast.Constant)]


def refusal(text: str) -> str:
    """The sentence by which the cell is refused; nothing of the cell may be left."""
    name, arguments = call_in("".join(rewrite(lines_of(text), "key")))
    assert name == "refuse"
    return str(arguments[0])


def test_only_the_magic_line_changes() -> None:
    cell = lines_of('%%inplace_watch --level ops -o r\nx = 1\n%time x\ntext = """\n%%inplace_watch\n  !ls\n"""\nx;')
    rewritten = rewrite(cell, "key")
    assert call_in(rewritten[0]) == ("begin", ["--level ops -o r", "key"])
    assert rewritten[1:] == cell[1:]


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "\n",
        "x = 1\n",
        "# x\n",
        "%%time\nx\n",
        "%%inplace_watcher\nx\n",
        "%inplace_watch\nx\n",
        "%%inplace_watch?\n",
        "%%writefile a.py\n%%inplace_watch\nx = 1\n",
        "text = '%%inplace_watch'\n",
        "text = '''\n%%inplace_watch\n'''\n",
    ],
)
def test_a_cell_without_the_magic_comes_back_as_it_is(cell: str) -> None:
    lines = lines_of(cell)
    assert WatchLine()(lines) is lines


def test_leading_blank_lines_keep_their_place_in_the_numbering() -> None:
    rewritten = rewrite(lines_of("\n   \n%%inplace_watch\nx = 1\n"), "key")
    assert call_in(rewritten[0])[0] == "begin"
    assert [line.strip() for line in rewritten[1:]] == ["", "", "x = 1"]


def test_a_comment_may_stand_above_the_magic() -> None:
    rewritten = rewrite(lines_of("# Exercise 3\n%%inplace_watch\nx = 1\n"), "key")
    assert rewritten[0] == "# Exercise 3\n"
    assert call_in(rewritten[1])[0] == "begin"


def test_the_indentation_of_an_indented_cell_is_kept() -> None:
    rewritten = rewrite(lines_of("    %%inplace_watch\n    x = 1\n"), "key")
    assert rewritten[0].startswith("    __import__")
    assert rewritten[1] == "    x = 1\n"


def test_windows_line_ends_are_kept() -> None:
    rewritten = rewrite(lines_of("%%inplace_watch\r\nx = 1\r\n"), "key")
    assert rewritten[0].endswith(")\r\n")
    assert rewritten[1] == "x = 1\r\n"


def test_quotes_in_the_options_do_not_end_the_call() -> None:
    options = """--save "it's.html" \\ '"""
    assert call_in(rewrite(lines_of(f"%%inplace_watch {options}\nx\n"), "k")[0]) == ("begin", [options.rstrip(), "k"])


@pytest.mark.parametrize("cell", ["%%inplace_watch", "%%inplace_watch\n", "%%inplace_watch -o r\n\n  \n# nothing\n"])
def test_an_empty_cell_is_refused(cell: str) -> None:
    assert refusal(cell).startswith("There is no code below `%%inplace_watch`.")


def test_another_cell_magic_below_is_refused_with_the_order_that_works() -> None:
    sentence = refusal("%%inplace_watch\n\n# timing\n%%time\nx = 1\n")
    assert "`%%time` on line 4" in sentence
    assert "Put `%%time` on the first line and `%%inplace_watch` right below it" in sentence


def test_a_second_watch_line_is_refused_with_both_lines() -> None:
    sentence = refusal("%%inplace_watch\nx = 1\n%%inplace_watch -o r\ny = 2\n")
    assert "more than once, on lines 1 and 3" in sentence


def test_a_watch_line_that_is_not_the_first_is_refused_and_nothing_of_the_cell_is_left() -> None:
    assert "stands on line 2; it must be the first line" in refusal("x = 1\n%%inplace_watch\ny = 2\n")


def test_refused_cells_fail_on_the_line_that_is_wrong() -> None:
    rewritten = rewrite(lines_of("x = 1\ny = 2\n%%inplace_watch\n"), "key")
    assert call_in("".join(rewritten))[0] == "refuse"
    assert len(rewritten) == 3


@pytest.mark.parametrize("options", ["-h", "--help", "--level ops -h"])
@pytest.mark.parametrize(("body", "has_code"), [("", False), ("1 / 0\n", True)])
def test_help_replaces_the_whole_cell(options: str, body: str, has_code: bool) -> None:
    rewritten = rewrite(lines_of(f"%%inplace_watch {options}\n{body}"), "key")
    assert call_in("".join(rewritten)) == ("explain", [has_code])


def test_a_broken_body_is_left_for_python_to_judge() -> None:
    cell = lines_of("%%inplace_watch\nif True:\n        x = (\n    y\n  %%time\n")
    assert rewrite(cell, "key")[1:] == cell[1:]


def test_the_text_of_a_watched_cell_is_kept_as_it_was_typed() -> None:
    transform = WatchLine()
    text = "%%inplace_watch -o r\n!ls\n%time x = 1\n"
    _, arguments = call_in(transform(lines_of(text))[0])
    assert transform.source(str(arguments[1])) == text


def test_transforming_twice_gives_the_same_lines() -> None:
    transform = WatchLine()
    cell = lines_of("%%inplace_watch\nx = 1\n")
    assert transform(cell) == transform(list(cell))


def test_only_the_latest_texts_are_kept() -> None:
    transform = WatchLine()
    keys = [
        call_in(transform([f"%%inplace_watch\n{i}\n"][0].splitlines(True))[0])[1][1] for i in range(KEPT_SOURCES + 1)
    ]
    assert transform.source(str(keys[0])) is None
    assert all(transform.source(str(key)) for key in keys[1:])


@given(st.lists(st.sampled_from(["x = 1", "%%inplace_watch", "%%time", "'''", '"', "(", "", "#", "  y", "!ls", "@"])))
def test_no_cell_makes_the_transformer_raise_or_move_a_line(parts: list[str]) -> None:
    cell = [part + "\n" for part in parts]
    rewritten = WatchLine()(cell)
    if rewritten is not cell and "refuse(" not in "".join(rewritten):
        assert len(rewritten) == len(cell)
        changed = [index for index, (old, new) in enumerate(zip(cell, rewritten, strict=True)) if old != new]
        assert len(changed) <= 2
