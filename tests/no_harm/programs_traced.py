"""Programs that hand a network to a tracer of PyTorch's: TorchScript, ONNX, export, FX, functionalization."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import torch

_MANGLED = re.compile(r"(___torch_mangle_)?\d+")


def _flat(x: torch.Tensor) -> torch.Tensor:
    return x.view(x.shape[0], -1) * 2


class Small(torch.nn.Module):
    """Writes in place, keeps statistics, asks for a size."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)
        self.lin = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm(x)
        h = torch.nn.functional.relu(h, inplace=True)
        return self.lin(h).view(x.shape[0], -1) + 1


def _told(traced: Any) -> list[str]:
    """What a traced function is, without the numbers that the process counts on."""
    return [re.sub(r"___torch_mangle_\d+\.?", "", str(part)) for part in (traced.graph, traced.code)]


def _places(traced: Any) -> list[str]:
    """Where each operator says that it comes from: the stack that TorchScript keeps of it, up to the program."""
    return [str(node.sourceRange()).partition(": jit_traced_")[0] for node in traced.graph.nodes()]


def jit_traced_functions() -> Any:
    """Graphs, code and sources of operators; names of values are those of the function's own variables."""
    traced = torch.jit.trace(_flat, torch.rand(3, 4))
    hidden = torch.jit.trace(lambda x: torch.relu(x * 2 + 1).add_(1), (torch.rand(2),))
    return [_told(traced), _told(hidden), _places(traced), traced(torch.ones(2, 6)), hidden(-torch.ones(2))]


def jit_traced_networks() -> Any:
    """Modules, a method, an LSTM, convolution and flatten, and what tracing does to running statistics."""
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    image = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Flatten(), torch.nn.Linear(8, 2))
    small, recurrent = Small(), torch.nn.LSTM(3, 2)
    traced = [
        torch.jit.trace(net, torch.rand(2, 4)),
        torch.jit.trace(net.forward, torch.rand(2, 4)),
        torch.jit.trace(image, torch.rand(1, 1, 4, 4)),
        torch.jit.trace(small, torch.rand(5, 4), check_trace=False),
        torch.jit.trace(recurrent, torch.rand(2, 1, 3)),
        torch.jit.trace_module(small.eval(), {"forward": torch.rand(5, 4)}),
    ]
    again = traced[0](torch.ones(1, 4))
    again.sum().backward()
    return [list(map(_told, traced)), again, net[0].weight.grad, small.norm.running_mean, _places(traced[3])]


def jit_traces_that_warn_or_fail() -> Any:
    """A branch on a value warns at the user's line; two traces that differ are refused."""
    said = []
    torch.jit.trace(lambda x: x * 2 if bool(x.sum() > 0) else x, torch.ones(2))
    for function in (lambda x: x + float(torch.rand(1)), lambda x: x["a"], 3):
        try:
            said.append(str(torch.jit.trace(function, torch.ones(2), check_trace=True).graph))
        except Exception as error:  # what it is, is the result
            entries = []
            step = error.__traceback__
            while step is not None:
                entries.append(f"{step.tb_frame.f_code.co_filename}:{step.tb_lineno} {step.tb_frame.f_code.co_name}")
                step = step.tb_next
            said += [type(error).__name__, _MANGLED.sub("", str(error)), entries[1:]]
    return said


@torch.jit.script
def _scripted(x: torch.Tensor, n: int) -> torch.Tensor:
    for _ in range(n):
        x.mul_(2)
    return x + 1


def scripted_functions() -> Any:
    """A function and a module of TorchScript: the same code, results, versions, gradients and error."""

    class Local(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x).add_(1)

    module = torch.jit.script(Local())
    x = torch.ones(3)
    given = [_scripted(x, 2), _scripted(x, n=1), x]
    leaf = torch.ones(3, requires_grad=True)
    module(leaf * 2).sum().backward()
    try:
        _scripted(leaf, 1)
    except RuntimeError as error:
        given.append(str(error))
    return [given, leaf.grad, _told(_scripted), _told(module)]


def onnx_exported() -> Any:
    """The exporter that traces: the same bytes."""
    out = io.BytesIO()
    torch.onnx.export(Small().eval(), (torch.rand(2, 4),), out, dynamo=False)
    return [out.getvalue()]


def _small_view(x: torch.Tensor) -> torch.Tensor:
    a, b = x.split(2)
    b.add_(1)
    return a * b


def functionalized() -> Any:
    """Writes to small views at an offset; both kinds of removal; an error inside; below grad and vmap."""
    x = torch.ones(4)
    y = torch.func.functionalize(_small_view)(x)
    copies = torch.func.functionalize(_small_view, remove="mutations_and_views")(torch.arange(4.0))
    leaf = torch.rand(4, requires_grad=True)
    inside = torch.func.grad(lambda t: torch.func.functionalize(_small_view)(t * 1).sum())(leaf)
    try:
        torch.func.functionalize(lambda t: t.add_(1).reshape(7))(torch.ones(3))
    except RuntimeError as error:
        return [x, y, copies, inside, str(error)]
    return None


def functional_tensors() -> Any:
    """Functional wrappers made by hand, which have no memory but answer with an address."""
    wrapped = torch._to_functional_tensor(torch.ones(4))
    torch._enable_functionalization(reapply_views=True)
    try:
        half = wrapped[2:]
        half.add_(1)
        half.mul_(2)
        torch._sync(wrapped)
    finally:
        torch._disable_functionalization()
    return [torch._from_functional_tensor(wrapped)]


def fx_graphs() -> Any:
    """FX by proxies, and make_fx by operators, on real, fake and symbolic tensors."""
    from torch.fx.experimental.proxy_tensor import make_fx

    def f(x: torch.Tensor) -> torch.Tensor:
        y = x.view(x.shape[0], -1).sin()
        y.add_(1)
        return y.sum() + x.shape[0]

    modes = ("real", "fake", "symbolic")
    traced = [make_fx(f, tracing_mode=mode)(torch.rand(3, 4)) for mode in modes]
    again = make_fx(torch.func.functionalize(f))(torch.rand(3, 4))
    symbolic = torch.fx.symbolic_trace(Small())
    try:
        torch.fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x)
    except torch.fx.proxy.TraceError as error:
        refused = str(error)
    codes = [module.code for module in (*traced, again, symbolic)]
    return [codes, [str(module.graph) for module in traced], traced[1](torch.ones(3, 4)), refused]


def exported() -> Any:
    """Static and dynamic, strict and not, decomposed; a guard that fails; the places of the nodes."""
    n = torch.export.Dim("n", min=2)
    seen: list[Any] = []
    for strict in (False, True):
        for shapes in (None, {"x": {0: n}}):
            program = torch.export.export(Small().eval(), (torch.rand(3, 4),), dynamic_shapes=shapes, strict=strict)
            seen += [str(program.graph), str(program.graph_signature), str(program.range_constraints)]
            seen += [node.meta.get("stack_trace") for node in program.graph.nodes]
            seen.append(program.module()(torch.ones(3, 4)))
    seen.append(str(program.run_decompositions({}).graph))
    try:
        torch.export.export(Small(), (torch.rand(3, 5),))
    except Exception as error:  # what it is, is the result
        seen += [type(error).__name__, str(error)]
    return seen


def symbolic_tensors() -> Any:
    """Fake tensors of symbolic sizes, made by hand: nothing may be compared, or the environment would note it."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    context = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC, DimDynamic.STATIC])
    x = mode.from_tensor(torch.rand(3, 4), symbolic_context=context)
    with mode:
        y = (x * 2).view(-1)
        y.add_(1)
        z = torch.relu_(y + 1)
    return [str(z.shape), y._version, [str(guard.expr) for guard in env.guards], str(env.var_to_range)]


def batched_and_meta_tensors() -> Any:
    """Tensors below vmap and without memory, written in place."""

    def write(row: torch.Tensor) -> torch.Tensor:
        out = row * 1
        out[1:].add_(1)
        out[1:].mul_(2)
        return out

    meta = torch.empty(4, device="meta")
    meta[2:].add_(1)
    return [torch.func.vmap(write)(torch.ones(2, 3)), meta, meta._version]


PROGRAMS: tuple[Callable[[], Any], ...] = (
    jit_traced_functions,
    jit_traced_networks,
    jit_traces_that_warn_or_fail,
    scripted_functions,
    onnx_exported,
    functionalized,
    functional_tensors,
    fx_graphs,
    exported,
    symbolic_tensors,
    batched_and_meta_tensors,
)
