"""The overview of a model in which nothing is wrong: modules, and the shapes between them."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
import torch
from torch import nn

import inplace_magic
from inplace_magic.analysis.opening import OVERVIEW
from inplace_magic.render.graph.dot import dot_of
from inplace_magic.render.page.html import detail_of
from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline.timeline import timeline_table
from inplace_magic.report import Report


class Double(nn.Sequential):
    def __init__(self, into: int, out: int) -> None:
        norms = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        first, second = nn.Conv2d(into, out, 3, padding=1), nn.Conv2d(out, out, 1)
        super().__init__(first, norms[0], nn.ReLU(inplace=True), second, norms[1], nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.bottom, self.join = Double(3, 4), Double(4, 8), Double(8, 4)
        self.up, self.pool = nn.ConvTranspose2d(8, 4, 2, 2), nn.MaxPool2d(2)
        self.place, self.head = nn.Parameter(torch.zeros(1, 4, 1, 1)), nn.Conv2d(4, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = self.down(x)
        x = self.up(self.bottom(self.pool(first)))
        x = self.join(torch.cat([first, x + self.place], dim=1))
        return self.head(x).mul_(2)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.inner(self.norm(x)).tanh().mul(0.5)


class Encoder(nn.Module):
    def __init__(self, layers: int = 8) -> None:
        super().__init__()
        self.place, self.layers = nn.Parameter(torch.zeros(4)), nn.Sequential(*(Layer() for _ in range(layers)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x + self.place)


def report_of(net: nn.Module, x: torch.Tensor) -> Report:
    with inplace_magic.watch() as w:
        loss = net(x).sum()
        loss.backward()
    return w.report


def overview(report: Report) -> str:
    return dot_of(Reading(report), limit=OVERVIEW)


def titles(dot: str) -> list[str]:
    """The first line of each box."""
    return [
        re.split(r"\\n", label)[0] for label in re.findall(r'^\t"?[CTF][^ ]* \[.*?label="([^"]*)"', dot, re.MULTILINE)
    ]


def test_boxes_are_modules_and_the_operations_between_them_and_never_lines_of_code() -> None:
    net, x = UNet(), torch.zeros(2, 3, 8, 8)

    dot = overview(report_of(net, x))

    assert "self." not in "".join(titles(dot))
    assert {"⊞ net.down: Double", "MaxPool2d", "net.up: ConvTranspose2d", "⊞ add, cat"} <= set(titles(dot))


def test_shapes_of_inputs_and_outputs_stand_on_the_arrows_and_those_of_parameters_in_the_box() -> None:
    net, x = UNet(), torch.zeros(2, 3, 8, 8)

    dot = overview(report_of(net, x))

    assert "T1 x · S1 · v0\\nfloat32[2, 3, 8, 8]" in dot, "the batch is a box"
    arrows = re.findall(r'-> .*?label=" ([^"]*)"', dot)
    assert {"[2, 4, 8, 8]", "[2, 4, 4, 4]", "[2, 8, 4, 4]", "[2, 8, 8, 8]", "[2, 1, 8, 8]"} <= set(arrows)
    assert "net.up: ConvTranspose2d\\n◆ weight [8, 4, 2, 2], bias [4]" in dot
    assert "kept for backward" not in dot


def test_what_writes_in_place_is_marked_and_statistics_of_a_batch_are_not() -> None:
    net, x = UNet(), torch.zeros(2, 3, 8, 8)

    lines = overview(report_of(net, x)).splitlines()

    (written,) = [line for line in lines if "Tensor.mul_" in line]
    assert "✎" in written
    assert "peripheries=2" in written
    (down,) = [line for line in lines if "net.down: Double" in line]
    assert "✎ 2 writes in place" in down


def test_a_module_that_runs_others_is_not_named_by_its_one_operation() -> None:
    net, x = Encoder(), torch.zeros(2, 4)

    for dot in (overview(report_of(net, x)), report_of(net, x).to_dot()):
        assert not [title for title in titles(dot) if "Encoder" in title and "⊞" not in title]


@pytest.mark.parametrize("layers", [5, 8, 30])
def test_layers_of_one_list_are_one_box_unless_one_of_them_is_open(layers: int) -> None:
    net, x = Encoder(layers), torch.zeros(2, 4)

    dot = overview(report_of(net, x))

    closed = [title for title in titles(dot) if re.search(r"layers\[\d+\]: Layer$", title)]
    assert f"Layer × {layers}" in dot
    assert not closed
    assert len(titles(dot)) <= OVERVIEW + 2


def test_a_box_of_a_loop_whose_middle_was_discarded_says_that_it_counts_the_least() -> None:
    x = torch.zeros(2)
    reports = []
    for most in (100, 10_000):
        with inplace_magic.watch(max_events=most, full=True) as w:
            for _ in range(999):
                x.add_(1)
                x.mul_(1)
        reports.append(w.report)
    cut, whole = (report.to_dot() + timeline_table(Reading(report)) for report in reports)

    for before, after in pairwise(
        re.findall(r"(at least )?\d+ (?:more passes|passes|calls, line|writes in place)", cut)
    ):
        assert (before, after) == ("at least ", "at least ")
    assert "more passes" in cut
    assert "at least" not in whole
    assert "998 more passes" in whole


class Scaled(UNet):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = self.down(x)
        x = self.bottom(self.pool(first))
        first.mul_(0.5)
        return self.head(self.join(torch.cat([first, self.up(x)], dim=1)))


def test_beside_a_finding_a_notebook_shows_the_overview_with_both_places_in_it() -> None:
    net, x = Scaled(), torch.zeros(2, 3, 8, 8)
    with inplace_magic.watch() as w, pytest.raises(RuntimeError, match="inplace operation"):
        net(x).sum().backward()

    dot = dot_of(Reading(w.report), limit=detail_of(w.report))

    assert "overwritten here" in dot
    assert "saved here" in dot
    assert {"⊞ net.bottom: Double", "⊞ net.join: Double", "net.up: ConvTranspose2d"} <= set(titles(dot))
