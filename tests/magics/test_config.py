"""``%inplace_config``: the language and the level of the session, in a real shell."""

from __future__ import annotations

import re
from typing import Any

import pytest
from cells import run_cell

from inplace_magic import language
from inplace_magic.report import Report

BROKEN = """\
x = torch.ones(3, requires_grad=True)
y = torch.sigmoid(x)
y.mul_(2)
y.sum().backward()
"""


@pytest.fixture
def ip(loaded_shell: Any) -> Any:
    """A shell with the extension and torch; the language is English again afterwards."""
    run_cell(loaded_shell, "import torch")
    yield loaded_shell
    language.set_language("en")


def watched(ip: Any, options: str = "") -> tuple[str, Report]:
    """What a watched cell shows as text, and its report."""
    ran = run_cell(ip, f"%%inplace_watch -o report {options}\n{BROKEN}")
    (data,) = ran.displays
    report = ip.user_ns["report"]
    assert isinstance(report, Report)
    return data["text/plain"], report


def test_the_language_of_the_session_is_that_of_every_report_to_come(ip: Any) -> None:
    assert run_cell(ip, "%inplace_config --lang zh").error is None
    text, report = watched(ip)
    assert report.language == "zh"
    assert "反向传播" in text
    assert report.findings[0].mutation is not None
    assert report.findings[0].mutation.place in text


def test_lang_on_the_magic_is_for_its_cell_alone(ip: Any) -> None:
    text, report = watched(ip, "--lang zh")
    assert report.language == "zh"
    assert "反向传播" in text
    text, report = watched(ip)
    assert report.language == "en"
    assert "反向传播" not in text


def test_a_report_is_shown_again_in_its_own_language(ip: Any) -> None:
    watched(ip, "--lang zh")
    (data,) = run_cell(ip, "%inplace_report").displays
    assert "反向传播" in data["text/plain"]
    assert "反向传播" in data["text/html"]


def test_the_level_of_the_session_holds_where_the_magic_says_none(ip: Any) -> None:
    run_cell(ip, "%inplace_config --level ops")
    assert watched(ip)[1].trace.level == "ops"
    assert watched(ip, "--level calls")[1].trace.level == "calls"


def test_without_options_it_says_how_it_is_set(ip: Any) -> None:
    run_cell(ip, "%inplace_config --lang zh --level ops")
    assert "zh" in run_cell(ip, "%inplace_config").out
    assert "ops" in run_cell(ip, "%inplace_config").out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--lang fr", "%inplace_config: language 'fr' does not exist; choose one of en, zh, auto."),
        ("--level op", "%inplace_config: level 'op' does not exist; choose one of calls, ops, writes."),
        ("zh", "%inplace_config takes options only, not 'zh'."),
        ("--langg zh", "%inplace_config has no option --langg; did you mean --lang?"),
        ("--lang 'zh", '%inplace_config: the options "--lang \'zh" cannot be split into words: No closing quotation.'),
    ],
)
def test_a_wrong_setting_is_one_sentence_and_changes_nothing(ip: Any, options: str, sentence: str) -> None:
    ran = run_cell(ip, f"%inplace_config {options}")
    assert ran.error is not None
    assert str(ran.error) == sentence
    assert language.language() == "en"


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%inplace_watch --max-evnts 3\n1", "%%inplace_watch 没有选项 --max-evnts；你是不是想写 --max-events？"),
        ("%inplace_watch onn", "%inplace_watch 后面应写 on、off 或 status，而不是 'onn'；你是不是想写 on？"),
        ("%inplace_report", "还没有报告：请运行一个第一行是 `%%inplace_watch` 的单元格。"),
        ("%%inplace_compare --flip --repeats -1\n1", "%%inplace_compare：--repeats 是 -1；它不能为负数。"),
        ("x = 1\n%%inplace_watch", "`%%inplace_watch` 写在了第 2 行；它必须是单元格的第一行。"),
    ],
)
def test_what_cannot_be_run_is_said_in_the_language_of_the_session(ip: Any, cell: str, words: str) -> None:
    run_cell(ip, "%inplace_config --lang zh")
    ran = run_cell(ip, cell)
    assert words in str(ran.error)


@pytest.mark.parametrize("magic", ["%%inplace_watch", "%inplace_watch", "%inplace_compare", "%inplace_config"])
def test_help_is_in_the_language_of_the_session(ip: Any, magic: str) -> None:
    english = run_cell(ip, f"{magic} --help\n").out
    run_cell(ip, "%inplace_config --lang zh")
    chinese = run_cell(ip, f"{magic} --help\n").out
    assert chinese.startswith("用法：")
    assert set(re.findall(r"^  (-.*?)(?:  |$)", chinese, re.MULTILINE)) == set(
        re.findall(r"^  (-.*?)(?:  |$)", english, re.MULTILINE)
    )


def test_a_comparison_speaks_the_language_of_its_magic(ip: Any) -> None:
    run_cell(ip, "x = torch.tensor([-1.0, 2.0])")
    ran = run_cell(ip, "%inplace_compare torch.relu torch.relu_ --inputs x --repeats 0 --lang zh -o both")
    assert ran.error is None
    (data,) = ran.displays
    both = ip.user_ns["both"]
    assert both.verdict.startswith("`torch.relu_` 相对 `torch.relu`：输出相同，但输入或状态值有 1/1 个不同，")
    assert both.verdict in data["text/plain"]
    assert "计算量" in data["text/html"]
    assert set(both.to_frame("differences")["group"]) == {"state"}


def test_unloading_ends_the_settings(ip: Any) -> None:
    run_cell(ip, "%inplace_config --lang zh")
    run_cell(ip, "%unload_ext inplace_magic")
    assert language.language() == "en"


def test_what_is_shown_is_set_for_the_session_and_said(ip: Any) -> None:
    ran = run_cell(ip, "%inplace_config --open lines,tensors --no-graph --raw\n%inplace_config")
    assert ran.out == "language en, level calls, open lines,tensors, graph off, raw on\n"
    (data,) = run_cell(ip, f"%%inplace_watch\n{BROKEN}").displays
    assert re.findall(r"<details open><summary[^>]*>([^<(]*)", data["text/html"]) == [
        "What each line did",
        "Tensors and versions ",
    ]
    assert "inplace-magic-graph" not in data["text/html"]
    run_cell(ip, "%inplace_config --open auto --graph --no-raw")
    assert run_cell(ip, "%inplace_config").out == "language en, level calls, open auto, graph on, raw off\n"


def test_a_section_that_does_not_exist_is_refused_in_one_sentence(ip: Any) -> None:
    for magic in ("%%inplace_watch --open pictures\nx = 1", "%inplace_config --open pictures"):
        ran = run_cell(ip, magic)
        assert "--open 'pictures' is no section of a report; there are graph, memory, lines" in ran.err + ran.out
