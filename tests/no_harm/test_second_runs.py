"""After ``%inplace_why``, ``report.prove()`` and ``%inplace_fix`` everything of the user's is as it was before."""

from __future__ import annotations

import logging
import os
import pickle
import random
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from cells import run_cell
from programs import score
from torch.autograd.graph import saved_tensors_hooks

from inplace_magic.capture.torch import describe
from inplace_magic.rerun import guard

CASES = [
    pytest.param(score.source_of(programs, case["case"]), id=case["case"])
    for programs in (score.packed.FIRST, score.packed.FURTHER)
    for case in score.cases_in(programs)
]
OURS = ("report", "_", "__", "___", "_i", "_ii", "_iii", "_oh", "_ih", "_dh", "In", "Out")


def bits(tensor: torch.Tensor) -> Any:
    plain = tensor.detach()
    dense = plain.to_dense() if plain.layout != torch.strided else plain
    dense = dense.dequantize() if dense.is_quantized else dense
    return dense.resolve_conj().resolve_neg().contiguous().view(-1).view(torch.uint8).numpy().tobytes()


def told(value: Any, depth: int = 0) -> Any:
    """What a value is and holds, so far as it can be told without changing it."""
    if isinstance(value, torch.Tensor):
        version = None if value.is_inference() else value._version
        grad = describe.gradient(value)
        hooks = describe.tensor_hooks(value)
        held = None if grad is None else (id(grad), bits(grad), grad._version)
        return id(value), tuple(value.shape), version, bits(value), describe.requires_grad(value), held, hooks
    if isinstance(value, torch.nn.Module):
        tensors = [*value.named_parameters(), *value.named_buffers()]
        hooks = [(len(m._forward_hooks), len(m._backward_hooks), m.training) for m in value.modules()]
        return id(value), [(name, told(each)) for name, each in tensors], hooks
    if isinstance(value, torch.optim.Optimizer):
        groups = [{k: v for k, v in group.items() if k != "params"} for group in value.param_groups]
        return id(value), [told(each) for state in value.state.values() for each in state.values()], repr(groups)
    if isinstance(value, torch.Generator):
        return id(value), bits(value.get_state())
    if type(value).__name__ == "ndarray":
        return id(value), value.tobytes()
    if isinstance(value, (list, tuple, dict, set)) and depth < 4:
        items = value.values() if isinstance(value, dict) else value
        return id(value), [told(each, depth + 1) for each in items]
    if type(value).__module__ == "__main__" and hasattr(value, "__dict__") and depth < 4:
        return id(value), [told(each, depth + 1) for each in vars(value).values()]
    return id(value)


def everything(shell: Any, folder: Path) -> dict[str, Any]:
    """The user's names and what they hold, generators, settings, files."""
    numpy = sys.modules.get("numpy")
    own = ("_i", "__")  # IPython itself takes `__warningregistry__` away before each cell
    names = {k: told(v) for k, v in shell.user_ns.items() if k not in OURS and not k.startswith(own)}
    return {
        "names": names,
        "generators": (
            bits(torch.get_rng_state()),
            random.getstate(),
            pickle.dumps(numpy.random.get_state()) if numpy else b"",
        ),
        "settings": (
            *(torch.is_grad_enabled(), torch.get_default_dtype(), torch.is_anomaly_enabled(), torch.get_num_threads()),
            *(torch.autograd.grad, torch.autograd.backward, torch.save, saved_tensors_hooks.__enter__, input),
            *(logging.root.manager.disable, list(warnings.filters), os.getcwd(), dict(os.environ)),
        ),
        "files": sorted((path.name, path.stat().st_mtime_ns) for path in folder.rglob("*")),
        "threads": threading.active_count(),
    }


def assert_same(before: dict[str, Any], after: dict[str, Any]) -> None:
    for part, held in before.items():
        if isinstance(held, dict):
            assert list(held) == list(after[part]), "the names, in their order"
            assert [name for name in held if held[name] != after[part][name]] == []
        assert held == after[part], part


@pytest.fixture
def ip(loaded_shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A shell with the extension, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loaded_shell, "set_next_input", lambda *_args, **_kwargs: None)
    return loaded_shell


def assert_no_harm(ip: Any, folder: Path, number: int) -> None:
    before = everything(ip, folder)
    run_cell(ip, f"%inplace_why {number} -o report")
    assert_same(before, everything(ip, folder))
    run_cell(ip, "%inplace_fix")
    assert_same(before, everything(ip, folder))
    report = ip.user_ns.get("report")
    if report is not None:
        assert report.faults == []
        report.prove()
        assert_same(before, everything(ip, folder))


@pytest.mark.parametrize("source", CASES)
def test_of_each_labelled_program_nothing_is_changed(ip: Any, tmp_path: Path, source: str) -> None:
    """But for the pages, which are made from the reports alone, and tracebacks; those of the cells below are made."""
    torch.manual_seed(0)
    with score.unshown(), score.told_briefly(ip):
        run_cell(ip, source)
        assert_no_harm(ip, tmp_path, ip.execution_count - 1)


KINDS = {
    "model, optimizer, loader": """
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3), torch.nn.Dropout(0.5))
opt = torch.optim.Adam(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(list(torch.randn(6, 3)), batch_size=3, shuffle=True)
for batch in loader:
    out = torch.sigmoid(model(batch))
    loss = out.sum()
    opt.zero_grad(); loss.backward(retain_graph=True); opt.step()
    out.mul_(2)
    loss.backward()
""",
    "hooks": """
seen = []
layer = torch.nn.Linear(3, 3)
layer.register_forward_hook(lambda *args: seen.append(args[2]))
layer.weight.register_hook(lambda grad: seen.append(1))
y = torch.sigmoid(layer(torch.ones(2, 3)))
y.mul_(2)
y.sum().backward()
""",
    "generators": """
import random
own = torch.Generator().manual_seed(3)
def numbers():
    while True:
        yield torch.rand(3, generator=own)
stream = numbers()
x = next(stream).requires_grad_()
random.random()
y = torch.sigmoid(x * torch.rand(3))
y.mul_(2)
y.sum().backward()
""",
    "in-place NumPy": """
import numpy
array = numpy.arange(3.0)
array *= 2
numpy.random.rand()
x = torch.tensor(array, requires_grad=True)
y = torch.exp(x)
array += 1
y.add_(torch.from_numpy(array))
y.sum().backward()
""",
    "class attributes and globals": """
class Counter:
    calls = 0
    kept = []
counter = Counter()
def step(x):
    global total
    Counter.calls += 1
    Counter.kept.append(x.detach())
    counter.last = x
    y = torch.sigmoid(x)
    y.mul_(2)
    total = y.sum()
    total.backward()
step(torch.ones(3, requires_grad=True))
""",
    "files, settings, environment": """
import os, warnings
os.environ["OF_A_CELL"] = "1"
warnings.simplefilter("ignore")
y = torch.sigmoid(torch.ones(3, requires_grad=True))
y.mul_(2)
torch.save(y.detach(), "kept.pt")
y.sum().backward()
""",
    "silent": """
x = torch.ones(3, requires_grad=True)
y = torch.sigmoid(x)
loss = (y * y).sum()
y.data.mul_(2)
loss.backward()
""",
}


@pytest.mark.parametrize("kind", KINDS)
def test_of_cells_that_hold_state_wherever_people_keep_it_nothing_is_changed(
    ip: Any, tmp_path: Path, kind: str
) -> None:
    environment = dict(os.environ)
    filters = list(warnings.filters)
    try:
        run_cell(ip, "import torch")
        run_cell(ip, KINDS[kind])
        assert_no_harm(ip, tmp_path, 2)
        run_cell(ip, f"%%inplace_watch --prove -o report\n{KINDS[kind]}")
        assert ip.user_ns["report"].faults == []
        assert_no_harm(ip, tmp_path, 2)
    finally:
        os.environ.clear()
        os.environ.update(environment)
        warnings.filters[:] = filters


def test_what_hears_of_files_hears_nothing_outside_of_a_second_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit hook stays to the end of the process, and Python has an event for each ``id(x)``."""
    heard: list[str] = []
    monkeypatch.setattr(guard, "_audited", lambda event, _args: heard.append(event))

    with guard.harmless():
        with guard.harmless():
            pass
        del heard[:]
        id(heard)
        assert "builtins.id" in heard
    del heard[:]
    id(heard)
    assert heard == []


def test_two_threads_run_again_and_the_first_that_ends_leaves_the_other_guarded(tmp_path: Path) -> None:
    inside, over = threading.Event(), threading.Event()
    stopped: list[str] = []

    def longer() -> None:
        try:
            with guard.harmless():
                inside.set()
                over.wait()
                (tmp_path / "log.txt").write_text("again")
        except guard.Repeated as repeated:
            stopped.append(repeated.sentence)

    thread = threading.Thread(target=longer)
    thread.start()
    inside.wait()
    with guard.harmless():
        pass
    over.set()
    thread.join()
    assert len(stopped) == 1
    assert not (tmp_path / "log.txt").exists()
