"""The diff of a certain answer is the same program without the error, or there is none.

"The same" is what the program as it stands computes when autograd saves copies: its values and its gradients.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import pytest
import torch
from postmortem.failing import Failed, program
from postmortem.test_labelled import CASES
from programs import score

from inplace_magic.source.hunks import changed, hunks

OFFERED = {
    "augmented": ("y = torch.tanh(w)\ny += w * 2\ny.sum().backward()", "+y = y + w * 2"),
    "parentheses": ("y = torch.tanh(w)\ny *= w + 2\ny.sum().backward()", "+y = y * (w + 2)"),
    "a comment stays": ("y = torch.tanh(w)\ny += 1  # shift\ny.sum().backward()", "+y = y + 1  # shift"),
    "method": ("y = torch.tanh(w)\ny.mul_(3)\ny.sum().backward()", "+y = y.mul(3)"),
    "method assigned back": ("y = torch.tanh(w)\ny = y.mul_(3)\ny.sum().backward()", "+y = y.mul(3)"),
    "chain": ("y = torch.tanh(w)\ny.mul_(3).add_(1)\ny.sum().backward()", "+y = y.mul(3).add(1)"),
    "function": ("y = torch.tanh(w)\ntorch.relu_(y)\ny.sum().backward()", "+y = torch.relu(y)"),
    "flag": ("y = torch.tanh(w)\nF.elu(y, inplace=True)\ny.sum().backward()", "+y = F.elu(y)"),
    "flag assigned back": ("y = torch.tanh(w)\ny = F.elu(y, inplace=True)\ny.sum().backward()", "+y = F.elu(y)"),
    "index": ("y = torch.tanh(w)\ny[0] = 1\ny.sum().backward()", "+y = y.clone()\n+y[0] = 1"),
    "mask": ("y = torch.tanh(w)\ny[y < 0] = 0\ny.sum().backward()", "+y = y.clone()\n+y[y < 0] = 0"),
    "two slices, one copy": ("y = torch.tanh(w)\ny[0] = 1\ny[1] += 2\ny.sum().backward()", "+y = y.clone()\n+y[0] = 1"),
    "a copy before the loop": (
        "y = torch.tanh(w)\nfor i in range(3):\n    y[i] += i\ny.sum().backward()",
        "+y = y.clone()\n+for i in range(3):",
    ),
    "a copy in each pass": (
        "y, s = torch.zeros(3), 0\nfor i in range(3):\n    s = s + (w * y).sum()\n    y[i] = 1\ns.backward()",
        "+    y = y.clone()\n+    y[i] = 1",
    ),
    "two writes": ("y = torch.tanh(w)\ny += 1\ny *= 2\ny.sum().backward()", "+y = y * 2"),
    "returned": (
        "def act(x):\n    h = torch.tanh(x)\n    return h.mul_(2)\nact(w).sum().backward()",
        "+    return h.mul(2)",
    ),
    "a parameter that nobody else has": (
        "def shift(h):\n    h += 1\n    return h\nshift(torch.tanh(w)).sum().backward()",
        "+    h = h + 1",
    ),
    "attribute": (
        """
        class Cell(nn.Module):
            def forward(self, x):
                self.state = torch.tanh(x)
                self.state *= 2
                return self.state
        Cell()(w).sum().backward()
        """,
        "+        self.state = self.state * 2",
    ),
    "in a branch": ("y = torch.tanh(w)\nif len(y) == 3:\n    y += 1\ny.sum().backward()", "+    y = y + 1"),
    "read late by a closure": (
        "y = torch.tanh(w)\nloss = lambda: y.sum()\ny += 1\nloss().backward()",
        "+y = y + 1",
    ),
}
REFUSED = {
    "a second name": "y = torch.tanh(w)\nz = y\ny += 1\n(y * 2 + z).sum().backward()",
    "both names at once": "y = z = torch.tanh(w)\ny += 1\n(y + z).sum().backward()",
    "a view": "y = torch.tanh(w)\nz = y[1:]\ny += 1\n(y.sum() + z.sum()).backward()",
    "write of a view": "y = torch.tanh(w)\nz = y[1:]\nz += 1\ny.sum().backward()",
    "a list": "y = torch.tanh(w)\nkept = [y]\ny += 1\nkept[0].sum().backward()",
    "an element": "kept = [torch.tanh(w)]\nkept[0] += 1\nkept[0].sum().backward()",
    "a loop over a list": "kept = [torch.tanh(w)]\nfor y in kept:\n    y += 1\nkept[0].sum().backward()",
    "a dict": "y = torch.tanh(w)\nkept = {'y': y}\ny.mul_(2)\nkept['y'].sum().backward()",
    "an object": "class Box: pass\nbox = Box()\nbox.y = y = torch.tanh(w)\ny += 1\nbox.y.sum().backward()",
    "the caller's name": "def shift(h):\n    h += 1\ny = torch.tanh(w)\nshift(y)\ny.sum().backward()",
    "a global name": "y = torch.tanh(w)\ndef shift():\n    y.add_(1)\nshift()\ny.sum().backward()",
    "a global name, declared": "y = torch.tanh(w)\ndef f():\n    global y\n    y += 1\nf()\ny.sum().backward()",
    "a closure's name": (
        "def f(x):\n    h = torch.tanh(x)\n    def g():\n        h.add_(1)\n    g()\n    return h\n"
        "f(w).sum().backward()"
    ),
    "a default": "y = torch.tanh(w)\ndef g(h=y):\n    return h.sum()\ny += 1\ng().backward()",
    "a partial": "import functools\ny = torch.tanh(w)\ng = functools.partial(torch.sum, y)\ny += 1\ng().backward()",
    "a bound method": "y = torch.tanh(w)\ntotal = y.sum\ny += 1\ntotal().backward()",
    "a queue": "import queue\nq = queue.Queue()\ny = torch.tanh(w)\nq.put(y)\ny += 1\nq.get().sum().backward()",
    "setattr": "class Box: pass\ny = torch.tanh(w)\nsetattr(Box, 'y', y)\ny += 1\nBox.y.sum().backward()",
    "a generator": (
        "def gen():\n    h = torch.tanh(w)\n    yield h\n    yield h\ng = gen()\n"
        "y = next(g)\ny += 1\n(y + next(g)).sum().backward()"
    ),
    "in a generator": (
        "def g():\n    h = torch.tanh(w)\n    yield h\n    h += 1\n    yield h\na, b = g()\n(a + b).sum().backward()"
    ),
    "read later": "def f(x):\n    h = torch.tanh(x)\n    z = h.mul_(2)\n    return z + h\nf(w).sum().backward()",
    "read in the same expression": "y = torch.tanh(w)\n(y + y.mul_(2)).sum().backward()",
    "no_grad": "y = torch.tanh(w)\nwith torch.no_grad():\n    y += 1\ny.sum().backward()",
    "detached": "y = torch.tanh(w)\ny.detach().add_(1)\ny.sum().backward()",
    "out=": "x = torch.rand(3)\ny = w * x\ntorch.cumsum(x, 0, out=x)\ny.sum().backward()",
    "a hook": (
        "net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())\ndef hook(module, args, output):\n    output[:, 0] = 0\n"
        "net[1].register_forward_hook(hook)\nnet(torch.rand(2, 3)).sum().backward()"
    ),
    "a step": (
        "opt = torch.optim.SGD([w], 0.1)\n"
        "loss = (w * w).exp().sum()\nloss.backward(retain_graph=True)\nopt.step()\nloss.backward()"
    ),
    "what is put there reads it": "y = torch.tanh(w)\ny[0] = y[1] * w[0]\ny.sum().backward()",
    "what is put there calls a reader": (
        "y = torch.tanh(w)\ndef f():\n    return (y * w).sum()\ny[0] = f()\ny.sum().backward()"
    ),
    "an augmented slice that saves": "y = torch.tanh(w)\ny[:2] *= w[:2]\ny.sum().backward()",
    "several types": "y = torch.tanh(w)\ny += torch.ones(3, dtype=torch.float64)\ny.sum().backward()",
    "a flag and keywords alone": "y = torch.tanh(w)\nF.elu(input=y, inplace=True)\ny.sum().backward()",
    "an array": "y = torch.tanh(w)\na = y.detach().numpy()\ny += 1\ny.sum().backward()",
    "a gradient that is kept": "y = torch.tanh(w)\ny.retain_grad()\ny += 1\ny.sum().backward()",
    "an attribute of the tensor": "y = torch.tanh(w)\ny.tag = 3\ny *= 2\ny.sum().backward()",
    "a frozen object": (
        "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Box:\n    h: torch.Tensor\n"
        "box = Box(torch.tanh(w))\nbox.h.mul_(2)\nbox.h.sum().backward()"
    ),
    "dropout that does nothing": "a = torch.tanh(w)\nb = F.dropout(a, 0.5, False)\nb += 1\na.sum().backward()",
    "a hook that keeps the argument": (
        "kept = []\nclass Net(nn.Module):\n    def forward(self, x):\n        x += 1\n        return x\nnet = Net()\n"
        "net.register_forward_hook(lambda m, a, o: kept.append(a[0]))\nnet(torch.tanh(w)).sum().backward()"
    ),
    "globals": "a = torch.tanh(w)\nglobals()['b'] = a\na += 1\nb.sum().backward()",
    "a function that remembers": (
        "import functools\n@functools.lru_cache\ndef f():\n    return torch.tanh(w)\n"
        "y = f()\ny += 1\n(y + f()).sum().backward()"
    ),
    "two on one line": "y = torch.tanh(w); y += 1\ny.sum().backward()",
    "a comprehension": "y = torch.tanh(w)\n[y.add_(1) for _ in range(2)]\ny.sum().backward()",
}
HEAD = "torch.manual_seed(0)\nw = torch.randn(3, requires_grad=True)\n"


def tensors_in(thing: Any, path: str, depth: int = 4) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors that a name leads to, and their gradients."""
    if isinstance(thing, torch.Tensor):
        yield path, thing.detach()
        if thing.is_leaf and thing.grad is not None:
            yield f"{path}.grad", thing.grad
    held = thing.state_dict(keep_vars=True) if isinstance(thing, torch.nn.Module) else thing
    entries = enumerate(held) if isinstance(held, (list, tuple)) else held.items() if isinstance(held, dict) else ()
    for key, each in entries if depth else ():
        yield from tensors_in(each, f"{path}[{key}]", depth - 1)


def computed(source: str) -> dict[str, torch.Tensor]:
    """What a program leaves."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    dtype = torch.get_default_dtype()
    try:
        torch.manual_seed(0)
        exec(compile(source, "<program>", "exec"), namespace)
    finally:
        torch.set_default_dtype(dtype)
    names = [(name, thing) for name, thing in namespace.items() if not name.startswith("__")]
    return {path: each for name, thing in names for path, each in tensors_in(thing, name)}


def with_copies(source: str) -> dict[str, torch.Tensor]:
    """What it leaves where autograd saves copies, so that no write reaches them."""
    with torch.autograd.graph.saved_tensors_hooks(
        lambda saved: saved if saved.is_leaf and saved.requires_grad else saved.clone(), lambda saved: saved
    ):
        return computed(source)


def assert_same_program(source: str, diff: str) -> None:
    """Applies a diff, runs both and compares."""
    found = computed("\n".join(changed(source.splitlines(), hunks(diff))))
    wanted = with_copies(source)
    assert found.keys() == wanted.keys()
    for path, each in wanted.items():
        torch.testing.assert_close(found[path], each, equal_nan=True, msg=lambda told, path=path: f"{path}: {told}")


@pytest.mark.parametrize("name", OFFERED)
def test_the_change_of_the_line_is_shown_and_is_the_same_program(name: str) -> None:
    text, wanted = OFFERED[name]
    source = program(HEAD + dedent(text).lstrip("\n"))
    answer = Failed(source).certain()
    assert answer.diff is not None
    assert wanted in answer.diff
    assert_same_program(source, answer.diff)


@pytest.mark.parametrize("name", REFUSED)
def test_no_change_is_shown_where_it_can_be_another_program(name: str) -> None:
    answer = Failed(program(HEAD + REFUSED[name])).certain()
    assert answer.candidates
    assert answer.diff is None


@pytest.mark.parametrize("name", CASES)
def test_a_change_of_a_labelled_program_mends_it(name: str) -> None:
    source = score.source_of(CASES[name][1], name)
    answer = Failed(source).certain()
    if answer.diff is not None:
        assert answer.certain
        assert_same_program(source, answer.diff)


def test_the_lines_of_a_change_are_those_of_its_cell() -> None:
    answer = Failed(program(HEAD), "y = torch.tanh(w)", "y += 1", "y.sum().backward()").certain()
    assert answer.diff == "@@ Cell In[3], line 1 @@\n-y += 1\n+y = y + 1"
