"""A model whose classes live in an installed package is drawn as its modules, by their names and paths."""

from __future__ import annotations

import linecache
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import inplace_magic
from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.opening import LIMIT
from inplace_magic.analysis.story import Story
from inplace_magic.capture import callsite
from inplace_magic.render.graph.boxes import heading_of
from inplace_magic.render.reading import Reading
from inplace_magic.report import Report

PACKAGE = '''
import functools
import torch
from torch import nn


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


class Block(nn.Module):
    """Begins with a layer and ends with an activation."""

    def __init__(self, into, out):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(into, out, 3, padding=1), nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, padding=1), nn.BatchNorm2d(out)
        self.downsample = nn.Sequential(nn.Conv2d(into, out, 1), nn.BatchNorm2d(out)) if into != out else None

    @logged
    def forward(self, x):
        kept = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.bn2(self.conv2(x))
        x += kept
        return self.relu(x)


class Bottleneck(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(into, 4, 1), nn.BatchNorm2d(4)
        self.conv2, self.bn2 = nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.conv3, self.bn3 = nn.Conv2d(4, out, 1), nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = nn.Sequential(nn.Conv2d(into, out, 1), nn.BatchNorm2d(out)) if into != out else None

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class Early(nn.Module):
    """Begins with an activation, which has no parameters."""

    def __init__(self, width):
        super().__init__()
        self.act, self.first, self.second = nn.ReLU(), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return x + self.second(self.act(self.first(self.act(x))))


class Double(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True)
        widths = (4, 4, 8, 12, 16)
        for number in range(1, 5):
            into, out = widths[number - 1], widths[number]
            setattr(self, f"layer{number}", nn.Sequential(Block(into, out), Block(out, out)))
        self.fc = nn.Linear(16, 10)

    @logged
    def forward(self, x):
        x = self.relu(self.bn(self.conv(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class Deep(ResNet):
    def __init__(self):
        super().__init__()
        widths = (4, 8, 12, 16, 16)
        for number, count in enumerate((3, 4, 6, 3), 1):
            rest = [Bottleneck(widths[number], widths[number]) for _ in range(count - 1)]
            setattr(self, f"layer{number}", nn.Sequential(Bottleneck(widths[number - 1], widths[number]), *rest))


class Tower(nn.Module):
    def __init__(self, kind, count=6):
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.blocks = nn.ModuleList(kind(8) for _ in range(count))
        self.head = nn.Linear(8, 10, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Siblings(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.bottom, self.up = Double(8), Double(8), Double(8)
        self.far, self.near = Double(8), Double(8)

    def forward(self, x):
        return self.near(self.far(self.up(self.bottom(self.down(x)))))
'''

Watched = Callable[[str, str], Report]


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Makes a model, watches one step of it, and gives the report."""
    (tmp_path / "a_library_of_nets.py").write_text(PACKAGE, encoding="utf-8")
    folders = (*callsite.library_folders(), f"{tmp_path}/")
    monkeypatch.setattr(callsite, "library_folders", lambda: folders)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "a_library_of_nets", raising=False)

    def run(made: str, step: str) -> Report:
        torch.manual_seed(0)
        names = {"torch": torch, "nn": torch.nn, "inplace_magic": inplace_magic, "__name__": "__main__"}
        exec(f"import a_library_of_nets as nets\n{made}", names)
        text = "with inplace_magic.watch() as w:\n" + textwrap.indent(step, "    ")
        linecache.cache["step.py"] = (len(text), None, text.splitlines(keepends=True), "step.py")
        exec(compile(text, "step.py", "exec"), names)
        report: Report = names["w"].report  # type: ignore[attr-defined]  # the program's variable
        return report

    return run


def frames(report: Report) -> list[str]:
    return [heading_of(frame) for frame in Reading(report).drawing(frozenset(), LIMIT).frames]


def folds(report: Report) -> list[str]:
    return [heading_of(fold) for fold in Reading(report).drawing(frozenset(), LIMIT).folds]


def test_a_residual_network_reads_as_its_layers_and_blocks(watched: Watched) -> None:
    report = watched("net = nets.ResNet()", "net(torch.randn(2, 3, 8, 8)).sum().backward()")

    assert [name for name in frames(report) if "layer" in name or "net:" in name] == [
        "net: ResNet",
        "net.layer1: Block × 2",
        "net.layer1[0]: Block",
        "net.layer2: Block × 2",
        "net.layer3: Block × 2",
        "net.layer4: Block × 2",
    ]
    assert folds(report) == ["net.layer1[1]: Block", *(f"net.layer{n}[{k}]: Block" for n in (2, 3, 4) for k in (0, 1))]


def test_a_deep_network_of_larger_blocks_shows_one_of_them_from_inside(watched: Watched) -> None:
    report = watched("net = nets.Deep()", "net(torch.randn(2, 3, 8, 8)).sum().backward()")

    assert [name for name in frames(report) if "Bottleneck" in name] == [
        "net.layer1: Bottleneck × 3, 1 drawn",
        "net.layer1[0]: Bottleneck",
        "net.layer2: Bottleneck × 4, 1 drawn",
        "net.layer3: Bottleneck × 6, 1 drawn",
        "net.layer4: Bottleneck × 3, 1 drawn",
    ]
    assert len(Reading(report).drawing(frozenset(), LIMIT).graph) <= LIMIT


def encoder(layers: int, activation: str = "torch.relu") -> str:
    layer = f"nn.TransformerEncoderLayer(8, 2, 16, activation={activation}, batch_first=True)"
    return f"net = nn.TransformerEncoder({layer}, {layers}, enable_nested_tensor=False)"


ENCODED = "net(torch.randn(4, 2, 8)).sum().backward()"


def test_layers_that_would_fill_the_picture_one_by_one_stand_in_their_order(watched: Watched) -> None:
    report = watched(encoder(4), ENCODED)

    assert frames(report)[-1] == "net.layers: TransformerEncoderLayer × 4"
    assert folds(report) == [f"net.layers[{n}]: TransformerEncoderLayer" for n in range(4)]
    closed = {fold.key for fold in Reading(report).drawing(frozenset(), LIMIT).folds}
    for key in closed:
        opened = {fold.key for fold in Reading(report).drawing(frozenset({key}), LIMIT).folds}
        assert closed - opened == {key}


def test_many_such_layers_are_one_box_which_opens_to_the_first_of_them(watched: Watched) -> None:
    report = watched(encoder(6), ENCODED)
    (box,) = Reading(report).drawing(frozenset(), LIMIT).folds

    assert heading_of(box) == "net.layers: TransformerEncoderLayer × 6"
    opened = Reading(report).drawing(frozenset({box.key}), LIMIT)
    assert "net.layers[0]: TransformerEncoderLayer" in [heading_of(frame) for frame in opened.frames]
    assert "net.layers[1]…[5]: TransformerEncoderLayer × 5" in [heading_of(fold) for fold in opened.folds]


def test_of_such_layers_one_is_drawn_from_inside_where_they_write_in_place(watched: Watched) -> None:
    report = watched(encoder(4, "nn.ReLU(inplace=True)"), ENCODED)

    assert "net.layers[0]: TransformerEncoderLayer" in frames(report)
    assert folds(report)[-1] == "net.layers[1]…[3]: TransformerEncoderLayer × 3"
    assert "F.relu" in {call.name for call in Reading(report).drawing(frozenset(), LIMIT).graph.calls}


def test_a_frame_begins_where_its_module_begins_also_with_a_layer_that_has_no_parameters(watched: Watched) -> None:
    report = watched("net = nets.Tower(nets.Early)", "net(torch.arange(4)).sum().backward()")

    blocks = [call.modules[:2] for call in report.trace.calls]
    calls = blocks.count(("Tower", "Early"))
    assert calls == 6 * 5
    assert frames(report) == ["net: Tower", "net.blocks: Early × 6, 1 drawn", "net.blocks[0]: Early"]
    assert folds(report) == ["net.blocks[1]…[5]: Early × 5"]
    assert f"{5 * 5} calls" in report.to_dot()


def test_a_class_that_inherits_its_forward_is_named_as_the_user_wrote_it(watched: Watched) -> None:
    report = watched("net = nets.Siblings()", "net(torch.randn(2, 8)).sum().backward()")

    named = [*frames(report), *folds(report)]
    assert [name for name in named if "Sequential" in name or "passes" in name] == []
    for part in ("down", "bottom", "up", "far", "near"):
        assert f"net.{part}: Double" in named


def test_a_weight_of_two_modules_belongs_to_the_one_that_runs(watched: Watched) -> None:
    report = watched("net = nets.Tower(nets.Early, 1)", "net(torch.arange(4)).sum().backward()")

    last = [call for call in AutogradGraph.of(Story(report.trace)).calls if "Linear" in call.modules][-1]
    assert [room.path for room in last.rooms if room is not None] == ["net", "net.head"]


def test_modules_whose_forward_is_decorated_are_seen_to_run(watched: Watched) -> None:
    report = watched("net = nets.ResNet()", "net(torch.randn(2, 3, 8, 8))")

    assert ("ResNet", "Sequential", "Block", "Conv2d") in {call.modules for call in report.trace.calls}


def test_the_same_model_run_twice_is_two_passes_of_all_of_it(watched: Watched) -> None:
    report = watched("net = nets.Tower(nets.Early, 2)", "for step in range(3):\n    y = net(torch.arange(4))\ny.sum()")

    assert frames(report)[:2] == ["net: Tower × 3, 1 drawn", "net.blocks: Early × 2"]


def test_a_loop_of_the_users_over_layers_is_a_loop_whatever_else_stands_on_its_line(watched: Watched) -> None:
    loop = "for layer in layers:\n    x = torch.relu(layer(x)) + x\nx.sum().backward()"
    report = watched("layers, x = [nn.Linear(4, 4) for _ in range(20)], torch.ones(2, 4)", loop)

    assert frames(report) == ["x = torch.relu(layer(x)) + x: 20 passes, 1 drawn"]


def test_a_cell_that_a_line_runs_again_and_again_is_a_loop(watched: Watched) -> None:
    loop = "for x in torch.ones(40, 2, 4):\n    h, c = cell(x, (h, c))\nh.sum().backward()"
    report = watched("cell, h, c = nn.LSTMCell(4, 8), torch.zeros(2, 8), torch.zeros(2, 8)", loop)

    assert frames(report) == ["cell: LSTMCell × 40, 1 drawn"]
    assert folds(report) == ["cell: LSTMCell, 39 more passes"]


def test_opening_a_box_leaves_all_others_as_they_are(watched: Watched) -> None:
    report = watched("net = nets.ResNet()", "net(torch.randn(2, 3, 8, 8)).sum().backward()")
    closed = {fold.key for fold in Reading(report).drawing(frozenset(), LIMIT).folds}
    for key in closed:
        opened = Reading(report).drawing(frozenset({key}), LIMIT)
        assert closed - {fold.key for fold in opened.folds} == {key}


def test_a_model_that_nothing_names_is_still_drawn(watched: Watched) -> None:
    report = watched("", "nets.ResNet()(torch.randn(2, 3, 8, 8)).sum().backward()")

    assert "ResNet" in report.to_dot()


def test_the_trace_names_the_modules_around_the_tensors_that_it_met(watched: Watched) -> None:
    report = watched("net, spare = nets.Tower(nets.Early, 1), nets.Double(8)", "net(torch.arange(4))")

    assert [(module.path, module.cls, module.defined_in) for module in report.trace.module_names] == [
        ("net", "Tower", "Tower"),
        ("net.embed", "Embedding", "Embedding"),
        ("net.blocks", "ModuleList", ""),
        ("net.blocks[0]", "Early", "Early"),
        ("net.blocks[0].first", "Linear", "Linear"),
        ("net.blocks[0].second", "Linear", "Linear"),
        ("net.head", "Linear", "Linear"),
    ]
    assert Report.from_json(report.to_json()).trace.module_names == report.trace.module_names
