"""Programs that train: every module of PyTorch's module database, every optimizer of its optimizer database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from no_harm.differential import Program
from no_harm.snapshots import seed_everything, tensors_of


def module_programs(limit: int) -> Iterator[tuple[str, Iterator[Program]]]:
    """A training step of every module: forward, backward, an SGD step, and forward again."""
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        yield info.name, _module_steps(info, limit)


def optimizer_programs(limit: int) -> Iterator[tuple[str, Iterator[Program]]]:
    """Every optimizer, implementation and configuration: two plain steps, and a stale graph that must still raise."""
    from torch.testing._internal.common_optimizers import optim_db

    every: list[Any] = list(optim_db)
    for info in every:
        yield info.optim_cls.__name__, _optimizer_steps(info, limit)


def _module_steps(info: Any, limit: int) -> Iterator[Program]:
    def inputs(training: bool) -> list[Any]:
        seed_everything()
        every = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True, training=training)
        return [entry for entry in every if entry.forward_input is not None]

    for training in (True, False):
        count = len(inputs(training))
        step = max(1, -(-count // limit))
        for index in range(0, count, step):

            def prepare(index: int = index, training: bool = training) -> Any:
                entry = inputs(training)[index]
                made = entry.constructor_input
                seed_everything()
                module = info.module_cls(*made.args, **made.kwargs)
                module.train(training)
                given = entry.forward_input
                state = [*module.parameters(), *module.buffers()]
                return [list(given.args), dict(given.kwargs), state, module]

            yield Program(
                name=f"{info.name}[{index}] {'train' if training else 'eval'}",
                prepare=prepare,
                forward=lambda given: given[3](*given[0], **given[1]),
                backward=_module_backward,
                one_call=False,
            )


def _module_backward(given: Any, outputs: Any) -> None:
    roots = [tensor for _, tensor in tensors_of(outputs) if tensor.requires_grad]
    if roots:
        torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])
    parameters = [p for p in given[3].parameters() if p.grad is not None]
    if parameters:
        torch.optim.SGD(parameters, lr=0.1, momentum=0.9).step()
    given[3](*given[0], **given[1])


def _optimizer_steps(info: Any, limit: int) -> Iterator[Program]:
    flags: list[tuple[str, dict[str, bool]]] = [("default", {})]
    if "foreach" in info.supported_impls:
        flags += [("single-tensor", {"foreach": False}), ("foreach", {"foreach": True})]
    if "fused" in info.supported_impls and "cpu" in info.supports_fused_on:
        flags.append(("fused", {"fused": True}))
    configurations = [entry.kwargs for entry in info.optim_inputs_func(device="cpu")]
    step = max(1, -(-len(configurations) // limit))
    for implementation, flag in flags:
        for index in range(0, len(configurations), step):
            settings = configurations[index]
            if settings.get("capturable") or (flag.get("fused") and settings.get("differentiable")):
                continue
            settings = {**settings, **flag}
            for name, backward in (("trains", _train), ("stale graph", _use_stale_graph)):

                def prepare(settings: dict[str, Any] = settings) -> Any:
                    return _optimizer_inputs(info.optim_cls, settings, info.only_supports_sparse_grads)

                yield Program(
                    name=f"{info.optim_cls.__name__} {implementation}[{index}] {name}",
                    prepare=prepare,
                    forward=_loss,
                    backward=backward,
                    one_call=False,
                )


def _optimizer_inputs(optimizer: Any, settings: dict[str, Any], sparse: bool) -> Any:
    weight = torch.randn(4, 3, requires_grad=True)
    other = torch.randn(3, 4, requires_grad=True)
    parameters = [weight, other]
    if sparse:
        return [parameters, torch.tensor([0, 2]), optimizer(parameters, **settings), sparse]
    return [parameters, torch.randn(5, 4), optimizer(parameters, **settings), sparse]


def _loss(given: Any) -> torch.Tensor:
    (weight, other), data, _, sparse = given
    if sparse:
        rows = torch.nn.functional.embedding(data, weight, sparse=True)
        columns = torch.nn.functional.embedding(data, other, sparse=True)
        return (rows.sum(1).sigmoid() * columns.sum(1)).sum()
    return torch.sigmoid(data @ weight @ other).square().mean()


def _train(given: Any, loss: torch.Tensor) -> None:
    for _ in range(2):
        _step(given)


def _use_stale_graph(given: Any, loss: torch.Tensor) -> None:
    """The loss of before the step goes backward after it: its graph has saved weights that the step overwrote."""
    _step(given)
    if given[3]:
        weight = given[0][0]
        product = weight.detach()  # sparse gradients come from an embedding, which saves no weight: save one by hand
        loss = loss + (weight * product).sum()
        _step(given)
    loss.backward()


def _step(given: Any) -> None:
    optimizer = given[2]

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = _loss(given)
        loss.backward()
        return loss

    optimizer.step(closure)
