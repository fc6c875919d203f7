"""What was missed, or told with a reason that was not so, although the record held the answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

NAMED = {
    "under_jacrev": (
        """
        def f(x):
            y = torch.sigmoid(x)
            y.add_(1)
            return y
        torch.func.jacrev(f)(torch.ones(3))
        """,
        "y.add_(1)",
        "y = torch.sigmoid(x)",
    ),
    "under_func_grad_over_functional_call": (
        """
        net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
        x = torch.randn(2, 3)
        def loss(weights):
            return torch.func.functional_call(net, weights, (x,)).sum()
        torch.func.grad(loss)(dict(net.named_parameters()))
        """,
        "return torch.func.functional_call(net, weights, (x,)).sum()",
        "return torch.func.functional_call(net, weights, (x,)).sum()",
    ),
    "under_checkpoint_with_the_layer_made_in_the_block": (
        """
        from torch.utils.checkpoint import checkpoint
        lin = nn.Linear(4, 4)
        def f(h):
            return torch.relu(lin(h)) * 2
        x = torch.randn(2, 4, requires_grad=True)
        h = x + 1
        y = checkpoint(f, h, use_reentrant=False)
        h.add_(1)
        y.sum().backward()
        """,
        "h.add_(1)",
        None,
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_the_write_of_a_failed_backward_is_named(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    program, write, save = NAMED[name]
    ran = told(loaded_shell, tmp_path, program)
    assert "modified by an inplace operation" in str(ran.plain)
    for finding in ran.the("saved-tensor-overwritten"):
        assert finding.mutation is not None
        assert finding.mutation.text == write
        assert (finding.saved.text if finding.saved is not None else None) == save
        assert finding.raised


def test_of_a_scripted_write_no_reason_is_made_up(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(
        loaded_shell,
        tmp_path,
        """
        source = "def bump(h):\\n    h.add_(1)\\n    return h\\n"
        bump = torch.jit.CompilationUnit(source).bump
        x = torch.randn(3, requires_grad=True)
        y = torch.sigmoid(x)
        bump(y)
        y.sum().backward()
        """,
    )
    assert "modified by an inplace operation" in str(ran.plain)
    for finding in ran.the("saved-tensor-overwritten"):
        assert finding.saved is not None
        assert "before the watch began" not in finding.message
        assert "thread" not in finding.message


def test_a_childs_error_is_not_told_as_a_backward_of_this_process(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(
        loaded_shell,
        tmp_path,
        """
        def launch():
            raise RuntimeError(
                "-- Process 1 terminated with the following error: RuntimeError: one of the variables needed for "
                "gradient computation has been modified by an inplace operation: [torch.FloatTensor [3]], which is "
                "output 0 of SigmoidBackward0, is at version 1; expected version 0 instead."
            )
        y = torch.sigmoid(torch.randn(3, requires_grad=True))
        launch()
        """,
    )
    assert ran.plain is not None
    for finding in ran.the("saved-tensor-overwritten"):
        assert (finding.mutation, finding.saved) == (None, None)
        assert "such as a process" in finding.message
        assert "watch():` into the function that runs there" in finding.fix


def test_an_error_that_is_told_on_with_other_words_is_one_finding(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(
        loaded_shell,
        tmp_path,
        """
        y = torch.sigmoid(torch.randn(3, requires_grad=True))
        y.add_(1)
        try:
            y.sum().backward()
        except RuntimeError as error:
            raise ValueError(f"training failed: {error}") from None
        """,
    )
    assert isinstance(ran.plain, ValueError)
    assert ran.alarms == [[("saved-tensor-overwritten", "y.add_(1)")]] * 2


def test_a_graph_from_before_the_watch_is_said_to_be_older(loaded_shell: Any) -> None:
    loaded_shell.run_cell("import torch\nx = torch.ones(3, requires_grad=True)\ny = torch.sigmoid(x)\ny.add_(1)")
    loaded_shell.run_cell("%%inplace_watch -o report\ny.sum().backward()")
    (finding,) = (h for h in loaded_shell.user_ns["report"].hazards if h.severity == "error")
    assert "from before the watch began" in finding.message
    assert "Put the forward pass" in finding.fix


SILENT = {
    "data_is_written_under_torch_func": (
        """
        def f(x):
            y = torch.exp(x)
            y.data.mul_(2)
            return y.sum()
        got, meant = torch.func.grad(f)(torch.zeros(3)), torch.ones(3)
        """,
        ("saved-values-changed", "y.data.mul_(2)"),
    ),
    "a_custom_function_keeps_its_input_as_an_attribute": (
        """
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, i):
                ctx.i = i
                return i * i
            @staticmethod
            def backward(ctx, g):
                return g * 2 * ctx.i
        x = torch.ones(3, requires_grad=True)
        h = x * 1
        y = Square.apply(h)
        h.add_(1)
        y.sum().backward()
        got, meant = x.grad, 2 * torch.ones(3)
        """,
        ("saved-values-changed", "h.add_(1)"),
    ),
    "a_clone_is_written_through_data_before_it_is_used": (
        """
        first, second, x = nn.Linear(4, 8), nn.Linear(8, 1), torch.randn(16, 4)
        h = torch.sigmoid(first(x))
        meant = torch.autograd.grad(second(h * (h >= 0.5)).sum(), first.weight)[0]
        h = torch.sigmoid(first(x))
        h = h.clone()
        h.data[h.data < 0.5] = 0
        second(h).sum().backward()
        got = first.weight.grad
        """,
        ("saved-values-changed", "h.data[h.data < 0.5] = 0"),
    ),
    "one_network_is_bound_to_two_attributes": (
        """
        class Byol(nn.Module):
            def __init__(self):
                super().__init__()
                self.moving_nn = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))
                self.second_nn = self.moving_nn
            def loss(self, a, b):
                p = self.moving_nn(a)
                with torch.no_grad():
                    t = self.second_nn(b)
                return (p - t).pow(2).mean()
        def main():
            net = Byol()
            start = net.second_nn[0].weight.detach().clone()
            opt = torch.optim.SGD(net.parameters(), .1)
            for _ in range(3):
                loss = net.loss(torch.randn(8, 4), torch.randn(8, 4))
                opt.zero_grad()
                loss.backward()
                opt.step()
            return net.second_nn[0].weight.detach(), start
        got, meant = main()
        """,
        ("copy-shares-parameters", "opt.step()"),
    ),
}


@pytest.mark.parametrize("name", SILENT)
def test_wrong_numbers_are_found_where(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    program, finding = SILENT[name]
    ran = told(loaded_shell, tmp_path, program)
    assert ran.plain is None, "PyTorch says nothing"
    assert not ran.names["got"].allclose(ran.names["meant"])
    assert ran.alarms == [[finding], [finding]], [report.to_text() for report in ran.reports]


@pytest.mark.parametrize(
    ("views", "maker"),
    [("a, b = x.chunk(2, 1)\nrow = a[:, 1:]", "chunk"), ("for row in x.unbind(0): break", "unbind")],
)
def test_the_call_that_gave_several_views_is_named_and_not_the_slice(
    views: str, maker: str, loaded_shell: Any, tmp_path: Path
) -> None:
    program = f"x = torch.randn(4, 6, requires_grad=True) * 1\n{views}\nrow[1:] = 0"
    ran = told(loaded_shell, tmp_path, program)
    assert re.search(r"Output 0 of Slice(Backward0)? is a view", str(ran.plain))  # so named before PyTorch 2.12
    for finding in ran.the("multi-output-view-written"):
        assert finding.origin is not None
        assert maker in finding.origin.text
        assert f"`{maker}` gives several views" in finding.message


def test_what_a_layer_writes_in_the_middle_of_a_sequential_is_not_called_what_the_sequential_got(
    loaded_shell: Any, tmp_path: Path
) -> None:
    ran = told(
        loaded_shell,
        tmp_path,
        """
        class Gate(nn.Module):
            def forward(self, input):
                s = torch.sigmoid(input)
                input.mul_(2)
                return s * input
        net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), Gate())
        def run(img):
            return net(img).sum()
        run(torch.randn(2, 4)).backward()
        """,
    )
    assert "modified by an inplace operation" in str(ran.plain)
    assert [finding.variable for finding in ran.the("saved-tensor-overwritten")] == ["input", "input"]


def test_the_record_tells_the_librarys_own_expression_that_wrote(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, "x = torch.randn(8, 4)\ny = nn.BatchNorm1d(4)(x)\nx.add_(1)")
    for report in ran.reports:
        writes = {call.name: call.within for call in report.calls if call.kind == "in-place" and call.modules}
        assert writes["Tensor.add_"] == "self.num_batches_tracked.add_(1)"
        assert next(call for call in report.calls if call.name == "Tensor.add_" and not call.modules).within == ""
        old = report.to_dict()
        for call in old["calls"]:
            del call["within"]
        assert type(report).from_dict(old).calls[0] == report.calls[0]  # a report of an older version opens
