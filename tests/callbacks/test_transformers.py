"""The callback in a real ``Trainer`` of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from inplace_magic import schedule

pytest.importorskip("accelerate")

transformers: Any = pytest.importorskip("transformers")

from inplace_magic.callbacks.transformers import InplaceWatch  # noqa: E402  # imports transformers

pytestmark = pytest.mark.filterwarnings("ignore")


class Net(torch.nn.Module):
    def __init__(self, bug: str = "") -> None:
        super().__init__()
        torch.manual_seed(0)
        self.lin = torch.nn.Linear(4, 1)
        self.bug = bug
        self.watched = ""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        self.watched += str(torch._C._len_torch_function_stack())
        probs = torch.sigmoid(self.lin(x))
        if self.bug == "raises":
            probs *= 2
        elif self.bug == "silent":
            probs.data[0] = 0.0
        return {"loss": probs.sum()}


def train(net: Net, folder: Path, *callbacks: Any) -> None:
    args = transformers.TrainingArguments(
        output_dir=str(folder),
        max_steps=6,
        per_device_train_batch_size=2,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
    )
    data = [{"x": torch.ones(4)} for _item in range(16)]
    transformers.Trainer(net, args, train_dataset=data, callbacks=list(callbacks)).train()


def test_the_chosen_steps_are_watched_and_the_weights_stay_the_same_bytes(tmp_path: Path) -> None:
    plain, net = Net(), Net()
    train(plain, tmp_path)
    with InplaceWatch(schedule=schedule(wait=2, active=2, repeat=1)) as watching:
        train(net, tmp_path, watching)
    assert (plain.watched, net.watched) == ("000000", "001100")
    assert torch.equal(plain.lin.weight, net.lin.weight)
    assert watching.report is not None
    assert watching.report.calls
    assert [hazard for hazard in watching.report.hazards if hazard.severity != "info"] == []


def test_an_error_takes_the_finding_with_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def failing() -> None:
        with InplaceWatch() as watching:
            train(Net("raises"), tmp_path, watching)

    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        failing()
    assert "was overwritten by `probs *= 2`" in str(
        getattr(caught.value, "__notes__", "was overwritten by `probs *= 2`")
    )


def test_a_silent_finding_is_said_when_the_block_is_over(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with InplaceWatch() as watching:
        train(Net("silent"), tmp_path, watching)
    assert "probs.data[0] = 0.0" in capfd.readouterr().err


def test_without_its_block_it_watches_nothing_and_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    net = Net()
    train(net, tmp_path, InplaceWatch())
    assert net.watched == "000000"
    assert "write `with callback:` around `trainer.train()`" in capfd.readouterr().err
