"""Mixed precision, sparse tensors and gradients, recomputation and the like: the same bits, watched, and no finding."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paddle
import paddle.nn as nn
import paddle.nn.functional as F
import pytest

import inplace_magic


def mixed_precision(level: str) -> list[Any]:
    net = nn.Sequential(nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
    optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters())
    if level == "O2":
        net, optimizer = paddle.amp.decorate(net, optimizer, level="O2", dtype="bfloat16")
    scaler = paddle.amp.GradScaler(init_loss_scaling=8.0)
    losses = []
    for _ in range(2):
        with paddle.amp.auto_cast(level=level, dtype="bfloat16"):
            loss = F.cross_entropy(net(paddle.rand([2, 1, 8, 8])), paddle.to_tensor([0, 1]))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        losses.append(loss)
    return [*losses, *net.parameters()]


def mixed_precision_of_calls() -> list[Any]:
    return mixed_precision("O1")


def mixed_precision_of_parameters() -> list[Any]:
    return mixed_precision("O2")


def sparse_tensors() -> list[Any]:
    coo = paddle.sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 3.0], [3, 3], stop_gradient=False)
    csr = paddle.sparse.sparse_csr_tensor([0, 2, 3, 5], [1, 3, 2, 0, 1], [1.0, 2.0, 3.0, 4.0, 5.0], [3, 4])
    dense = paddle.sparse.nn.functional.relu(coo).to_dense()
    dense.sum().backward()
    return [dense, paddle.sparse.add(csr, csr).to_dense(), paddle.sparse.sin(csr).to_dense()]


def gradients_of_rows() -> list[Any]:
    table = nn.Embedding(10, 4, sparse=True)
    optimizer = paddle.optimizer.Adam(parameters=table.parameters(), lazy_mode=True)
    table(paddle.to_tensor([1, 2, 2])).sum().backward()
    optimizer.step()
    optimizer.clear_grad()
    return [table.weight]


def clipped_gradients() -> list[Any]:
    net = nn.Linear(4, 4)
    clip = nn.ClipGradByGlobalNorm(0.1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters(), grad_clip=clip)
    for _ in range(3):
        (net(paddle.rand([2, 4])) ** 2).mean().backward()
    optimizer.step()
    return list(net.parameters())


def recomputation() -> list[Any]:
    from paddle.distributed.fleet.utils import recompute

    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.GELU())
    x = paddle.rand([2, 4])
    x.stop_gradient = False
    recompute(net, x).sum().backward()
    return [x, x.grad, *(parameter.grad for parameter in net.parameters())]


def second_derivatives() -> list[Any]:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (first,) = paddle.grad((x**3).sum(), x, create_graph=True)
    first.sum().backward()
    return [first, x.grad, paddle.autograd.jacobian(x**2, x)[:]]


def complex_numbers() -> list[Any]:
    x = paddle.complex(paddle.rand([3]), paddle.rand([3]))
    x.stop_gradient = False
    paddle.fft.fft(x).abs().sum().backward()
    return [x.real(), x.grad.imag()]


def no_elements() -> list[Any]:
    nothing = paddle.zeros([0, 3])
    return [paddle.concat([nothing, paddle.ones([1, 3])]), nothing * 2]


def a_compiled_function() -> list[Any]:
    @paddle.jit.to_static
    def doubled(x: Any) -> Any:
        return F.relu(x) * 2

    x = paddle.rand([3])
    x.stop_gradient = False
    y = doubled(x)
    y.sum().backward()
    return [y, x.grad]


def saved_and_loaded() -> list[Any]:
    net = nn.Linear(3, 2)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "net.pdparams")
        paddle.save(net.state_dict(), file)
        net.set_state_dict(paddle.load(file))
    return list(net.parameters())


PROGRAMS: tuple[Callable[[], list[Any]], ...] = (
    *(mixed_precision_of_calls, mixed_precision_of_parameters, sparse_tensors, gradients_of_rows, clipped_gradients),
    *(recomputation, second_derivatives, complex_numbers, no_elements, a_compiled_function, saved_and_loaded),
)


def left_by(program: Callable[[], list[Any]]) -> list[Any]:
    """Dtype, bits and version of all that a program gives, and what is drawn next."""
    paddle.seed(4)
    found = [(str(one.dtype), one.astype("float32").numpy().tobytes(), one.inplace_version) for one in program()]
    return [*found, paddle.rand([2]).tolist()]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_off_the_common_path_does_the_same_and_nothing_is_found(program: Callable[[], list[Any]]) -> None:
    plain = left_by(program)
    with inplace_magic.watch() as w:
        watched = left_by(program)
    assert watched == plain
    assert w.report is not None
    assert w.report.calls
    assert w.report.faults == []
    assert [finding.code for finding in w.report.hazards if finding.severity != "info"] == []
