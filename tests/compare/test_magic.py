"""``%%inplace_compare`` in a real shell and in a real kernel."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from cells import Ran, run_cell
from talking_to_kernels import execute

from inplace_magic.comparing.comparison import Comparison
from inplace_magic.magics.output import is_somebody_there

SETUP = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Dropout(0.5))
x = torch.ones(2, 4)
plain = lambda: model(x)
def needs(x): return x
"""


@pytest.fixture
def ip(loaded_shell: Any) -> Any:
    """A shell with the extension, a model and an input."""
    assert run_cell(loaded_shell, SETUP).error is None
    return loaded_shell


def compared(ip: Any, cell: str) -> tuple[Comparison, Ran]:
    ran = run_cell(ip, cell)
    assert ran.error is None
    return ip.user_ns["result"], ran


def test_flip_runs_the_cell_with_every_flag_off_and_on(ip: Any) -> None:
    result, ran = compared(
        ip, "%%inplace_compare --flip -o result --repeats 0\nprint('hidden')\ny = model(x)\ny.sum().backward()"
    )
    assert result.flipped == (("Dropout", 1), ("ReLU", 1))
    assert (result.first.name, result.second.name) == ("inplace=False", "inplace=True")
    assert (ran.out, ran.err) == ("", "")
    (data,) = ran.displays
    assert set(data) == {"text/html", "text/plain"}
    assert "`inplace=True` raises RuntimeError" in result.verdict  # dropout overwrites what ReLU saved


def test_flip_reaches_modules_that_the_cell_makes_itself(ip: Any) -> None:
    result, _ = compared(ip, "%%inplace_compare --flip -o result --repeats 0\nnn.Sequential(nn.SELU())(x * 2)")
    assert result.flipped == (("SELU", 1),)
    assert result.second.allocations == (result.first.allocations or 0) - 1


def test_the_users_namespace_is_as_before(ip: Any) -> None:
    model, names = ip.user_ns["model"], set(ip.user_ns)
    weights = [p.detach().clone() for p in model.parameters()]
    generator = torch.get_rng_state()
    compared(
        ip,
        "%%inplace_compare --flip -o result --repeats 2\nmodel.train(False)\nx.zero_()\nnew = model(x)\n"
        "del plain\nx = 3\nnew.sum().backward()\nmodel[0].weight.data.zero_()",
    )
    new = {name for name in set(ip.user_ns) - names if not name.startswith("_")}
    assert new == {"result"}
    assert ip.user_ns["model"] is model
    assert model.training
    assert [m.inplace for m in model if hasattr(m, "inplace")] == [False, False]
    assert all(torch.equal(one, other) for one, other in zip(weights, model.parameters(), strict=True))
    assert all(p.grad is None for p in model.parameters())
    assert ip.user_ns["x"].tolist() == [[1.0] * 4] * 2
    assert torch.equal(generator, torch.get_rng_state())


def test_a_broken_graph_is_named_with_the_gutters_lines(ip: Any) -> None:
    result, _ = compared(
        ip,
        "%%inplace_compare --flip -o result\n\nw = torch.ones(2, requires_grad=True)\ns = torch.sigmoid(w)\n"
        "y = nn.ReLU()(s)\ny.sum().backward()",
    )
    assert "`inplace=True` does not" in result.verdict
    finding = result.second.findings[0]
    assert finding.saved is not None
    assert finding.mutation is not None
    assert (finding.saved.line, finding.mutation.line) == (4, 5)
    assert finding.saved.cell == finding.mutation.cell == ip.execution_count - 1


def test_two_callables_by_name_that_the_cell_defines(ip: Any) -> None:
    cell = (
        "%%inplace_compare first second -o result --inputs x --repeats 0\n"
        "def first(x): return x + 1\ndef second(x): return x.add_(1)"
    )
    result, _ = compared(ip, cell)
    assert (result.first.name, result.second.name) == ("first", "second")
    assert "first `x[0, 0]`: 1 → 2" in result.verdict
    assert callable(ip.user_ns["first"])


def test_two_modules_and_two_cells_by_the_line_magic(ip: Any) -> None:
    run_cell(ip, "other = nn.Sequential(nn.Linear(4, 4), nn.ReLU(True), nn.Dropout(0.5, True))")
    run_cell(ip, "other.load_state_dict(model.state_dict());")
    run_cell(ip, "model.eval(), other.eval();")
    result, _ = compared(ip, "%inplace_compare model other --inputs x -o result --repeats 0")
    assert "same outputs and gradients, same compute, 1 allocation fewer" in result.verdict
    first = run_cell(ip, "a = (x * 2) + 1").result.execution_count
    second = run_cell(ip, "b = (x * 2).add_(1)").result.execution_count
    result, _ = compared(ip, f"%inplace_compare {first} In[{second}] -o result --repeats 0")
    assert "same outputs, same compute, 1 allocation fewer (−32 B)" in result.verdict


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("%%inplace_compare --flip\nx * 2", "No module with an `inplace` flag ran"),
        ("%%inplace_compare --flip\n  \n", "no code below"),
        ("%%inplace_compare --flip\nx = = 1", "line 2 is not Python"),
        ("%%inplace_compare --flip\nawait x", "is not Python that can run here"),
        ("%%inplace_compare --flip\n%%time\nx", "`%%time` makes a cell of another kind"),
        ("%%inplace_compare --flip plain\nx", "either a cell with itself, by --flip, or two variants by name"),
        ("%%inplace_compare plain\nx", "either a cell with itself"),
        ("%%inplace_compare\nx", "such as `%inplace_compare plain in_place`; it got neither."),
        ("%%inplace_compare --flop\nx", "did you mean --flip?"),
        ("%%inplace_compare --flip --repeats -1\nx", "cannot be negative"),
        ("%%inplace_compare --flip --repeats many\nx", "invalid int value"),
        ("%%inplace_compare --flip -o 2x\nx", "is not a variable name"),
        ("%inplace_compare --flip", "with two percent signs"),
        ("%inplace_compare plain plane", "`plane` is not defined; did you mean `plain`?"),
        ("%inplace_compare plain needs", "`needs` cannot be called so: missing a required argument: 'x'"),
        ("%inplace_compare plain x", "`x` is no callable"),
        ("%inplace_compare 1 999", "there is no cell In[999]"),
    ],
)
def test_bad_input_gets_one_sentence_and_runs_nothing(ip: Any, cell: str, sentence: str) -> None:
    names = set(ip.user_ns)
    ran = run_cell(ip, cell)
    assert type(ran.error).__name__ == "UsageError"
    assert sentence in str(ran.error)
    assert "\n" not in str(ran.error)
    assert ran.displays == []
    assert {name for name in set(ip.user_ns) - names if not name.startswith("_")} == set()


def test_the_users_own_error_in_both_variants_is_the_cells_error(ip: Any) -> None:
    ran = run_cell(ip, "%%inplace_compare --flip\n1 / 0")
    assert isinstance(ran.error, ZeroDivisionError)
    assert not ran.result.success
    (data,) = ran.displays
    assert data["text/plain"].startswith("Both raise. `inplace=True` raises ZeroDivisionError: division by zero.")
    assert "Both raise." in data["text/html"]
    assert "Please report it" not in data["text/html"]


def test_while_another_watch_is_on_it_says_so(ip: Any) -> None:
    run_cell(ip, "%inplace_watch on")
    ran = run_cell(ip, "%%inplace_compare --flip\nmodel(x)")
    assert "cannot run while another watch is on" in str(ran.error)
    run_cell(ip, "%inplace_watch off")


@pytest.mark.parametrize("cell", ["%%inplace_compare --help", "%%inplace_compare -h\n", "%inplace_compare --help"])
def test_help_needs_no_cell(ip: Any, cell: str) -> None:
    ran = run_cell(ip, cell)
    assert ran.error is None
    assert ran.out.startswith("usage: %%inplace_compare")


def test_help_runs_nothing(ip: Any) -> None:
    ran = run_cell(ip, "%%inplace_compare --help\n1 / 0")
    assert ran.error is None
    assert "--flip" in ran.out


def test_in_a_kernel_under_nbclient_there_is_one_output_and_no_progress_bar() -> None:
    import inplace_magic.magics.output as progress

    slow = "import time, inplace_magic.magics.output as p\np.DELAY = 0\nfrom torch import nn\nact = nn.ReLU()"
    cells = execute(
        [slow, "%%inplace_compare --flip --repeats 5\ntime.sleep(0.01)\nact(torch.ones(2) * 2)"], allow_errors=False
    )
    assert [output.output_type for output in cells[1].outputs] == ["display_data"]
    assert progress.DELAY == 1.0


class _Kernel:
    """What a shell in a kernel has of the request that it runs."""

    kernel = object()

    def __init__(self, allow_stdin: bool) -> None:
        self.parent_header = {"content": {"allow_stdin": allow_stdin}}


def test_a_bar_is_for_a_front_end_where_somebody_could_answer() -> None:
    assert is_somebody_there(_Kernel(True))
    assert not is_somebody_there(_Kernel(False))
