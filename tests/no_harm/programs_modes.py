"""Programs that change what a torch call means: torch.func, autocast, inference mode, subclasses, odd tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


def functional_transforms() -> Any:
    """vmap, grad, jvp, jacrev, functionalize."""
    x = torch.randn(3, 4)
    weight = torch.randn(4)

    def inplace(t: torch.Tensor) -> torch.Tensor:
        out = t.clone()
        out.mul_(2)
        out[0] = 1.0
        return out.view(-1)

    return [
        torch.func.vmap(lambda row: torch.sigmoid(row @ weight))(x),
        torch.func.grad(lambda w: (x @ w).pow(2).sum())(weight),
        torch.func.vmap(torch.func.grad(lambda w, row: (row * w).sin().sum()), in_dims=(None, 0))(weight, x),
        list(torch.func.jvp(torch.sin, (weight,), (torch.ones(4),))),
        torch.func.jacrev(torch.tanh)(weight),
        torch.func.functionalize(inplace)(weight),
        torch.func.vmap(lambda row: row + torch.randn(4), randomness="different")(x),
    ]


def autocast() -> Any:
    """Lower precision, and the cache of casted weights, which lives as long as the block."""
    layer = torch.nn.Linear(4, 2)
    x = torch.randn(3, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        first = layer(x)
        second = layer(x)
        total = (first + second).float().sum()
    total.backward()
    return [first, second, total, [p.grad for p in layer.parameters()]]


def inference_mode() -> Any:
    """Inference tensors count no versions and refuse to be saved."""
    weight = torch.randn(3, requires_grad=True)
    with torch.inference_mode():
        x = torch.randn(3)
        x.add_(1)
        view = x[1:]
        view.mul_(2)
    try:
        (weight * x).sum().backward()
    except RuntimeError as error:
        return [x, view, str(error)]
    return [x, view]


def grad_modes() -> Any:
    """Switching gradients on and off, as contexts, as decorators and as calls."""
    seen = []
    x = torch.randn(2, requires_grad=True)
    with torch.no_grad():
        seen.append((x * 2).requires_grad)
        with torch.enable_grad():
            seen.append((x * 2).requires_grad)
    torch.set_grad_enabled(False)
    seen.append(torch.is_grad_enabled())
    torch.set_grad_enabled(True)
    seen.append((torch.no_grad()(lambda: x * 2)()).requires_grad)
    return seen


class Logging(torch.Tensor):
    """Logs what ``__torch_function__`` sees."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        LOG.append(f"{getattr(func, '__name__', func)} {sorted(t.__name__ for t in types)}")
        return super().__torch_function__(func, types, args, kwargs or {})


LOG: list[str] = []


def function_subclass() -> Any:
    """The subclass sees the user's calls, and not one of the watch's own."""
    LOG.clear()
    x = torch.randn(3).as_subclass(Logging)
    x.requires_grad_()
    y = torch.sigmoid(x)
    y.mul_(2).add_(x)
    _ = y.shape, y.view(-1)[1:], y.requires_grad
    try:
        y.sum().backward()
    except RuntimeError as error:
        LOG.append(str(error))
    return [list(LOG), x, y, x.grad]


class Wrapper(torch.Tensor):
    """Logs what ``__torch_dispatch__`` sees."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Wrapper:
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, requires_grad=inner.requires_grad
        )
        made.held = inner
        return made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch declares it as a function, and calls it as a classmethod
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        LOG.append(str(func))
        unwrap = lambda t: t.held if isinstance(t, Wrapper) else t  # noqa: E731
        out = func(*torch.utils._pytree.tree_map(unwrap, args), **torch.utils._pytree.tree_map(unwrap, kwargs or {}))
        if func._schema.name[-1] == "_":
            return args[0]
        return Wrapper(out) if isinstance(out, torch.Tensor) else out


def dispatch_subclass() -> Any:
    """The subclass sees the same operators in the same order."""
    LOG.clear()
    x = Wrapper(torch.randn(3))
    y: Any = (x * 2).sin()
    y.add_(1)
    z: Any = y.view(3, 1)
    return [list(LOG), y.held, z.held]


def compute_on_odd_tensors() -> Any:
    """Sparse, complex, conjugate and negative views, nested, meta, quantised tensors."""
    sparse = torch.eye(3).to_sparse().requires_grad_()
    product = torch.sparse.mm(sparse, torch.ones(3, 2))
    product.sum().backward()
    turned = torch.randn(3, dtype=torch.complex64, requires_grad=True)
    conjugate = turned.conj()
    conjugate.imag.neg()
    (conjugate * 2).abs().sum().backward()
    values = torch.randn(4, dtype=torch.complex64)
    values.conj().imag.mul_(2)
    nested = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(1, 3)])
    nested.mul_(2)
    meta = torch.empty(2, 3, device="meta")
    meta.add_(1)
    quantised = torch.quantize_per_tensor(torch.randn(3), 0.1, 0, torch.qint8)
    return [sparse.grad, product, turned.grad, conjugate, values, nested.unbind(), meta.t(), quantised.dequantize()]


def fake_tensors() -> Any:
    """FakeTensorMode: shapes without memory."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        x = torch.randn(3, 4, requires_grad=True)
        y = torch.tanh(x @ mode.from_tensor(torch.randn(4, 2)))
        z = y * 2
        z.add_(1)
        z.sum().backward()
        return [tuple(y.shape), y._version, list(x.grad.shape) if x.grad is not None else None, type(y).__name__]


def compiled() -> Any:
    """torch.compile by the backends that need no compiler: the numbers and gradients of the function it was given."""
    import torch._dynamo

    weight = torch.randn(4, 4, requires_grad=True)

    def step(x: torch.Tensor) -> torch.Tensor:
        h = torch.sigmoid(x @ weight)
        h = h + 1
        h.mul_(2)
        return h.sum()

    results: list[Any] = []
    for backend in ("eager", "aot_eager"):
        torch._dynamo.reset()
        weight.grad = None
        loss = torch.compile(step, backend=backend)(torch.randn(3, 4))
        loss.backward()
        results.append([loss.detach(), weight.grad])
    torch._dynamo.reset()
    return results


class _Function(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        LOG.append(f"function {getattr(func, '__name__', func)}")
        return func(*args, **(kwargs or {}))


class _Dispatch(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        LOG.append(f"dispatch {func}")
        return func(*args, **(kwargs or {}))


def modes_of_the_user() -> Any:
    """The user's own modes see what they saw before, in the same order, and leave in the same order."""
    LOG.clear()
    x = torch.randn(3, requires_grad=True)
    with _Function(), _Dispatch():
        y = torch.sigmoid(x) * 2
        y.add_(1)
        y.sum().backward()
    torch.ones(1)
    return [list(LOG), y, x.grad]


def default_device() -> Any:
    """A default device is a function mode of torch's own, put on and taken off in the middle."""
    torch.set_default_device("meta")
    try:
        made = torch.empty(3)
    finally:
        torch.set_default_device(None)
    with torch.device("meta"):
        inside = torch.ones(2)
    return [made.device.type, inside.device.type, torch.ones(1).device.type]


PROGRAMS = (
    functional_transforms,
    autocast,
    inference_mode,
    grad_modes,
    function_subclass,
    dispatch_subclass,
    compute_on_odd_tensors,
    fake_tensors,
    modes_of_the_user,
    default_device,
    compiled,
)
