"""The program on which a fix is tried is left as it was."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from cells import run_cell
from proving.trying import BROKEN, SILENT, first, watched
from torch import nn

import inplace_magic


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("open('log.txt', 'a').write('step')", "it changes the file 'log.txt'"),
        ("torch.save(x, 'x.pt')", "it changes the file 'x.pt'"),
        ("import os; os.system('true')", "it runs the command 'true'"),
        ("import os; os.mkdir('made')", "it changes the file 'made'"),
        ("!touch made", "it runs a command"),  # in a terminal of its own, for which IPython forks
        ("import os\nif not (child := os.fork()): os._exit(0)", "it runs a command"),
        ("try: open('log.txt', 'a')\nexcept BaseException: pass", "it changes the file 'log.txt'"),
    ],
)
def test_what_cannot_be_done_on_copies_is_not_done_again(
    ip: Any, line: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = watched(ip, f"{line}\n{BROKEN}")
    before = {path.name: path.stat() for path in tmp_path.iterdir()}

    proof = first(report.prove()).proof

    assert proof is not None
    assert proof.verdict == "not tried"
    assert what in proof.reason
    assert {path.name: path.stat() for path in tmp_path.iterdir()} == before


def test_gradients_are_compared_without_an_import_that_changes_the_users_warnings(
    ip: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as that of sympy, which ``torch.unravel_index`` asks for: it adds a filter, and takes a second."""
    for name in ("sympy", "torch.fx.experimental.symbolic_shapes"):
        monkeypatch.setitem(sys.modules, name, None)

    proof = first(watched(ip, SILENT).prove()).proof

    assert proof is not None
    assert proof.gradient_errors[0].element == (0,)


class Counting(nn.Module):
    """A model with state wherever people keep it."""

    calls = 0

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("seen", torch.zeros(3))
        self.seen: torch.Tensor
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        Counting.calls += 1
        self.seen += x.detach().sum(0)
        return torch.sigmoid(self.fc(self.dropout(x)))


@pytest.fixture
def model() -> Iterator[Counting]:
    calls = Counting.calls
    yield Counting()
    Counting.calls = calls


def test_models_optimizers_loaders_hooks_and_generators_are_as_before(model: Counting) -> None:
    numpy = pytest.importorskip("numpy")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(list(torch.randn(4, 3)), batch_size=2, shuffle=True)
    hooked: list[int] = []
    handle = model.fc.register_forward_hook(lambda *_: hooked.append(1))
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    array = numpy.zeros(3)
    try:
        with inplace_magic.watch() as w:
            for batch in loader:
                out = model(batch)
                array += 1
                random.random()
                numpy.random.rand()
                loss = (out * out).sum()
                out.mul_(2)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    except RuntimeError:
        pass
    before = everything(model, optimizer, array, hooked)
    held = (model.fc.weight, model.fc.weight.grad, model.seen, loss, out, batch, dict(model.fc._forward_hooks))

    proof = first(w.report.prove()).proof  # type: ignore[union-attr]

    assert proof is not None
    assert proof.verdict == "proven", proof
    assert everything(model, optimizer, array, hooked) == before
    now = (model.fc.weight, model.fc.weight.grad, model.seen, loss, out, batch, dict(model.fc._forward_hooks))
    assert all(one is other for one, other in zip(held[:-1], now[:-1], strict=True))
    assert held[-1] == now[-1]
    handle.remove()


def everything(model: Counting, optimizer: torch.optim.Optimizer, array: Any, hooked: list[int]) -> Any:
    import numpy

    tensors = [*model.parameters(), *model.buffers(), *(p.grad for p in model.parameters() if p.grad is not None)]
    state = [value for entry in optimizer.state.values() for value in entry.values()]
    return (
        [(tensor._version, tensor.tolist()) for tensor in [*tensors, *state]],
        (Counting.calls, len(hooked), array.tolist(), model.training),
        (torch.get_rng_state().tolist(), random.getstate(), numpy.random.get_state()[1].tolist()),
        (torch.is_grad_enabled(), torch.get_default_dtype(), torch.autograd.grad.__module__),
    )


def test_an_interrupt_while_it_is_tried_puts_everything_back(ip: Any) -> None:
    run_cell(ip, "runs = []\nw = torch.ones(2)\nsteps = 0")
    ip.user_ns["runs"].append(0)
    cell = "steps += 1\nif steps > 1 and w.add_(1)[0] > 1: raise KeyboardInterrupt\n" + BROKEN
    report = watched(ip, cell)
    y, w = ip.user_ns["y"], ip.user_ns["w"]

    with pytest.raises(KeyboardInterrupt):
        report.prove()

    assert ip.user_ns["y"] is y
    assert ip.user_ns["w"] is w
    assert (w.tolist(), w._version, ip.user_ns["steps"]) == ([1.0, 1.0], 0, 1)
    assert ip.user_ns["x"].grad is None
