"""The place of a call: the user's own line, and the chain of the user's own callers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cells import run_cell
from hazards.running import Ran, watched

from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite


def call(ran: Ran, name: str) -> CallEvent:
    """The one call of that name."""
    (found,) = (call for call in ran.report.calls if call.name == name)
    return found


def chain(site: Callsite | None) -> list[tuple[str, str]]:
    """(function, line) from the innermost place outwards."""
    found = []
    while site is not None:
        found.append((site.function.rsplit(".<locals>.", 1)[-1], site.text))
        site = site.caller
    return found


def test_a_call_is_placed_at_its_line_with_its_source(tmp_path: Path) -> None:
    ran = watched(tmp_path, "x = torch.ones(2)", "y = x.exp() + 1  # a comment")
    site = call(ran, "Tensor.exp").callsite
    assert ran.at(site) == "y = x.exp() + 1"
    assert site is not None
    assert (site.text, site.expression, site.function) == ("y = x.exp() + 1  # a comment", "x.exp()", "<module>")
    assert (site.direct, site.caller, site.cell) == (True, None, None)
    assert site.place == f"watched_program.py:{site.line}"


def test_two_calls_on_one_line_are_told_apart(tmp_path: Path) -> None:
    ran = watched(tmp_path, "x = torch.ones(2)", "y = x.exp() * x.sin()")
    found = {name: call(ran, f"Tensor.{name}").callsite for name in ("exp", "sin", "mul")}
    assert {name: site.expression for name, site in found.items() if site is not None} == {
        "exp": "x.exp()",
        "sin": "x.sin()",
        "mul": "x.exp() * x.sin()",
    }


def test_a_hook_was_called_by_the_line_of_backward_and_by_nothing_of_ours(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        "x = torch.ones(2, requires_grad=True)",
        "def doubled(grad):\n    return grad * 2",
        "x.register_hook(doubled)",
        "x.sum().backward()",
    )
    assert chain(call(ran, "Tensor.mul").callsite) == [
        ("doubled", "return grad * 2"),
        ("<module>", "x.sum().backward()"),
    ]


def test_a_call_over_several_lines_has_its_first_and_last_line(tmp_path: Path) -> None:
    ran = watched(tmp_path, "x = torch.ones(2)", "y = torch.add(\n    x,\n    1,\n)")
    site = call(ran, "torch.add").callsite
    assert site is not None
    assert site.text == "y = torch.add("
    assert (site.end_line or 0) - site.line == 3
    assert site.statement.startswith("y = torch.add(")
    assert site.statement.endswith(")")


def test_columns_are_counted_in_characters(tmp_path: Path) -> None:
    ran = watched(tmp_path, "é = torch.ones(2)", "ñandú = é.exp()")
    site = call(ran, "Tensor.exp").callsite
    assert site is not None
    assert site.expression == "é.exp()"
    line = (tmp_path / "watched_program.py").read_text(encoding="utf-8").splitlines()[site.line - 1]
    assert line[site.column : site.end_column] == "é.exp()"


def test_the_chain_of_callers_has_the_users_own_places_up_to_the_block(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        """
        def inner(t, scale=1):
            return t.exp()
        def outer(t):
            return inner(t, scale=2)
        x = torch.ones(2)
        y = outer(x)
        """,
    )
    site = call(ran, "Tensor.exp").callsite
    assert chain(site) == [
        ("inner", "return t.exp()"),
        ("outer", "return inner(t, scale=2)"),
        ("<module>", "y = outer(x)"),
    ]
    assert site is not None
    assert site.parameters == ("t", "scale")


def test_frames_of_torch_are_no_places_and_the_users_line_is_not_direct(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.relu = nn.ReLU()
            def forward(self, x):
                return self.relu(x)
        net = Net()
        y = net(torch.ones(2))
        """,
    )
    site = call(ran, "F.relu").callsite
    assert chain(site) == [("Net.forward", "return self.relu(x)"), ("<module>", "y = net(torch.ones(2))")]
    assert site is not None
    assert not site.direct
    assert site.expression == "self.relu(x)"


def test_a_function_of_torch_that_is_written_in_python_is_called_directly(tmp_path: Path) -> None:
    ran = watched(tmp_path, "x = torch.ones(2)", "y = F.relu(x)")
    site = call(ran, "F.relu").callsite
    assert site is not None
    assert site.direct


@pytest.mark.parametrize(
    "line",
    [
        "ys = [x.exp() for _ in range(1)]",
        "ys = list(map(lambda t: t.exp(), [x]))",
        "y = sum(t.exp() for t in [x])",
        "y = (lambda: x.exp())()",
    ],
)
def test_a_call_inside_a_comprehension_lambda_or_generator_is_at_its_line(tmp_path: Path, line: str) -> None:
    ran = watched(tmp_path, "x = torch.ones(2)", line)
    site = call(ran, "Tensor.exp").callsite
    assert site is not None
    assert site.text == line
    assert {text for _, text in chain(site)} == {line}


def test_a_deep_recursion_keeps_its_two_ends(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        """
        def descend(t, depth):
            return descend(t, depth - 1) if depth else t.exp()
        y = descend(torch.ones(2), 200)
        """,
    )
    places = chain(call(ran, "Tensor.exp").callsite)
    assert 4 < len(places) < 100
    assert places[0][0] == "descend"
    assert places[-1] == ("<module>", "y = descend(torch.ones(2), 200)")


def test_what_called_the_function_with_the_block_is_no_part_of_the_story(tmp_path: Path) -> None:
    ran = watched(tmp_path, "y = torch.ones(2).exp()")  # this test is a caller of it
    assert len(chain(call(ran, "Tensor.exp").callsite)) == 1


def test_code_without_a_source_has_a_place_all_the_same(tmp_path: Path) -> None:
    ran = watched(tmp_path, "x = torch.ones(2)", "exec('y = x.exp()')")
    site = call(ran, "Tensor.exp").callsite
    assert site is not None
    assert (site.line, site.text, site.file) == (1, "", None)
    assert site.caller is not None
    assert site.caller.text == "exec('y = x.exp()')"


def test_a_cell_is_called_by_its_number_and_its_lines_by_the_gutter(loaded_shell: object) -> None:
    run_cell(loaded_shell, "import torch\ndef helper(t):\n    return t.exp()")
    run_cell(loaded_shell, "%%inplace_watch --no-graph -o report\nx = torch.ones(2)\n\ny = helper(x)")
    report = loaded_shell.user_ns["report"]  # type: ignore[attr-defined]  # an InteractiveShell
    (found,) = (call.callsite for call in report.calls if call.name == "Tensor.exp")
    assert (found.place, found.text, found.file) == ("Cell In[1], line 3", "return t.exp()", None)
    assert (found.caller.place, found.caller.text) == ("Cell In[2], line 4", "y = helper(x)")
    assert found.caller.caller is None


def test_a_call_knows_the_modules_around_it(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        """
        class Block(torch.nn.Sequential):
            def forward(self, x):
                return super().forward(x) + 1
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.mul(2)
            @staticmethod
            def backward(ctx, grad):
                return grad
        net = torch.nn.Sequential(Block(torch.nn.Linear(2, 2)))
        Double.apply(net(torch.ones(1, 2)))
        net[0][0].register_forward_hook(lambda *_: None)
        net(torch.ones(1, 2))
        """,
    )
    block = ("Sequential", "Block") if sys.version_info >= (3, 11) else ("Module",) * 2
    linear = (*block, "Linear" if sys.version_info >= (3, 11) else "Module")
    assert [each.modules for each in ran.report.calls if each.name == "F.linear"] == [linear, linear]
    assert [each.modules for each in ran.report.calls if each.name == "Tensor.add"] == [block, block]
    assert call(ran, "Tensor.mul").modules == ()


def test_of_two_statements_on_one_line_each_call_has_its_own(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        "x = torch.ones(3)",
        "y = x.exp(); x.mul_(2)",
        "if True: z = x.sin()",
        "class Net(nn.Module):\n    def forward(self, x): h = x.neg(); return h.abs()\nNet()(x)",
    )
    statements = {call.name: call.callsite.statement for call in ran.report.calls if call.callsite is not None}
    assert statements["Tensor.exp"] == "y = x.exp()"
    assert statements["Tensor.mul_"] == "x.mul_(2)"
    assert statements["Tensor.sin"] == "z = x.sin()"
    assert (statements["Tensor.neg"], statements["Tensor.abs"]) == ("h = x.neg()", "return h.abs()")
