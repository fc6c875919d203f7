"""How large pictures of real programs are, in nodes and in bytes."""

from __future__ import annotations

import contextlib
import linecache
import re
import textwrap
from functools import cache

import pytest
import torch

import inplace_magic
from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.story import Story
from inplace_magic.render import to_mimebundle
from inplace_magic.report import Report

LOOP = """
    weight = torch.ones(3, requires_grad=True)
    for step in range(500):
        y = torch.tanh(weight * 1.01)
        loss = y.sum()
        loss.backward()
        with torch.no_grad():
            weight -= 0.1 * weight.grad
            weight.grad.zero_()
    """
FAILING_LOOP = """
    y = torch.ones(3, requires_grad=True) * 1
    for step in range(300):
        y = torch.sigmoid(y)
        y = y + 1
        if step == 150:
            y = torch.sigmoid(y)
            y.mul_(2)
    y.sum().backward()
    """
RESNET = """
    from asked.resnet import ResNet18
    model = ResNet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loss = model(torch.randn(2, 3, 32, 32)).square().mean()
    loss.backward()
    optimizer.step()
    """
LSTM = """
    cell = torch.nn.LSTMCell(4, 8)
    h, c = torch.zeros(2, 8), torch.zeros(2, 8)
    for x in torch.randn(40, 2, 4):
        h, c = cell(x, (h, c))
    h.sum().backward()
    """


@cache
def report_of(program: str) -> Report:
    """The program's report; what it raises is part of it."""
    text = "with inplace_magic.watch() as watched:\n" + textwrap.indent(textwrap.dedent(program), "    ")
    name = "program.py"  # about as long as the name of a cell
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"torch": torch, "inplace_magic": inplace_magic, "__name__": "__main__"}
    torch.manual_seed(0)
    with contextlib.suppress(RuntimeError):  # of the program that fails; its finding is looked at below
        exec(compile(text, name, "exec"), names)
    report: Report = names["watched"].report  # type: ignore[attr-defined]  # the program's variable
    assert report.faults == []
    return report


@cache
def picture_of(program: str) -> str:
    """Its picture; several tests look at it."""
    return report_of(program).to_svg()


@cache
def bundle_of(program: str) -> dict[str, str]:
    """What a cell leaves in its notebook."""
    return to_mimebundle(report_of(program))


def boxes(svg: str) -> list[str]:
    return re.findall(r'<g class="n [^"]*" data-k="([^"]*)"', svg)


@pytest.mark.parametrize("program", [LOOP, FAILING_LOOP, RESNET, LSTM], ids=["loop", "failing", "resnet", "lstm"])
def test_a_picture_of_thousands_of_calls_has_few_boxes_and_few_bytes(program: str) -> None:
    svg = picture_of(program)

    assert len(boxes(svg)) <= 80
    assert len(svg.encode()) <= 40_000
    assert svg == report_of(program).to_svg()


@pytest.mark.parametrize("program", [LOOP, FAILING_LOOP, RESNET, LSTM], ids=["loop", "failing", "resnet", "lstm"])
def test_the_output_of_any_of_them_is_far_below_the_limit_of_a_cell(program: str) -> None:
    assert size(program) <= 70_000


SIXTY_FUNCTIONS = "\n".join(
    [
        *(f"def f{n}(x):\n    y{n} = torch.exp(x)\n    return y{n}.mul_({n})" for n in range(60)),
        f"x = torch.ones(8, requires_grad=True)\nfor f in [{', '.join(f'f{n}' for n in range(60))}]:\n    x = f(x * 1)",
    ]
)
THREE_HUNDRED_CULPRITS = "\n".join(
    ["x = torch.ones(8, requires_grad=True)", *(f"t{n} = torch.exp(x * {n})\nt{n}.mul_(2)" for n in range(300))]
)
FAN = "\n".join(
    [
        "x = torch.ones(8, requires_grad=True)",
        *(f"t{n} = torch.sigmoid(x * {n})" for n in range(400)),
        "t200.mul_(2)",
        "t200.sum().backward()",
    ]
)
RECURSION = """
    def deeper(x, depth):
        y = torch.sigmoid(x)
        if depth == 0:
            y.mul_(2)
            return y
        return deeper(y, depth - 1) + y
    deeper(torch.ones(8, requires_grad=True), 150).sum().backward()
    """
SHAPES = {
    "functions": SIXTY_FUNCTIONS,
    "culprits": THREE_HUNDRED_CULPRITS,
    "fan": FAN,
    "recursion": RECURSION,
    "failing loop": FAILING_LOOP,
}
CHAIN = "\n".join(
    [
        "x = torch.ones(8, requires_grad=True)\nt0 = torch.sigmoid(x)",
        *(f"t{n} = torch.sigmoid(t{n - 1} * 1.0)" for n in range(1, 25)),
        "t24.sum().backward()",
    ]
)


def size(program: str) -> int:
    """Bytes of what a cell leaves in its notebook."""
    return sum(len(content.encode()) for content in bundle_of(program).values())


BRANCHES = "\n".join(
    [
        "x = torch.ones(8, requires_grad=True)",
        *(f"a{n} = torch.sigmoid(x)\nb{n} = torch.tanh(x)\nx = a{n} * b{n}" for n in range(16)),
        "a15.mul_(2)",
        "x.sum().backward()",
    ]
)
THOUSAND_CALLS = "\n".join(
    ["x = torch.ones(8, requires_grad=True)", *(f"t{n} = torch.exp(x * {n})\nt{n}.mul_(2)" for n in range(332))]
)


@pytest.mark.parametrize("program", [CHAIN, BRANCHES], ids=["chain", "branches"])
def test_a_cell_of_a_hundred_nodes_leaves_about_60_kilobytes(program: str) -> None:
    assert 95 <= len(AutogradGraph.of(Story(report_of(program).trace))) <= 105
    assert size(program) <= 62_000


def test_a_training_step_of_a_network_leaves_60_kilobytes() -> None:
    assert len(AutogradGraph.of(Story(report_of(RESNET).trace))) > 1_000
    assert size(RESNET) <= 60_000


def test_a_thousand_calls_with_hundreds_of_findings_leave_200_kilobytes_and_the_same_ones_each_time() -> None:
    report = report_of(THOUSAND_CALLS)

    assert 990 <= len(report.calls) <= 1_010
    assert sum(finding.severity != "info" for finding in report.findings) >= 332
    assert size(THOUSAND_CALLS) <= 200_000
    assert to_mimebundle(report) == bundle_of(THOUSAND_CALLS)


@pytest.mark.parametrize("shape", SHAPES)
def test_whatever_the_shape_a_picture_has_300_boxes_and_shows_what_the_worst_finding_is_about(shape: str) -> None:
    report = report_of(SHAPES[shape])
    worst = report.hazards[0]

    drawn = boxes(picture_of(SHAPES[shape]))

    assert len(drawn) <= 300
    assert {f"C{worst.call}", f"C{worst.saved_call}"} <= set(drawn)
    assert size(SHAPES[shape]) <= 200_000


def test_a_training_loop_reads_as_one_iteration_and_the_number_of_the_others() -> None:
    dot = report_of(LOOP).to_dot()

    assert "500 passes, 1 drawn" in dot
    assert "499 more passes" in dot
    assert len(boxes(picture_of(LOOP))) <= 12


def test_the_iteration_that_failed_is_drawn_whole_whatever_surrounds_it() -> None:
    report = report_of(FAILING_LOOP)
    (finding,) = [hazard for hazard in report.hazards if hazard.severity == "error"]

    dot = report.to_dot()

    assert {f"C{finding.call}", f"C{finding.saved_call}"} <= set(boxes(picture_of(FAILING_LOOP)))
    assert "overwritten here" in dot
    assert "saved here" in dot
    assert "148 more passes" in dot


def test_a_network_reads_as_its_blocks_by_their_names() -> None:
    dot = report_of(RESNET).to_dot()

    assert "model.layer1: BasicBlock × 2" in dot
    assert re.search(r"⊞ model\.layer4(: BasicBlock × 2|\[1\])", dot)
    assert "⊞ optimizer.step()" in dot


def test_opening_a_box_shows_what_is_inside_and_leaves_the_others() -> None:
    report = report_of(RESNET)
    closed = boxes(picture_of(RESNET))
    fold = next(key for key in closed if key.startswith("F"))

    opened = boxes(report.to_svg(expanded={fold}))

    assert fold not in opened
    assert len(opened) > len(closed)
    assert set(closed) - {fold} <= set(opened)
