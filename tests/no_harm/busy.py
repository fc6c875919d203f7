"""The program that is run while each function of the package fails in turn. It has a module of its own, because
names are looked up in all that the module of a watched block holds: among the tests, the table of those functions took
a third of the time. And pytest writes a function with an assertion anew, of which the text that ran is looked for."""

from __future__ import annotations

from typing import Any

import torch
from no_harm.snapshots import seed_everything

_STATE = [torch.zeros(2)]
KEPT = {"one": _STATE, "other": _STATE}
"""Within reach of the block's names: a dictionary, and a list that stands in it twice."""


def program() -> Any:
    """Views, hooks, in-place writes, NumPy, BatchNorm, an optimizer, and an error in the end."""
    seen: list[float] = []
    weight = torch.randn(4, 4, requires_grad=True)
    weight.register_hook(lambda grad: seen.append((grad * 2).sum().item()))
    norm = torch.nn.BatchNorm1d(4)
    buffer = torch.zeros(4)
    alias = buffer.numpy()
    buffer[1:3] = 5
    alias[0] = 7
    hidden = torch.sigmoid(torch.randn(3, 4) @ weight)
    view = hidden.view(-1)[2:]
    out = torch.nn.functional.relu(norm(hidden), inplace=True)
    (out.sum() + view.sum()).backward()
    torch.optim.SGD([weight], lr=0.1).step()
    weight.data.mul_(2)
    buffer.add_(1).unsqueeze_(0)
    again = torch.sigmoid(weight)
    again.mul_(2)
    text = ""
    try:
        again.sum().backward()
    except RuntimeError as error:
        text = str(error)
    return [weight, weight.grad, norm.running_mean, norm.num_batches_tracked, out.detach(), buffer, seen, text]


def watched(watch: Any) -> Any:
    """What the program leaves under a watch."""
    seed_everything()
    with watch:
        return program()
