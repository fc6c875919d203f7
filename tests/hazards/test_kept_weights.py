"""Trained weights that were kept at a chosen moment, and not copied: whoever reads them reads those of the end."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from hazards.curing import cured, differing, run, watch_cell

BEGIN = """
import io
import torch
from torch import nn

class Keeper:
    def __init__(self):
        self.least = float("inf")
        self.weights = None
    def look(self, value, model):
        if value < self.least:
            self.least = value
            self.weights = model.state_dict()

torch.manual_seed(0)
model, other = nn.Linear(4, 1), nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.9)
x, y = torch.randn(32, 4), torch.randn(32, 1)
least, best, best_step, keeper, kept = float("inf"), None, 0, Keeper(), {}
"""
LOOP = """
for step in range(6):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
KEEP
    loss.backward()
    optimizer.step()  # here
"""
KEEPING = {
    "a statement of its own": "if loss.item() < least:\n    least = loss.item()\n    best = model.state_dict()",
    "two names at once": "if loss.item() < least:\n    least, best = loss.item(), model.state_dict()",
    "an entry": "if loss < least:\n    least = loss.item()\n    kept[0] = model.state_dict()\n    best = kept[0]",
    "moved to the processor": (
        "if loss.item() < least:\n    least = loss.item()\n"
        "    best = {name: p.cpu() for name, p in model.state_dict().items()}"
    ),
    "detached one by one": (
        "if loss.item() < least:\n    least = loss.item()\n"
        "    best = {name: p.detach() for name, p in model.named_parameters()}"
    ),
    "an object": "keeper.look(loss.item(), model)\nbest = keeper.weights",
}
READING = {
    "loaded into another network": "other.load_state_dict(best)\nread = other.weight.detach().clone()",
    "saved": "file = io.BytesIO()\ntorch.save(best, file)\nread = torch.load(io.BytesIO(file.getvalue()))['weight']",
    "called with": "read = torch.func.functional_call(model, best, x).detach()",
}
COPIES = {"model.state_dict()": "copy.deepcopy(model.state_dict())", "p.detach()": "p.detach().clone()"}


def _program(keeping: str, reading: str) -> str:
    loop = LOOP.replace("KEEP\n", textwrap.indent(keeping, "    ") + "\n")
    return f"{BEGIN.strip()}\n{loop.strip()}\n{reading}\n"


def _copied(program: str) -> str:
    for old, new in COPIES.items():
        program = program.replace(old, new)
    return program.replace("import torch\n", "import torch\nimport copy\n", 1)


@pytest.mark.parametrize("reading", READING)
@pytest.mark.parametrize("keeping", KEEPING)
def test_weights_kept_at_a_chosen_moment_are_told_and_cured(keeping: str, reading: str, loaded_shell: Any) -> None:
    source = _program(KEEPING[keeping], READING[reading])
    meant, _ = run(_copied(source))
    left, error = run(source)
    assert error == ""
    assert differing(left, meant, within="read") == ["read"], "without a watch nothing says that it is wrong"
    report = watch_cell(loaded_shell, source)
    told = [(hazard.code, hazard.mutation.text.strip()) for hazard in report.hazards if hazard.is_alarm]
    assert told == [("kept-then-written", "optimizer.step()  # here")]
    assert differing(run(cured(source, report))[0], meant, within="read") == []


@pytest.mark.parametrize("reading", READING)
@pytest.mark.parametrize("keeping", KEEPING)
def test_copies_are_left_alone(keeping: str, reading: str, loaded_shell: Any) -> None:
    report = watch_cell(loaded_shell, _copied(_program(KEEPING[keeping], READING[reading])))
    assert not any(hazard.is_alarm for hazard in report.hazards), report.to_text()


HEALTHY = {
    "saved where it was taken": (
        "if loss.item() < least:\n    least = loss.item()\n    best = model.state_dict()\n"
        "    file = io.BytesIO()\n    torch.save(best, file)",
        "print(len(file.getvalue()))",
    ),
    "taken once, to follow the weights": (
        "if best is None:\n    least, best = loss.item(), model.state_dict()\nlast = step",
        "file = io.BytesIO()\ntorch.save(best, file)",
    ),
    "taken in each pass": ("best = model.state_dict()", "other.load_state_dict(best)"),
    "of the last pass": (
        "if step == 5 or loss.item() < -1:\n    least, best = loss.item(), model.state_dict()",
        "other.load_state_dict(best)",
    ),
    "asked for their shapes": (
        "if loss.item() < least:\n    least, best = loss.item(), model.state_dict()",
        "print([tuple(p.shape) for p in best.values()])",
    ),
    "written as the weights": (
        "if loss.item() < least:\n    least, best = loss.item(), {n: p.detach() for n, p in model.named_parameters()}",
        "for p in best.values():\n    p.mul_(0.5)\nother.load_state_dict(best)",
    ),
}


@pytest.mark.parametrize("case", HEALTHY)
def test_weights_that_are_to_be_followed_are_left_alone(case: str, loaded_shell: Any) -> None:
    report = watch_cell(loaded_shell, _program(*HEALTHY[case]))
    assert not any(hazard.is_alarm for hazard in report.hazards), report.to_text()


def test_weights_taken_for_each_epoch_follow_the_steps_of_its_batches(loaded_shell: Any) -> None:
    """Many steps between two takings are no passes that went by: the loop of the batches is another one."""
    source = BEGIN + textwrap.dedent(
        """
        for epoch in range(3):
            if least > 0:
                state = model.state_dict()
            for batch in x.split(8):
                optimizer.zero_grad()
                model(batch).square().mean().backward()
                optimizer.step()
            file = io.BytesIO()
            torch.save(state, file)
        """
    )
    report = watch_cell(loaded_shell, source.strip())
    assert not any(hazard.is_alarm for hazard in report.hazards), report.to_text()


def test_a_state_kept_by_an_object_and_loaded_back_is_one_finding_with_a_diff(loaded_shell: Any) -> None:
    """Statistics and weights were written by two lines; kept and read they were by one each."""
    source = _program(
        KEEPING["an object"], "model.load_state_dict(keeper.weights)\nread = model[0].weight.detach().clone()"
    )
    source = source.replace("nn.Linear(4, 1), nn", "nn.Sequential(nn.Linear(4, 1), nn.BatchNorm1d(1)), nn")
    report = watch_cell(loaded_shell, source)
    assert [hazard.code for hazard in report.hazards if hazard.is_alarm] == ["same-memory-compared"]
    meant, _ = run(_copied(source))
    assert differing(run(source)[0], meant, within="read") == ["read"]
    assert differing(run(cured(source, report))[0], meant, within="read") == []


def test_a_network_that_was_moved_does_not_keep_its_own_weights(loaded_shell: Any) -> None:
    """``model.to(device)`` gives each parameter back as it is; what keeps the old values is the line that took them."""
    keeping = "if loss.item() < least:\n    least, best = loss.item(), model.state_dict()"
    source = _program(keeping, "model.load_state_dict(best)\nread = model.weight.detach().clone()")
    source = source.replace("optimizer = ", "model = model.to('cpu')\noptimizer = ", 1)
    report = watch_cell(loaded_shell, source)
    (found,) = [hazard for hazard in report.hazards if hazard.is_alarm]
    assert found.origin is not None
    assert found.origin.text.strip() == "least, best = loss.item(), model.state_dict()"
    meant, _ = run(_copied(source))
    assert differing(run(source)[0], meant, within="read") == ["read"]
    assert differing(run(cured(source, report))[0], meant, within="read") == []
