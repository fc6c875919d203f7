"""Programs around autograd: hooks, checkpointing, custom functions, higher derivatives, the errors of in-place writes.

Each returns all that it has seen, logs included; a watched run must return the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint


def tensor_hooks() -> Any:
    """Tensor hooks that look, that replace, and that run after accumulation."""
    log: list[Any] = []
    x = torch.randn(4, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: log.append(("y", grad.tolist())))
    handle = y.register_hook(lambda grad: grad * 3)
    x.register_post_accumulate_grad_hook(lambda leaf: log.append(("x", leaf.grad.tolist(), leaf.grad._version)))
    y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    return [log, x.grad]


def module_hooks() -> Any:
    """Forward, pre-forward and full backward hooks, and the order in which they run."""
    log: list[Any] = []
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Sigmoid(), torch.nn.Linear(3, 1))
    for i, module in enumerate(model):
        module.register_forward_pre_hook(lambda _, given, i=i: log.append(("before", i, given[0]._version)))
        module.register_forward_hook(lambda _, given, out, i=i: log.append(("after", i, given[0]._version, out.shape)))
        module.register_full_backward_hook(_logging(log, "backward", i))
        module.register_full_backward_pre_hook(_logging(log, "backward pre", i))
    model(torch.randn(2, 3)).sum().backward()
    return [log, [p.grad for p in model.parameters()]]


def _logging(log: list[Any], when: str, place: int) -> Callable[..., None]:
    return lambda _, *grads: log.append((when, place, [grad.sum().item() for grad in grads[-1]]))


def node_hooks() -> Any:
    """Hooks on autograd nodes, and the user's own entries in a node's metadata."""
    log: list[Any] = []
    x = torch.randn(3, requires_grad=True)
    y = x.sin().exp()
    node: Any = y.grad_fn
    node.metadata["mine"] = 1
    node.register_hook(lambda gi, go: log.append(("exp", go[0].tolist())))
    node.next_functions[0][0].register_prehook(lambda go: log.append(("sin", go[0].tolist())))
    y.sum().backward()
    return [log, x.grad, node.metadata["mine"]]


def checkpoint_without_reentry() -> Any:
    """The segment runs once in forward and once in backward, no more."""
    return _checkpointed(use_reentrant=False)


def checkpoint_with_reentry() -> Any:
    """The same by a nested backward."""
    return _checkpointed(use_reentrant=True)


def _checkpointed(*, use_reentrant: bool) -> Any:
    runs: list[bool] = []
    weight = torch.randn(4, 4, requires_grad=True)

    def segment(x: torch.Tensor) -> torch.Tensor:
        runs.append(torch.is_grad_enabled())
        return torch.nn.functional.dropout(torch.sigmoid(x @ weight), 0.5)

    x = torch.randn(2, 4, requires_grad=True)
    out = checkpoint(segment, x, use_reentrant=use_reentrant)
    out = checkpoint(segment, out, use_reentrant=use_reentrant)
    out.sum().backward()
    return [runs, out, x.grad, weight.grad]


def checkpoint_of_what_is_written_later() -> Any:
    """The recomputation reads a tensor that was written since: PyTorch says so, or does not, as ever."""
    weight = torch.randn(3, 3, requires_grad=True)
    x = torch.randn(3, 3)
    out = checkpoint(lambda given: torch.tanh(given @ weight), x, use_reentrant=False)
    x.mul_(2)
    out.sum().backward()
    return [out, weight.grad]


def save_on_cpu() -> Any:
    """PyTorch's own saved-tensor hooks."""
    x = torch.randn(3, requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = x.exp() * x
    y.sum().backward()
    return [y, x.grad]


def packed_tensors() -> Any:
    """The user's saved-tensor hooks see each tensor once on the way in and once on the way out."""
    log: list[Any] = []

    def pack(tensor: torch.Tensor) -> Any:
        log.append(("pack", tuple(tensor.shape), tensor._version))
        return tensor.tolist()

    def unpack(packed: Any) -> torch.Tensor:
        log.append(("unpack", len(packed)))
        return torch.tensor(packed)

    x = torch.randn(3, requires_grad=True)
    with saved_tensors_hooks(pack, unpack):
        y = (x.exp() * x).sigmoid()
    y.sum().backward()
    return [log, y, x.grad]


class _Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, log: list[Any]) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.log = log
        log.append(("forward", torch.is_grad_enabled()))
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        ctx.log.append(("backward", x._version, torch.is_grad_enabled()))
        return grad * 2 * torch.ones_like(x), None


class _AddOneInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad


class _Cube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x**3, 3 * x**2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
        (slope,) = ctx.saved_tensors
        out: torch.Tensor = grad * slope
        return out


def custom_functions() -> Any:
    """``save_for_backward``, ``mark_dirty``, ``setup_context``; under vmap too."""
    log: list[Any] = []
    x = torch.randn(3, requires_grad=True)
    y = _Twice.apply(x, log)
    z = _AddOneInPlace.apply(y)
    cubed, slope = _Cube.apply(z)
    batched = torch.func.vmap(lambda t: _Cube.apply(t)[0])(torch.randn(2, 3))
    cubed.sum().backward()
    return [log, z is y, z._version, cubed, slope, batched, x.grad]


def double_backward() -> Any:
    """Gradients of gradients, with and without ``create_graph``."""
    x = torch.randn(3, requires_grad=True)
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    second.sum().backward()
    hessian = torch.autograd.functional.hessian(lambda t: (t**4).sum(), torch.ones(2))
    return [first, second, x.grad, hessian]


def refused_writes() -> Any:
    """The texts of the errors that in-place writes meet, and what the tensors are like after them."""
    return [
        _attempt(program) for program in (_saved_output, _leaf, _expanded, _view_of_many, _freed_graph, _no_grad_view)
    ]


def _attempt(program: Callable[[], Any]) -> Any:
    try:
        return program()
    except RuntimeError as error:
        return [type(error).__name__, str(error), repr(error.__cause__)]


def _saved_output() -> Any:
    probs = torch.sigmoid(torch.randn(4, requires_grad=True))
    probs[1] = 0.0
    probs.sum().backward()


def _leaf() -> Any:
    torch.zeros(2, requires_grad=True).add_(1)


def _expanded() -> Any:
    torch.zeros(1).expand(3).add_(1)


def _view_of_many() -> Any:
    first, _ = (torch.randn(2, 2, requires_grad=True) * 1).unbind()
    first.mul_(2)


def _freed_graph() -> Any:
    y = torch.randn(2, requires_grad=True).exp().sum()
    y.backward()
    y.backward()


def _no_grad_view() -> Any:
    base = torch.randn(3, requires_grad=True) * 1
    with torch.no_grad():
        view = base[:1]
    view.mul_(2)


def anomaly_mode() -> Any:
    """Anomaly detection keeps its own notes in the nodes' metadata; the error is the same. Its warning is not compared:
    it prints the whole stack of Python, with the frames of this comparison."""
    x = torch.zeros(2, requires_grad=True)
    with warnings.catch_warnings(), torch.autograd.detect_anomaly(check_nan=True):
        warnings.simplefilter("ignore")
        try:
            torch.sqrt(x * 0).mul(0).sum().backward()
        except RuntimeError as error:
            return [type(error).__name__, str(error)]
    return x.grad


PROGRAMS = (
    tensor_hooks,
    module_hooks,
    node_hooks,
    checkpoint_without_reentry,
    checkpoint_with_reentry,
    checkpoint_of_what_is_written_later,
    save_on_cpu,
    packed_tensors,
    custom_functions,
    double_backward,
    refused_writes,
    anomaly_mode,
)
