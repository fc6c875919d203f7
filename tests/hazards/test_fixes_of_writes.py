"""What is advised for a write keeps what the write was meant for, and the text that is shown can be pasted."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hazards.curing import cured, differing, first_finding, run, watch_cell
from hazards.patching import patched

HEAD = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which the watched cell can import."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("their_model", None)


def written_to(library: Path, source: str) -> Path:
    path = library / "their_model.py"
    path.write_text(source, encoding="utf-8")
    importlib.invalidate_caches()
    return path


def test_a_parameter_that_went_through_to_device_is_still_a_leaf_to_be_updated(loaded_shell: Any) -> None:
    source = (
        HEAD
        + """
model = nn.Linear(3, 1).to("cpu")
model(torch.randn(4, 3)).mean().backward()
for p in model.parameters():
    p.add_(p.grad, alpha=-0.1)
"""
    )
    assert "leaf Variable" in run(source)[1]
    finding = first_finding(loaded_shell, source)

    assert finding.fix == "Put the update of the values under `with torch.no_grad():`."
    assert finding.origin is None
    left, error = run(cured(source, watch_cell(loaded_shell, source)))
    stepped = source[: source.index("for p")] + "torch.optim.SGD(model.parameters(), lr=0.1).step()\n"
    assert error == ""
    assert differing(run(stepped)[0], left, within="model.") == []


def test_a_parameter_taken_out_of_its_module_is_clamped_and_not_copied(loaded_shell: Any) -> None:
    source = (
        HEAD
        + """
model = nn.Linear(3, 1).to("cpu")
w = list(model.parameters())[0]
w.clamp_(-0.01, 0.01)
"""
    )
    assert "leaf Variable" in run(source)[1]
    left, error = run(cured(source, watch_cell(loaded_shell, source)))
    assert error == ""
    assert float(left["model.weight"].abs().max()) <= 0.0101  # a write into a copy would leave it as it was


def test_a_parameter_that_is_multiplied_by_another_is_told_both_ways_and_gets_no_diff(loaded_shell: Any) -> None:
    source = (
        HEAD
        + """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.scale = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
    def forward(self, x):
        self.weight.mul_(self.scale)
        return x * self.weight
Scaled()(torch.ones(3)).sum().backward()
"""
    )
    assert "leaf Variable" in run(source)[1]
    finding = first_finding(loaded_shell, source)
    assert finding.diff == ""
    assert "If it is part of the computation" in finding.fix


def test_a_write_into_the_rows_of_an_image_gets_no_diff_that_drops_it(loaded_shell: Any) -> None:
    source = (
        HEAD
        + """
MEANS, STDS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
def denormalise(image):
    shown = image.clone()
    for channel, mean, std in zip(shown[0], MEANS, STDS):
        channel.mul_(std).add_(mean)
    return shown
x = torch.randn(1, 3, 4, 4, requires_grad=True)
denormalise(x).sum().backward()
"""
    )
    assert "Output 0 of Unbind" in run(source)[1]
    finding = first_finding(loaded_shell, source)

    assert finding.diff == ""
    assert "take the view by an index or a slice, `shown[…]`" in finding.fix


def test_a_half_whose_whole_is_read_afterwards_gets_no_diff_that_drops_the_write(loaded_shell: Any) -> None:
    source = (
        HEAD
        + """
def f(x):
    y = x * 2
    a, b = y.chunk(2)
    a += b
    return y
f(torch.ones(4, requires_grad=True))
"""
    )
    assert "Output 0 of Split" in run(source)[1]
    finding = first_finding(loaded_shell, source)
    assert finding.diff == ""
    assert "If `y` is to see the write, take the view by an index or a slice, `y[…]`" in finding.fix


SPECTRAL = (
    HEAD
    + """
class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 3))
        self.u = nn.Parameter(torch.randn(4), requires_grad=False)
        self.v = nn.Parameter(torch.randn(3), requires_grad=False)
    def forward(self, x):
        u, v, w = self.u, self.v, self.weight
        v.data = nn.functional.normalize(torch.mv(w.t().data, u.data), dim=0)
        u.data = nn.functional.normalize(torch.mv(w.data, v.data), dim=0)
        sigma = u.dot(w.mv(v))
        return x @ (w / sigma).t()
net = Normed()
loss = net(torch.randn(5, 3)).tanh().mean() - net(torch.randn(5, 3)).tanh().mean()
loss.backward()
"""
)


def test_a_state_written_by_data_assignment_is_copied_where_it_is_saved_and_goes_on(loaded_shell: Any) -> None:
    assert run(SPECTRAL)[1] == ""  # silent without us, and the gradient is that of other vectors
    meant, wrong = run(SPECTRAL.replace("u.dot(w.mv(v))", "u.clone().dot(w.mv(v.clone()))"))[0], run(SPECTRAL)[0]
    assert differing(meant, wrong, within="net.weight") == ["net.weight.grad"]
    report = watch_cell(loaded_shell, SPECTRAL)

    found = [hazard for hazard in report.hazards if hazard.severity == "silent"]
    assert {h.diff.partition("\n+")[2] for h in found} == {"        sigma = u.clone().dot(w.mv(v.clone()))"}
    left, error = run(cured(SPECTRAL, report))
    assert error == ""
    assert differing(meant, left, within="net.") == []  # u and v have moved on as they did


def test_the_diff_of_a_write_through_data_writes_the_copy_so_that_autograd_sees_it(loaded_shell: Any) -> None:
    source = (
        HEAD
        + """
net = nn.Sequential(nn.Linear(4, 8), nn.Sigmoid(), nn.Linear(8, 1)); x = torch.randn(16, 4)
h = net[1](net[0](x))
h.data[h.data < 0.5] = 0
net[2](h).sum().backward()
"""
    )
    assert run(source)[1] == ""
    report = watch_cell(loaded_shell, source)
    assert report.hazards[0].diff.endswith("-h.data[h.data < 0.5] = 0\n+h = h.clone()\n+h[h < 0.5] = 0")
    recorded = source.replace("h.data[h.data < 0.5] = 0", "h = torch.where(h < 0.5, 0.0, h)")
    left, error = run(cured(source, report))
    assert error == ""
    assert differing(run(recorded)[0], left, within="net.") == []


def test_a_chain_that_begins_with_a_write_of_no_known_twin_writes_a_copy(loaded_shell: Any) -> None:
    """``y = y.uniform_() + 1`` would write `y` all the same."""
    source = (
        HEAD
        + """
x = torch.ones(3, requires_grad=True)
y = torch.sigmoid(x)
y.uniform_().add_(1)
y.sum().backward()
"""
    )
    assert "modified by an inplace operation" in run(source)[1]
    report = watch_cell(loaded_shell, source)

    assert report.hazards[0].diff.endswith("+y = y.clone()\n+y.uniform_().add_(1)")
    left, error = run(cured(source, report))
    assert (error, left["x.grad"].tolist()) == ("", [0.0] * 3)


def test_only_the_save_that_a_backward_still_needs_is_copied(loaded_shell: Any) -> None:
    source = (
        HEAD
        + """
layer = nn.Module()
layer.register_buffer("scale", torch.ones(3))
w = nn.Parameter(torch.ones(3))
shown = (layer.scale * w).sum()
del shown
loss = (layer.scale * w).sum()
layer.scale.add_(1)
loss.backward()
"""
    )
    assert "modified by an inplace operation" in run(source)[1]
    report = watch_cell(loaded_shell, source)

    changes = [line for line in report.hazards[0].diff.splitlines() if line.startswith("+")]
    assert changes == ["+loss = (layer.scale.clone() * w).sum()"]
    left, error = run(cured(source, report))
    assert (error, left["w.grad"].tolist(), left["layer.scale"].tolist()) == ("", [1.0] * 3, [2.0] * 3)


MODEL = """\
import torch
from torch import nn

class Net(nn.Module):
\tdef __init__(self):
\t\tsuper().__init__()
\t\tself.fc = nn.Linear(3, 3)
\t\tself.main = nn.Sequential(
\t\t\tnn.Linear(3, 8),
\t\t\tnn.Sigmoid(),
\t\t\tnn.Dropout(0.5, inplace=True),  # regularise
\t\t\tnn.Linear(8, 8),
\t\t\tnn.Dropout(0.5, True),
\t\t)

\tdef forward(self, x):
\t\tout = torch.sigmoid(self.fc(x))
\t\tkept = out.exp()
\t\tkept += x  # [batch, 3]
\t\treturn kept.sum() + self.main(x).sum()
"""
USE = """
import torch
from their_model import Net
torch.manual_seed(0)
net = Net()
net(torch.randn(4, 3)).backward()
"""


def test_a_diff_keeps_the_tabs_and_the_comment_of_the_file(loaded_shell: Any, library: Path) -> None:
    path = written_to(library, MODEL.replace("inplace=True", "inplace=False"))
    assert "modified by an inplace operation" in run(USE)[1]
    finding = next(h for h in watch_cell(loaded_shell, USE).hazards if h.variable == "kept")

    assert finding.diff.endswith("-\t\tkept += x  # [batch, 3]\n+\t\tkept = kept + x  # [batch, 3]")
    new = "\n".join(patched(path.read_text(encoding="utf-8").splitlines(), [finding.diff]))
    compile(new, "their_model.py", "exec")  # spaces for tabs would be an IndentationError


def test_the_layer_of_a_sequential_is_named_by_its_place_and_by_the_line_that_makes_it(
    loaded_shell: Any, library: Path
) -> None:
    path = written_to(library, MODEL.replace("kept += x", "kept = kept + x"))
    assert "modified by an inplace operation" in run(USE)[1]
    report = watch_cell(loaded_shell, USE)
    (finding,) = (hazard for hazard in report.hazards if hazard.severity == "error")

    assert finding.fix == (
        "Set `inplace=False` on `net.main[2]`, the Dropout that `return kept.sum() + self.main(x).sum()` runs; "
        "`nn.Dropout(0.5, inplace=True)` (their_model.py:11) makes it."
    )
    assert finding.diff == (
        "@@ their_model.py:11 @@\n-\t\t\tnn.Dropout(0.5, inplace=True),  # regularise\n"
        "+\t\t\tnn.Dropout(0.5, inplace=False),  # regularise"
    )
    assert [module.path for module in report.trace.inplace_modules] == ["net.main[2]", "net.main[4]"]
    written_to(library, "\n".join(patched(path.read_text(encoding="utf-8").splitlines(), [finding.diff])))
    sys.modules.pop("their_model")
    assert run(USE)[1] == ""


def test_of_a_network_that_no_name_reaches_the_class_is_told(loaded_shell: Any, library: Path) -> None:
    written_to(library, MODEL.replace("kept += x", "kept = kept + x"))
    finding = first_finding(loaded_shell, USE.replace("net = Net()\nnet(", "Net()("))
    assert finding.fix == "Set `inplace=False` on the Dropout that `return kept.sum() + self.main(x).sum()` runs."
    assert finding.diff == ""  # it can be either of two


def test_of_a_network_that_a_loop_builds_no_line_is_patched_by_guessing(loaded_shell: Any, library: Path) -> None:
    built = (
        MODEL.replace("kept += x", "kept = kept + x")
        .replace("nn.Sequential(", "nn.Sequential(*[")
        .replace("\t\t)\n", "\t\t])\n")
    )
    assert built.count("*[") == 1
    written_to(library, built)
    finding = first_finding(loaded_shell, USE.replace("net = Net()\nnet(", "Net()("))
    assert finding.fix == "Set `inplace=False` on the Dropout that `return kept.sum() + self.main(x).sum()` runs."
    assert finding.diff == ""
