"""The graph as DOT text."""

from __future__ import annotations

import re
from dataclasses import replace

import torch
from builders import sigmoid_report
from render.samples import fine_report, hostile_report, long_report

import inplace_magic
from inplace_magic.record.trace import Trace
from inplace_magic.render import style
from inplace_magic.render.drawing import MAX_NODES
from inplace_magic.report import Report


def node(dot: str, key: str) -> str:
    """The statement of a node."""
    return next(line for line in dot.splitlines() if re.match(rf'\s*"?{re.escape(key)}"? \[', line))


def nodes(dot: str) -> list[str]:
    return re.findall(r'^\t"?([CT]\d+(?:@v[\d?]+(?:\+\d+)?)?)"? \[', dot, re.MULTILINE)


def folds(dot: str) -> list[str]:
    return re.findall(r'^\t"?(F\d+-\d+)"? \[', dot, re.MULTILINE)


def test_the_whole_dot_of_the_sigmoid_failure(golden):
    golden("sigmoid.dot", sigmoid_report().to_dot())


def test_the_whole_dot_of_a_cell_with_nothing_wrong(golden):
    golden("fine.dot", fine_report().to_dot())


def test_the_same_report_gives_the_same_text():
    assert sigmoid_report().to_dot() == sigmoid_report().to_dot()


def test_a_mutated_tensor_is_told_without_colour():
    statement = node(sigmoid_report().to_dot(), "T4@v1")

    assert "✎ T4 probs · S4 · v0→v1" in statement
    assert "peripheries=2" in statement
    assert "penwidth=2" in statement


def test_the_guilty_call_and_the_saver_are_marked_in_words():
    dot = sigmoid_report().to_dot()

    assert "overwritten here\\nline 6: probs[2] = 2.0" in node(dot, "C4")
    assert "saved here\\nline 5: probs = torch.sigmoid(logits)" in node(dot, "C3")
    assert "raised RuntimeError" in node(dot, "C6")


def test_arrows_of_what_is_kept_for_backward_are_dashed():
    dot = sigmoid_report().to_dot()

    (kept,) = [line for line in dot.splitlines() if '"T4@v0" -> C3' in line]
    assert "style=dashed" in kept
    assert "SigmoidBackward0.result" in kept


def test_a_tensor_from_before_the_watch_says_so_in_its_box():
    x = torch.zeros(3)
    with inplace_magic.watch() as w:
        y = x + 1

    dot = w.report.to_dot()
    assert "from before the watch" in node(dot, "T1@v0")
    assert dot.count("from before the watch") == 1
    assert y.sum() == 3


def test_addresses_appear_only_when_asked_for():
    assert "data_ptr" not in sigmoid_report().to_dot()
    assert "data_ptr 0x" in sigmoid_report().to_dot(raw=True)


def test_raw_numbers_are_those_that_python_and_torch_show():
    with inplace_magic.watch() as w:
        x = torch.zeros(3)
        row = x[:2]
        row.add_(1)
    boxes = node(w.report.to_dot(raw=True), "T1@v0"), node(w.report.to_dot(raw=True), "T2@v1")
    assert "T1 x · S1 · v0" in boxes[0]
    assert "✎ T2 row · S1 · v0→v1" in boxes[1], "a view says whose memory it has"
    for tensor, box in zip((x, row), boxes, strict=True):
        assert f"id {id(tensor)}\\n" in box
        assert f"data_ptr {hex(tensor.data_ptr())}" in box


def test_one_font_name_and_no_list_of_fonts():
    assert set(re.findall(r'fontname=("[^"]*"|\S+?)[ \]]', sigmoid_report().to_dot())) == {"Helvetica"}


def test_the_legend_stands_in_the_picture():
    assert "Dashed arrow: kept for backward" in sigmoid_report().to_dot()


def test_a_large_graph_is_folded_but_around_the_finding_and_says_so():
    report = long_report(MAX_NODES)
    dot = report.to_dot()

    middle = report.findings[0].call
    assert {f"C{middle}", f"C{middle - 1}", f"C{middle + 1}"} <= set(nodes(dot))
    assert len(nodes(dot)) + len(folds(dot)) <= 80
    assert f"{MAX_NODES - sum(key[0] == 'C' for key in nodes(dot))} calls folded into" in dot
    assert "Green box ⊞: several calls" in dot


def test_a_folded_box_says_how_many_calls_where_and_what_it_gives():
    dot = Report(long_report(MAX_NODES).trace).to_dot()

    assert "⊞ 15 calls, lines 2–16\\ngives T15 t15  float32[8]" in node(dot, "F0-14")
    assert "F0-14" not in Report(long_report(MAX_NODES).trace).to_dot(expanded={"F0-14"}).replace('"', "")


def test_in_a_large_graph_what_autograd_does_not_track_is_left_out_and_counted():
    report = long_report(30)
    trace = replace(report.trace, nodes=report.trace.nodes[:20], saved=report.trace.saved[:20])

    dot = Report(trace).to_dot()

    assert "C19" in nodes(dot)
    assert "C20" not in nodes(dot)
    assert "10 calls that autograd does not track: not drawn." in dot


def test_a_hostile_name_stays_text():
    dot = hostile_report().to_dot()

    assert "\x00" not in dot
    assert "label=<" not in dot
    assert dot.encode("utf-8")


def test_an_empty_report_has_a_graph():
    assert Report(Trace()).to_dot().startswith("digraph")


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc, self.w = torch.nn.Linear(4, 4), torch.nn.Parameter(torch.ones(4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(self.fc(x), self.w).relu_()


def test_a_module_of_one_operation_stands_by_its_path_and_class_and_parameters_are_told_from_activations():
    net, x = Net(), torch.zeros(2, 4, requires_grad=True)
    with inplace_magic.watch() as w:
        net(x)
    dot = w.report.to_dot()

    assert "+ net.fc: Linear\\n" in dot
    assert "+ F.linear\\n" in dot, "a part of `Net`, whose forward does more"
    named = {name: next(line for line in dot.splitlines() if f" {name} · S" in line) for name in ("net.w", "x")}
    assert "◆ T" in named["net.w"]
    assert style.PURPLE_TINT in named["net.w"]
    assert "◆" not in named["x"], "a leaf that requires grad, and no parameter"
    assert style.PURPLE_TINT not in named["x"]
    assert "Violet box ◆: a parameter." in dot
