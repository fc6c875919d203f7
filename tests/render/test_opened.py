"""What of a report is open when it is first seen, and whose writes its verdict counts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from builders import sigmoid_report
from render.elements import to_fragment
from render.samples import fine_report
from torch import nn

import inplace_magic
from inplace_magic.render.page.html import to_page
from inplace_magic.report import Report


def opened(markup: str) -> list[str]:
    """The titles of the open sections."""
    return re.findall(r"<details open><summary[^>]*>([^<]*)</summary>", markup)


def of(run: Callable[[], object]) -> Report:
    with inplace_magic.watch() as watch:
        run()
    assert watch.report is not None
    return watch.report


def trains() -> None:
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()


def rectifies() -> None:
    nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))(torch.ones(1, 2))


def test_a_finding_and_a_write_by_the_readers_lines_show_the_picture_and_the_memory() -> None:
    titles = ("Autograd graph", "Tensors and calls", "Autograd graph")
    for report, title in zip((sigmoid_report(), fine_report(), of(rectifies)), titles, strict=True):
        assert opened(to_fragment(report)) == [title, "Memory by line (cpu)"]


def test_where_no_line_of_the_readers_wrote_and_nothing_is_wrong_the_report_is_its_verdict() -> None:
    report = of(trains)
    assert opened(to_fragment(report)) == []
    assert "none by your lines" in report.verdict


def test_what_stopped_a_cell_and_is_none_of_ours_opens_nothing() -> None:
    trace = fine_report().trace
    assert opened(to_fragment(Report(replace(trace, error="KeyboardInterrupt")))) == []


def test_what_autograd_refused_is_never_folded_away() -> None:
    report = sigmoid_report()
    assert opened(to_fragment(Report(report.trace))) == ["Autograd graph", "Memory by line (cpu)"]


@pytest.mark.parametrize(
    ("chosen", "titles"),
    [
        (("lines",), ["What each line did"]),
        (("none",), []),
        (("tensors", "unseen"), ["Tensors and versions (2)", "What this watch could not see (1)"]),
    ],
)
def test_a_reader_chooses_what_is_open(chosen: tuple[str, ...], titles: list[str]) -> None:
    report = fine_report()
    report = Report(replace(report.trace, blindness=("Nothing.",)))
    assert opened(to_fragment(report, opened=chosen)) == titles


def test_all_opens_every_section_and_a_page_of_its_own_is_longer_than_a_screen() -> None:
    everything = opened(to_fragment(sigmoid_report(), opened=("all",)))
    assert {"Autograd graph", "What each line did", "What happened to which tensor"} < set(everything)
    assert {"Autograd graph", "What each line did", "What happened to which tensor"} < set(
        opened(to_page(sigmoid_report()))
    )


def test_writes_are_counted_by_who_asked_for_them() -> None:
    assert "in-place: 1 by your lines, 2 inside layers, initialisation and optimizers" in of(rectifies).verdict
    assert of(lambda: torch.ones(2).add_(1)).verdict.endswith("2 torch calls, 1 of them in-place.")


def test_the_table_of_lines_breaks_its_cells_rather_than_hide_a_column() -> None:
    tables = re.findall(r"<table [^>]*>", to_fragment(sigmoid_report(), opened=("all",)))
    assert [each for each in tables if "im-lines" in each] == [each for each in tables if "width:" not in each]
    assert sum("im-lines" in each for each in tables) == 1


def scaled(t: torch.Tensor) -> torch.Tensor:
    t.mul_(2)
    return t.sum()


def reads_by_a_second_name() -> None:
    x = torch.ones(3)
    kept = [x]
    scaled(x)
    kept[0].sum()


def test_memory_with_two_names_is_told_as_facts_and_raises_no_alarm():
    report = of(reads_by_a_second_name)
    page = to_page(report)
    assert "Memory with two names (1)</summary>" in page
    assert "If that is meant, fine." in page
    assert "Memory with two names (1)" not in opened(page)
    assert report.verdict.startswith("✓ Nothing wrong found")


def test_memory_with_one_name_has_no_such_section():
    assert "Memory with two names" not in to_page(of(rectifies))
