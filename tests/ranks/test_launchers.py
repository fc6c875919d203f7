"""Processes that a launcher starts from a cell or a script: what each saw comes back to whoever started them."""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from forking.starting import python
from talking_to_kernels import execute, text_of

import inplace_magic
from inplace_magic import OptionError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes that fork")


def step(factor: float) -> float:
    probs = torch.sigmoid(torch.ones(3, requires_grad=True))
    probs *= factor
    probs.sum().backward()
    return factor


def test_a_watched_function_is_the_function_and_takes_its_finding_along() -> None:
    watched = pickle.loads(pickle.dumps(inplace_magic.watched(step, level="ops")))
    assert watched.__name__ == "step"
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        watched(2.0)
    assert "overwritten by `probs *= factor`" in "".join(getattr(caught.value, "__notes__", ()))
    with pytest.raises(OptionError, match="levle"):
        inplace_magic.watched(step, levle="ops")


def test_what_it_returns_comes_back_and_a_silent_finding_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    def quiet(value: int, *, more: int) -> int:
        probs = torch.sigmoid(torch.ones(3, requires_grad=True))
        probs.data[0] = 0.0
        probs.sum().backward()
        return value + more

    assert inplace_magic.watched(quiet)(1, more=2) == 3
    assert "saved-values-changed" in capfd.readouterr().err


SPAWNED = """\
import torch, inplace_magic

def train(number, scale):
    probs = torch.sigmoid(torch.ones(3, requires_grad=True))
    probs *= scale
    probs.sum().backward()

if __name__ == "__main__":
    torch.multiprocessing.spawn(inplace_magic.watched(train), args=(2,), nprocs=2)
"""


def test_the_error_of_a_spawned_process_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(SPAWNED)
    settings = {**os.environ, "PYTHONPATH": str(Path(inplace_magic.__file__).parent.parent)}
    done = subprocess.run(
        [python(), "program.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=settings,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    assert "ProcessRaisedException" in done.stderr
    assert "overwritten by `probs *= scale` (program.py:5" in done.stderr


TRAIN = """\
import torch, inplace_magic
def train(scale):
    probs = torch.sigmoid(torch.ones(3, requires_grad=True))
    probs.data.mul_(scale)
    probs.sum().backward()
from accelerate import notebook_launcher"""


def lacks(library: str) -> bool:
    return importlib.util.find_spec(library) is None


@pytest.mark.skipif(lacks("accelerate"), reason="accelerate is not installed")
def test_the_ranks_of_a_notebook_launcher_tell_in_the_notebook() -> None:
    launch = "notebook_launcher({}, (2,), num_processes=2, use_port='0')"
    _, watched, unwatched = execute(
        [
            TRAIN,
            launch.format("inplace_magic.watched(train)"),
            f"%%inplace_watch\n{launch.format('train')}",
        ],
        allow_errors=False,
    )
    said = text_of(watched, "stderr")
    assert "inplace_magic: ranks 0–1:" in said
    assert said.count("Finding 1:") == 1
    assert "`probs.data.mul_(scale)`" in said
    assert "2 processes" in text_of(unwatched, "report"), "nobody watched them, and the cell says so"


@pytest.mark.skipif(lacks("ipyparallel"), reason="ipyparallel is not installed")
def test_the_engines_of_px_tell_in_the_notebook() -> None:
    cells = [
        "import ipyparallel\nclient = ipyparallel.Cluster(n=2, log_level=40).start_and_connect_sync()",
        "%%px\n%load_ext inplace_magic\nimport torch",
        "%%px\n%%inplace_watch\n"
        "probs = torch.sigmoid(torch.ones(3, requires_grad=True))\nprobs.data.mul_(2)\nprobs.sum().backward()",
        "client.shutdown(hub=True, block=True)",
    ]
    _, _, watched, _ = execute(cells, allow_errors=False)
    assert str(watched.outputs).count("overwritten by `probs.data.mul_(2)`") >= 2, "one for each engine"
