"""On a GPU, too, a watched program does what it does unwatched: graphs, compiled code, other threads, errors."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from memory.models import MODELS
from on_device import (
    DEVICE,
    GPU,
    alarms,
    at_both_levels,
    bits,
    differ,
    in_use,
    needs_gpu,
    program,
    python,
    quiet,
    sgd,
    trainer,
)
from torch import nn
from torch.nn import functional as F

import inplace_magic
from inplace_magic.report import Report


@pytest.fixture
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True, warn_only=True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["ResNet-18", "GPT block", "LSTM"])
@at_both_levels
def test_three_steps_leave_the_same_bits(level: str, name: str, deterministic: None) -> None:
    results = []
    for run in (lambda step: step(), lambda step: quiet(step, level)):
        model, step = trainer(name)
        losses: list[torch.Tensor] = []
        run(lambda step=step, losses=losses: losses.extend(step() for _ in range(3)))
        results.append(bits(model, *losses))
    assert differ(*results) == []


@at_both_levels
def test_mixed_precision_leaves_the_same_bits_and_is_quiet(level: str) -> None:
    def trained(watch: Callable[[Callable[[], None]], object]) -> list[torch.Tensor]:
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(inplace=True), nn.Linear(32, 4)).to(DEVICE)
        optimizer, scaler = torch.optim.AdamW(net.parameters(), 1e-3), torch.amp.GradScaler(DEVICE)
        x = torch.randn(8, 16, device=DEVICE)

        def run() -> None:
            for _ in range(3):
                optimizer.zero_grad()
                with torch.autocast(DEVICE, dtype=torch.float16 if GPU else torch.bfloat16):
                    loss = F.mse_loss(net(x), x[:, :4])
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()

        watch(run)
        return bits(net)

    assert differ(trained(lambda run: run()), trained(lambda run: quiet(run, level))) == []


def step_of_a_graph(watch: Callable[[Callable[[], None]], Any]) -> tuple[list[torch.Tensor], Any]:
    """Captures a whole step and replays it three times, as PyTorch's notes do: what it left, and what `watch` gave."""
    torch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU(inplace=True), nn.Linear(8, 2)).cuda(), torch.randn(4, 8).cuda()
    optimizer, losses, batches = torch.optim.SGD(net.parameters(), 0.1), [], torch.randn(3, 4, 8).cuda()

    def run() -> None:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                optimizer.zero_grad(set_to_none=True)
                net(x).square().mean().backward()
                optimizer.step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
        for batch in batches:
            x.copy_(batch)
            graph.replay()
            losses.append(loss.clone())

    given = watch(run)
    return bits(net, *losses), given


@needs_gpu
@at_both_levels
def test_a_step_in_a_cuda_graph_is_captured_and_replayed_as_it_is_unwatched(level: str) -> None:
    plain, _none = step_of_a_graph(lambda run: run())
    seen, report = step_of_a_graph(lambda run: quiet(run, level))
    assert differ(plain, seen) == []
    assert report.verdict.endswith("Not seen: 3 replays of a CUDA graph.")
    (said,) = (sentence for sentence in report.blindness if "CUDA graph" in sentence)
    assert "`graph.replay()`" in said


@needs_gpu
def test_a_graphed_callable_and_a_kept_method_are_replays_too() -> None:
    net, x = nn.Linear(4, 4).cuda(), torch.randn(2, 4, device=DEVICE)
    graphed = torch.cuda.make_graphed_callables(net, (x,))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x.mul(2)
    kept, theirs = graph.replay, torch._C._CUDAGraph.replay

    def run() -> None:
        graphed(x).sum().backward()
        kept()

    report = quiet(run)
    assert report.verdict.endswith("Not seen: 3 replays of a CUDA graph.")  # one of them in backward
    assert torch._C._CUDAGraph.replay is theirs


COMPILED = """
torch.manual_seed(0)
w = torch.randn(8, 8, device=D, requires_grad=True)
x = torch.randn(4, 8, device=D)
def f(x):
    return torch.tanh(x @ w).relu().sum()
g = torch.compile(f, backend=BACKEND)
losses = []
for _ in range(3):
    w.grad = None
    loss = g(x)
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    losses.append(loss.detach())
"""


@needs_gpu
@at_both_levels
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.filterwarnings("ignore")
def test_a_compiled_step_is_compiled_as_often_and_leaves_the_same_bits(
    backend: str, level: str, tmp_path: Path
) -> None:
    """Its backward runs, and is compiled, on a thread of the autograd engine."""
    from torch._dynamo.utils import counters

    results, graphs = [], []
    report: Report | None = None
    for at in (None, level):
        torch._dynamo.reset()
        counters.clear()
        names, report = program(COMPILED, at, tmp_path, BACKEND=backend)
        results.append([each.detach().cpu() for each in (names["w"], *names["losses"])])
        graphs.append(counters["stats"]["unique_graphs"])
    torch._dynamo.reset()
    assert report is not None
    assert differ(*results) == []
    assert graphs[0] == graphs[1]
    assert alarms(report) == []
    assert [op.name for op in report.trace.ops if "tanh" in op.name] == []


@needs_gpu
def test_a_loader_that_pins_its_batches_on_a_thread_is_quiet() -> None:
    data = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
    loader = torch.utils.data.DataLoader(data, 16, num_workers=2, pin_memory=True)
    net = nn.Linear(8, 1).to(DEVICE)
    optimizer = sgd(net.parameters())

    def run() -> None:
        for x, y in loader:
            optimizer.zero_grad()
            F.mse_loss(net(x.to(DEVICE, non_blocking=True)), y.to(DEVICE, non_blocking=True)).backward()
            optimizer.step()

    quiet(run)


MOVED = """
torch.cuda.init()
import threading
torch.__future__.set_swap_module_params_on_conversion({swap})
net = torch.nn.Linear(3, 3)
with inplace_magic.watch() as watch:
    with torch.no_grad():
        net.weight.add_(1)
        if {thread}:
            other = threading.Thread(target=lambda: net.to(D))
            other.start()
            other.join()
        else:
            net.to(D)
        net.weight.mul_(2)
        net.weight[0] = 5
        net.bias.copy_(net.weight[0])
print(watch.report.faults, net.weight.device.type)
"""


@needs_gpu
@pytest.mark.parametrize(("swap", "thread"), [(False, False), (True, False), (False, True)])
def test_parameters_that_move_to_the_device_under_a_watch_are_not_read_where_they_were(
    swap: bool, thread: bool
) -> None:
    done = python(MOVED.format(swap=swap, thread=thread))
    assert done[:2] == (0, "[] cuda"), done


LATE = """
from contextlib import nullcontext
try:
    with inplace_magic.watch() if {watch} else nullcontext():
        x = torch.ones(4, device=D)[torch.tensor([9], device=D)]
        y = x + 1
        y.cpu()
except Exception as error:
    print(type(error).__name__, str(error).splitlines()[0][:60])
"""


@needs_gpu
def test_an_error_that_the_device_tells_late_is_the_unwatched_one() -> None:
    assert python(LATE.format(watch=True))[:2] == python(LATE.format(watch=False))[:2]


def test_a_proof_leaves_generator_gradients_and_memory_as_they_were() -> None:
    a, b = torch.randn(4, device=DEVICE, requires_grad=True), torch.randn(4, device=DEVICE)
    generator: Any = torch.cuda if GPU else torch
    with inplace_magic.watch() as watch:
        p = torch.sigmoid(a * b)
        q = p.data
        q[0] = 0
        p.sum().backward()
    assert watch.report is not None
    assert [code for code, _message in alarms(watch.report)] == ["saved-values-changed"]
    assert a.grad is not None
    state, gradient, before = generator.get_rng_state(), a.grad.clone(), in_use()
    assert watch.report.prove().hazards[0].proof is not None
    gc.collect()
    assert torch.equal(state, generator.get_rng_state())
    assert torch.equal(gradient, a.grad)
    assert in_use() == before


@at_both_levels
def test_a_recurrent_net_whose_weights_move_into_one_memory_is_quiet_and_known_there(level: str) -> None:
    torch.manual_seed(0)
    new, shape = MODELS["LSTM"]
    net: Any = new()

    def run() -> None:
        net.to(DEVICE)
        net.lstm.flatten_parameters()
        optimizer, x = torch.optim.Adam(net.parameters(), 0.01), torch.randn(shape, device=DEVICE)
        for _ in range(3):
            optimizer.zero_grad()
            net(x).square().mean().backward()
            optimizer.step()

    report = quiet(run, level)
    weights = [meta for call in report.calls if call.name == "torch.lstm" for meta in call.inputs if meta.requires_grad]
    assert {meta.data_ptr for meta in weights} == {weight.data_ptr() for weight in net.parameters()}
    assert len({meta.storage for meta in weights}) == (1 if GPU else len(list(net.parameters())))
