"""Programs that watch their tensors live and die: order of deaths, stolen gradients, live bytes, copies, threads."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import threading
import weakref
from typing import Any

import torch
from torch.utils.data import DataLoader, TensorDataset


def _gradient(leaf: torch.Tensor) -> torch.Tensor:
    assert leaf.grad is not None
    return leaf.grad


def order_of_deaths() -> Any:
    """Tensors die at the same statements and in the same order as unwatched."""
    log: list[str] = []

    def follow(name: str, tensor: torch.Tensor) -> torch.Tensor:
        weakref.finalize(tensor, log.append, f"{name} died")
        weakref.finalize(tensor.untyped_storage(), log.append, f"storage of {name} died")
        return tensor

    x = follow("x", torch.randn(3, requires_grad=True))
    y = follow("y", x.sigmoid())
    log.append("y made")
    view = follow("view", y.view(-1))
    z = follow("z", y * 2)
    log.append("z made")
    del y
    log.append("y deleted")
    view = follow("view 2", view * 1)
    log.append("view rebound")
    z.sum().backward()
    log.append("backward done")
    follow("gradient", _gradient(x))
    x.grad = None
    log.append("gradient dropped")
    for step in range(3):
        item = follow(f"loop {step}", torch.ones(2))
        item.add_(1)
    log.append("loop done")
    del z, view, x, item
    log.append("all deleted")
    return log


def deaths_after_an_error() -> Any:
    """A failed call keeps nothing alive beyond its traceback."""
    log: list[str] = []

    def fail() -> None:
        local = torch.randn(3, requires_grad=True).exp()
        weakref.finalize(local, log.append, "local died")
        local.mul_(2)
        local.sum().backward()

    try:
        fail()
    except RuntimeError as error:
        log.append("caught")
        error.__traceback__ = None
        log.append("traceback dropped")
    log.append("end")
    return log


class _Probe(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, log: list[int]) -> torch.Tensor:
        ctx.log = log
        return x * 1

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        out = grad * 2
        ctx.log.append(out.data_ptr())
        return out, None


def stolen_gradients() -> Any:
    """AccumulateGrad takes over the incoming gradient's memory, which it does only when nobody else holds it."""
    log: list[int] = []
    x = torch.randn(64, requires_grad=True)
    _Probe.apply(x, log).sum().backward()
    stolen = _gradient(x).data_ptr() == log[0]
    (x * 3).sum().backward()
    kept_in_place = _gradient(x).data_ptr() == log[0]
    (x * torch.randn(64)).sum().backward(create_graph=False)
    return [stolen, kept_in_place, _gradient(x)._version, x.grad]


def gradient_held_by_the_user() -> Any:
    """When the user does hold it, it is copied, as ever."""
    held: list[torch.Tensor] = []
    x = torch.randn(8, requires_grad=True)
    y = x * 2
    y.register_hook(held.append)
    y.backward(torch.ones(8))
    return [_gradient(x).data_ptr() == held[0].data_ptr(), x.grad, held[0]._version]


class _Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, w: torch.Tensor, x: torch.Tensor, edit: bool) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.edit = edit
        return w * x.sum(0)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        to_w = (grad * x).sum(0)
        if ctx.edit:
            to_w.view(-1)[0] = 0
            to_w.mul_(2)
        return to_w, None, None


def gradients_added_up() -> Any:
    """Autograd adds up in place in a gradient that Python code made, which it does only in memory of a single user."""
    found: list[Any] = []
    x = torch.randn(4, 3)
    for edit in (False, True):
        w = torch.randn(3, requires_grad=True)
        for _ in range(2):
            (w.square().sum() + _Scaled.apply(w, x, edit).sum()).backward()
            found.append(w.grad)
            w.grad = None
    hooks = (
        lambda g: g * 2,
        lambda g: found.append(g.norm()),
        lambda g: g.clone().clamp_(-0.1, 0.1),
        lambda g: g.mul_(2),
    )
    for hook in hooks:
        w = torch.randn(3, requires_grad=True)
        first, second = w.square(), w + 0
        second.register_hook(hook)
        (first + second * x[0]).sum().backward()
        found.append(w.grad)
    return found


class _Live:
    """Counts live bytes of the storages that it is shown."""

    def __init__(self) -> None:
        self.now = self.peak = 0

    def add(self, tensor: torch.Tensor) -> torch.Tensor:
        count = tensor.untyped_storage().nbytes()
        self.now += count
        self.peak = max(self.peak, self.now)
        weakref.finalize(tensor.untyped_storage(), self._drop, count)
        return tensor

    def _drop(self, count: int) -> None:
        self.now -= count


def live_bytes() -> Any:
    """The peak of live activation bytes over three training steps, and what is left after them."""
    live = _Live()
    layers = [torch.nn.Linear(8, 8) for _ in range(3)]
    optimizer = torch.optim.SGD([p for layer in layers for p in layer.parameters()], lr=0.1)
    levels = []
    for _ in range(3):
        h = live.add(torch.randn(16, 8))
        for layer in layers:
            h = live.add(torch.relu(live.add(layer(h))))
        loss = h.square().mean()
        levels.append(live.now)
        optimizer.zero_grad()
        loss.backward()
        levels.append(live.now)
        del loss, h
        levels.append(live.now)
        optimizer.step()
    return [live.peak, levels]


def cycles() -> Any:
    """No reference cycle through a tensor appears: collecting garbage finds none."""
    gc.collect()
    x = torch.randn(3, requires_grad=True)
    y = x.exp()
    reference = weakref.ref(y)
    y.sum().backward()
    del y
    return reference() is None


def copies() -> Any:
    """deepcopy, pickle, save and load, state dicts."""
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    model(torch.randn(3, 2)).sum().backward()
    twin = copy.deepcopy(model)
    x = torch.randn(4)
    pair = {"x": x, "view": x[1:]}
    again = pickle.loads(pickle.dumps(pair))
    same = copy.deepcopy(pair)
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    buffer.seek(0)
    twin.load_state_dict(torch.load(buffer))
    again["x"].add_(1)
    same["x"].add_(1)
    return [list(twin.state_dict().values()), [p.grad for p in twin.parameters()], again, same, len(pickle.dumps(x))]


def threads() -> Any:
    """Another Python thread computes and goes backward at the same time."""
    x = torch.randn(4, requires_grad=True)
    found: list[Any] = []

    def work() -> None:
        y = torch.sigmoid(x)
        (grad,) = torch.autograd.grad(y.sum(), x)
        found.append([y, grad, torch._C._len_torch_function_stack()])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    mine = torch.sigmoid(x).mul(2)
    return [found, mine]


def generators() -> Any:
    """A generator that holds ``no_grad`` across its yields, and random generators."""

    def batches() -> Any:
        with torch.no_grad():
            for step in range(2):
                yield torch.rand(2) * step

    source = torch.Generator().manual_seed(3)
    made = [torch.randn(2, generator=source), torch.randperm(4, generator=source)]
    return [list(batches()), made, source.get_state(), torch.is_grad_enabled(), torch.rand(2)]


def loader() -> Any:
    """A DataLoader without workers: same batches, same random state."""
    data = TensorDataset(torch.arange(10.0), torch.arange(10))
    batches = list(DataLoader(data, batch_size=4, shuffle=True, num_workers=0))
    return [batches, torch.rand(1)]


PROGRAMS = (
    order_of_deaths,
    deaths_after_an_error,
    stolen_gradients,
    gradient_held_by_the_user,
    gradients_added_up,
    live_bytes,
    cycles,
    copies,
    threads,
    generators,
    loader,
)
