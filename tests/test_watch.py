"""``with inplace_magic.watch()``: every option that it takes does something, and any other is refused in a sentence."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
import torch

import inplace_magic
from inplace_magic.record.options import DeliverOptions, ShowOptions, WatchOptions


def test_the_report_is_written_when_the_block_ends(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.json"
    with inplace_magic.watch(save=target) as watched:
        torch.zeros(2).add_(1)
        assert not target.exists()
    assert watched.report is not None
    assert inplace_magic.Report.from_json(target.read_text(encoding="utf-8")).to_dict() == watched.report.to_dict()
    out, err = capfd.readouterr()
    assert out == "", "standard output is the program's"
    assert err == f"inplace_magic: report saved to {target}\n"


def test_it_is_written_too_when_an_error_leaves_the_block(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    logits = torch.randn(4, requires_grad=True)

    def failing_block() -> None:
        with inplace_magic.watch(save=str(target)):
            probs = torch.sigmoid(logits)
            probs[2] = 1.0
            probs.sum().backward()

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        failing_block()
    assert "probs[2] = 1.0" in target.read_text(encoding="utf-8")


def test_a_file_that_cannot_be_written_costs_one_line_and_no_result(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with inplace_magic.watch(save=str(tmp_path / "missing" / "report.json")) as watched:
        total = torch.ones(3).sum().item()
    assert total == 3.0
    assert watched.report is not None
    out, err = capfd.readouterr()
    assert out == ""
    assert "The report was not saved to" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("graph", "raw"), [(True, False), (False, False), (True, True)])
def test_what_is_shown_is_chosen_for_the_file(tmp_path: Path, graph: bool, raw: bool) -> None:
    target = tmp_path / "report.html"
    with inplace_magic.watch(save=target, graph=graph, raw=raw) as watched:
        torch.ones(2, requires_grad=True).mul(2).sum()
    assert watched.report is not None
    assert target.read_text(encoding="utf-8") == watched.report.to_html(graph=graph, raw=raw)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (
            {"out": "r"},
            "watch() has no option `out`, which is for notebooks: after the block the report is `w.report`.",
        ),
        ({"widget": ""}, "watch() has no option `widget`: `w.report.to_widget()` makes the live view after the block."),
        ({"levle": "ops"}, "watch() has no option 'levle'; it has check_values, full, graph, lang, level,"),
        ({"save": "report.pdf"}, "'report.pdf' is no file to save a report to: its name must end in .html,"),
        ({"level": "op"}, "level 'op' does not exist; choose one of calls, ops, writes."),
    ],
)
def test_an_option_that_would_do_nothing_is_refused_in_one_sentence(option: dict[str, str], sentence: str) -> None:
    with pytest.raises(inplace_magic.OptionError) as caught:
        inplace_magic.watch(**option)
    assert str(caught.value).startswith(sentence)


def test_every_option_of_the_magic_is_one_of_watch_or_refused() -> None:
    every = {field.name for record in (WatchOptions, ShowOptions, DeliverOptions) for field in fields(record)}
    assert every - {"out", "widget", "opened", "prove"} == {
        "level",
        "check_values",
        "full",
        "max_events",
        "max_values",
        "lang",
        "save",
        "raw",
        "graph",
    }
    inplace_magic.watch(
        level="ops",
        check_values=True,
        full=True,
        max_events=7,
        max_values=7,
        lang="zh",
        save="r.html",
        raw=True,
        graph=False,
    )
