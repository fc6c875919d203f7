"""Programs of any number of calls, for how time and size grow with it: each stretches something else.

A program is source text with the number in it, run like the file of a user's script; so its lines have text, its
variables have names, and the rules have something to read.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import inplace_magic
from inplace_magic.report import Report


def training_loop(calls: int) -> str:
    """Steps of a small network."""
    return f"""\
import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(4, 8), torch.randn(4, 1)
for step in range({max(1, calls // 10)}):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
"""


def one_tensor_written(calls: int) -> str:
    """Writes to a single tensor."""
    return f"""\
import torch
total = torch.zeros(4)
for i in range({calls}):
    total.add_(1)
"""


def views_of_one_base(calls: int) -> str:
    """Views of a single base, all of them kept, and one write to it at the end."""
    return f"""\
import torch
base = torch.zeros(64, 4)
rows = []
for i in range({calls}):
    rows.append(base[i % 64])
base.mul_(2)
"""


def one_graph(calls: int) -> str:
    """A chain of operations in a single autograd graph, all alive until its backward."""
    return f"""\
import torch
x = torch.ones(4, requires_grad=True)
y = x
for i in range({calls // 2}):
    y = torch.sin(y)
    y = y * x
y.sum().backward()
"""


def overwritten_activations(calls: int) -> str:
    """The same mistake in every turn of a loop: a saved result is overwritten, and no backward has told yet."""
    return f"""\
import torch
x = torch.ones(4, requires_grad=True)
kept = []
for i in range({calls // 3}):
    p = torch.sigmoid(x)
    p[0] = 1.0
    kept.append(p.sum())
"""


def helper_writes(calls: int) -> str:
    """A helper that writes its argument, whose other names are read afterwards."""
    return f"""\
import torch

def rectified(t):
    h = t
    h.clamp_(min=0)
    return h

x = torch.randn(4)
old = x
for i in range({calls // 3}):
    data = torch.randn(4)
    again = data
    out = rectified(data)
    mean = again.mean()
"""


def distinct_lines(calls: int) -> str:
    """A script without a loop: every call has a line of its own."""
    lines = ["import torch", "x = torch.zeros(4)"]
    for i in range(calls // 2):
        lines += [f"y{i} = x + {i}", f"y{i} *= 2"]
    return "\n".join(lines) + "\n"


SHAPES: dict[str, Callable[[int], str]] = {
    "training loop": training_loop,
    "one tensor written": one_tensor_written,
    "views of one base": views_of_one_base,
    "one graph": one_graph,
    "overwritten activations": overwritten_activations,
    "helper writes": helper_writes,
    "distinct lines": distinct_lines,
}


def gradients_taken(calls: int) -> str:
    """Many small graphs on one leaf, and of each only the gradient of that leaf is asked for, as ``gradcheck`` does."""
    return f"""\
import torch
x = torch.ones(4, requires_grad=True)
for i in range({calls // 3}):
    y = (x * 2).sum()
    torch.autograd.grad(y, x)
"""


def stacked(calls: int) -> str:
    """One call that is given as many tensors as there are other calls."""
    return f"""\
import torch
rows = [torch.zeros(4) for _ in range({calls // 2})]
for row in rows:
    row.add_(1)
whole = torch.stack(rows)
"""


def added_up(calls: int) -> str:
    """A leaf that is trained by hand, and a sum that goes on."""
    return f"""\
import torch
w = torch.ones(4, requires_grad=True)
total = torch.zeros(4)
for i in range({calls // 6}):
    loss = (w * i).sum()
    loss.backward()
    total += w.grad
    w.grad.zero_()
    with torch.no_grad():
        w -= 0.1
"""


def detached_each_pass(calls: int) -> str:
    """A tensor that is written and detached in every pass."""
    return f"""\
import torch
state, seen = torch.zeros(4), []
for i in range({calls // 3}):
    state.add_(1)
    now = state.detach()
    seen.append(now.sum())
"""


def modules_given_parameters(calls: int) -> str:
    """Copies of a module whose parameters are one memory, loads of tied weights, buckets of gradients and computed
    parameters, in every pass."""
    return f"""\
import copy
import torch
from torch import nn
class Bank(nn.Module):
    def __init__(self):
        super().__init__()
        self.bank = nn.Parameter(torch.ones(4))
        self.low, self.high = (nn.Parameter(part) for part in self.bank.detach().split(2))
bank, first, second = Bank(), nn.Linear(2, 2), nn.Linear(2, 2)
optimizer = torch.optim.SGD([bank.low, bank.high])
for i in range({calls // 30}):
    twin = copy.deepcopy(bank)
    with torch.no_grad():
        for p in twin.parameters():
            p.add_(1)
    second.weight = first.weight
    first.load_state_dict({{"weight": torch.ones(2, 2), "bias": torch.ones(2)}}, assign=True)
    second.weight = first.weight
    flat = torch.zeros(4)
    bank.low.grad, bank.high.grad = flat[:2], flat[2:]
    optimizer.zero_grad()
    first.weight = nn.Parameter(twin.low * torch.ones(2, 2))
    optimizer.step()
    (second(bank.low) * first(bank.high)).sum().backward()
    nn.utils.clip_grad_norm_(bank.parameters(), 1.0)
"""


def weights_kept(calls: int) -> str:
    """A weight that every pass keeps under a condition, and that is read as often when all is over."""
    return f"""\
import torch
w, kept = torch.ones(4, requires_grad=True), []
optimizer = torch.optim.SGD([w], lr=0.1)
for i in range({calls // 9}):
    if i >= 0:
        kept.append(w.detach())
    optimizer.zero_grad()
    (w * 2).sum().backward()
    optimizer.step()
total = sum(each.sum() for each in kept)
"""


ONCE_SQUARE: dict[str, Callable[[int], str]] = {
    "gradients taken": gradients_taken,
    "stacked": stacked,
    "added up": added_up,
    "detached each pass": detached_each_pass,
    "modules given parameters": modules_given_parameters,
    "weights kept": weights_kept,
}
"""Programs of which some rule took the square of the calls, or could."""


def record(source: str, *, level: str = "calls", **options: Any) -> Callable[[], Report]:
    """Runs a program under a watch that records each call; gives the end of the watch, which makes the report."""
    filename = f"<shape {abs(hash(source))}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    watch = inplace_magic.watch(level=level, full=True, **options)
    code = compile(source, filename, "exec")
    watch.start(cell=1, filename=filename, source=source, cell_globals=namespace)
    try:
        exec(code, namespace)
    finally:
        watch.leave()
    return lambda: watch.stop(namespace=namespace, cells={filename: 1})
