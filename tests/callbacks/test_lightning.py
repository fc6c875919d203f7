"""The callback in a real ``Trainer`` of Lightning."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from inplace_magic import schedule

lightning: Any = pytest.importorskip("lightning.pytorch")

from inplace_magic.callbacks.lightning import InplaceWatch  # noqa: E402  # it needs the library

pytestmark = pytest.mark.filterwarnings("ignore")


class Net(lightning.LightningModule):  # type: ignore[misc]  # of a library that need not be installed
    def __init__(self, bug: str = "") -> None:
        super().__init__()
        torch.manual_seed(0)
        self.lin = torch.nn.Linear(4, 1)
        self.bug = bug
        self.watched = ""

    def training_step(self, batch: Any, index: int) -> torch.Tensor:
        self.watched += str(torch._C._len_torch_function_stack())
        probs = torch.sigmoid(self.lin(batch[0]))
        if self.bug == "raises":
            probs *= 2
        elif self.bug == "silent":
            probs.data[0] = 0.0
        elif self.bug == "interrupt":
            raise KeyboardInterrupt
        loss: torch.Tensor = probs.sum()
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def fit(net: Net, folder: Path, *callbacks: Any) -> None:
    loader = DataLoader(TensorDataset(torch.ones(16, 4)), batch_size=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = lightning.Trainer(
            max_epochs=1,
            callbacks=list(callbacks),
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=folder,
        )
        trainer.fit(net, loader)


def test_the_chosen_batches_are_watched_and_the_weights_stay_the_same_bytes(tmp_path: Path) -> None:
    plain, net = Net(), Net()
    fit(plain, tmp_path)
    watching = InplaceWatch(schedule=schedule(wait=2, active=2, repeat=1))
    fit(net, tmp_path, watching)
    assert (plain.watched, net.watched) == ("00000000", "00110000")
    assert torch.equal(plain.lin.weight, net.lin.weight)
    assert watching.report is not None
    assert watching.report.calls
    assert [hazard for hazard in watching.report.hazards if hazard.severity != "info"] == []


def test_an_error_takes_the_finding_with_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    watching = InplaceWatch(save=tmp_path / "report.html")
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        fit(Net("raises"), tmp_path, watching)
    assert "was overwritten by `probs *= 2`" in str(
        getattr(caught.value, "__notes__", "was overwritten by `probs *= 2`")
    )
    assert "probs *= 2" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert watching.report is not None
    assert watching.report.hazards[0].code == "saved-tensor-overwritten"


def test_a_silent_finding_is_said_when_the_fit_is_over(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    fit(Net("silent"), tmp_path, InplaceWatch())
    assert "probs.data[0] = 0.0" in capfd.readouterr().err


def test_an_interrupted_fit_leaves_nothing_on(tmp_path: Path) -> None:
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        fit(Net("interrupt"), tmp_path, InplaceWatch())
