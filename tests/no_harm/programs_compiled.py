"""Programs with ``torch.compile`` and with higher-order operators, and what dynamo has counted in the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from no_harm.snapshots import without_addresses


def _counted() -> dict[str, Any]:
    """How many frames dynamo met, how many graphs it made, what it recompiled and where it broke."""
    from torch._dynamo.utils import counters

    kinds = ("frames", "stats", "graph_break", "unimplemented", "aot_autograd", "recompiles", "recompile_limit")
    return {kind: {without_addresses(key): count for key, count in counters[kind].items()} for kind in kinds}


def _fresh() -> None:
    import torch._dynamo
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()


def _step(x: torch.Tensor) -> torch.Tensor:
    h = torch.sigmoid(x)
    h = h + 1
    h.mul_(2)
    return h.view(x.shape[0], -1).sum(1)


def compiled_without_a_compiler() -> Any:
    """Whole graphs, dynamic and static sizes, forward and backward."""
    results = []
    for backend, settings in (
        ("eager", {}),
        ("eager", {"fullgraph": True}),
        ("eager", {"dynamic": False}),
        ("aot_eager", {}),
        ("aot_eager", {"fullgraph": True, "dynamic": True}),
    ):
        _fresh()
        weight = torch.ones(4, 4, requires_grad=True)
        compiled = torch.compile(lambda x, w: _step(x @ w), backend=backend, **settings)
        out = [compiled(torch.ones(rows, 4), weight) for rows in (2, 3, 2)]
        torch.stack([o.sum() for o in out]).sum().backward()
        results.append([out, weight.grad, _counted()])
    return results


def compiled_network_is_trained() -> Any:
    """A module, its running statistics and its dropout, backward, a compiled optimizer step; three times."""
    _fresh()
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    compiled = torch.compile(net, backend="aot_eager", fullgraph=True)
    step = torch.compile(optimizer.step, backend="eager")
    losses = []
    for _ in range(3):
        loss = compiled(torch.randn(3, 4)).pow(2).sum()
        loss.backward()
        step()
        optimizer.zero_grad()
        losses.append(loss)
    return [losses, list(net.state_dict().values()), _counted()]


def graph_breaks_and_errors() -> Any:
    """A print in the middle, a branch on a value, an error inside, a whole graph that cannot be had."""
    _fresh()
    told: list[Any] = []

    def broken(x: torch.Tensor) -> torch.Tensor:
        x = x * 2
        torch._dynamo.graph_break()
        if x.sum() > 0:
            told.append("more")
        return x.add_(1)

    @torch.compiler.disable
    def kept_out(x: torch.Tensor) -> torch.Tensor:
        return x.add_(3)

    def raises(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        raise ValueError("mine")

    x = torch.ones(3)
    told.append(torch.compile(broken, backend="eager")(x))
    told.append(torch.compile(lambda x: kept_out(x * 2) + 1, backend="eager")(x))
    told.append(kept_out(torch.ones(2)))
    for function, settings in ((raises, {}), (broken, {"fullgraph": True}), (lambda x: 3, {"fullgraph": True})):
        try:
            told.append(torch.compile(function, backend="eager", **settings)(x))
        except Exception as error:  # what it is, is the result
            told += [type(error).__name__, str(error).split("\n\n")[0], _entries(error)]
    return [told, x, x * 2, _counted()]


def _entries(error: BaseException) -> list[str]:
    found = []
    step = error.__traceback__
    while step is not None:
        found.append(f"{step.tb_frame.f_code.co_name}:{step.tb_lineno}")
        step = step.tb_next
    return found[1:]


def stances() -> Any:
    """Recompiling forbidden, put off, or given up; eager by force."""
    results: list[Any] = []
    for stance in ("fail_on_recompile", "eager_on_recompile", "eager_then_compile", "force_eager"):
        _fresh()
        compiled = torch.compile(_step, backend="eager", dynamic=False)
        compiled(torch.ones(2, 4))
        for rows in (2, 3):
            with contextlib.suppress(ValueError), torch.compiler.set_stance(stance):
                try:
                    results.append(compiled(torch.ones(rows, 4)))
                except RuntimeError as error:
                    results.append(str(error).splitlines()[0])
        results.append(_counted())
    return results


def compiled_under_modes_of_the_user() -> Any:
    """A default device, which is a function mode, and a dispatch mode that counts."""
    from torch.utils.flop_counter import FlopCounterMode

    _fresh()
    compiled = torch.compile(lambda x: x @ x + torch.ones(2), backend="eager")
    results = [compiled(torch.ones(2, 2))]
    with torch.device("meta"):
        results.append(torch.compile(lambda: torch.ones(2) + 1, backend="eager")().device)
    with FlopCounterMode(display=False) as counter:
        results.append(compiled(torch.ones(2, 2)))
    return [results, counter.get_total_flops(), _counted()]


def higher_order_operators() -> Any:
    """``cond`` with gradients, ``while_loop``, attention with a mask: they compile themselves."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    _fresh()
    x = torch.ones(3, requires_grad=True)
    y = torch.cond(x.sum() > 0, lambda a: a.sin() * 2, lambda a: a.cos(), (x,))
    y.sum().backward()
    while_loop = torch._higher_order_ops.while_loop
    i, total = while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + i), (torch.tensor(0), torch.tensor(0)))
    q = torch.randn(1, 1, 128, 8)
    mask = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 128, 128, device="cpu")
    return [y, x.grad, i, total, flex_attention(q, q, q, block_mask=mask), _counted()]


def compiled_by_inductor() -> Any:
    """Machine code with random numbers of its own: the mask of a dropout, and gradients through it."""
    _fresh()
    weight = torch.ones(8, requires_grad=True)
    compiled = torch.compile(lambda x: torch.nn.functional.dropout(torch.relu(x * weight), 0.5))
    first = compiled(torch.ones(8))
    first.sum().backward()
    return [first, compiled(torch.ones(8)), weight.grad, _counted()]


PROGRAMS: tuple[Callable[[], Any], ...] = (
    compiled_without_a_compiler,
    compiled_network_is_trained,
    graph_breaks_and_errors,
    stances,
    compiled_under_modes_of_the_user,
    higher_order_operators,
    compiled_by_inductor,
)
