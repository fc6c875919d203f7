"""The code that a certain answer suggests is the same program without the error, or no code is suggested.

"The same" is what the program as it stands computes when autograd saves copies: its values and its gradients.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

import pytest
import torch
from postmortem.failing import Failed, program

HEAD = "torch.manual_seed(0)\nw = torch.randn(3, requires_grad=True)\n"
SUGGESTED = {
    "augmented": ("y = torch.tanh(w)\ny += w * 2\ny.sum().backward()", "y = y + w * 2"),
    "one of a line": ("y = torch.tanh(w); y += 1; z = 2\ny.sum().backward()", "y = y + 1"),
    "parentheses": ("y = torch.tanh(w)\ny *= w + 2\ny.sum().backward()", "y = y * (w + 2)"),
    "method": ("y = torch.tanh(w)\ny.mul_(3)\ny.sum().backward()", "y = y * 3"),
    "chain": ("y = torch.tanh(w)\ny.mul_(3).add_(1)\ny.sum().backward()", "y = y.mul(3).add(1)"),
    "index": ("y = torch.tanh(w)\ny[0] = 1\ny.sum().backward()", "y = y.clone()"),
    "slice": ("y = torch.tanh(w)\ny[1:] += 2\ny.sum().backward()", "y = y.clone()"),
    "attribute": (
        """
        class Cell(nn.Module):
            def forward(self, x):
                self.state = torch.tanh(x)
                self.state *= 2
                return self.state
        Cell()(w).sum().backward()
        """,
        "self.state = self.state * 2",
    ),
    "in a function": (
        "def f():\n    h = torch.tanh(w)\n    h -= 1\n    return h\nf().sum().backward()",
        "h = h - 1",
    ),
}
IN_WORDS = {
    "a parameter": "def shift(h):\n    h += 1\ny = torch.tanh(w)\nshift(y)\ny.sum().backward()",
    "a global name": "y = torch.tanh(w)\ndef shift():\n    y.add_(1)\nshift()\ny.sum().backward()",
    "no_grad": "y = torch.tanh(w)\nwith torch.no_grad():\n    y += 1\ny.sum().backward()",
    "detached": "y = torch.tanh(w)\ny.detach().add_(1)\ny.sum().backward()",
    "several lines": "y = torch.tanh(w)\ny += 1\ny *= 2\ny.sum().backward()",
    "an expression": "y = torch.tanh(w)\nz = y.mul_(2)\nz.sum().backward()",
    "an entry of a list": "kept = [torch.tanh(w)]\nkept[0] += 1\nkept[0].sum().backward()",
    "a function": "y = torch.tanh(w)\ntorch.relu_(y)\ny.sum().backward()",
    "what is put there reads it": "y = torch.tanh(w)\ny[0] = y[1] * w[0]\ny.sum().backward()",
    "a slice that autograd saves": "y = torch.tanh(w)\ny[:2] *= w[:2]\ny.sum().backward()",
}


def gradient(source: str) -> Any:
    """Return the gradient of `w` that a program leaves."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, "<program>", "exec"), namespace)
    return namespace["w"].grad


@pytest.mark.parametrize("name", SUGGESTED)
def test_the_suggested_code_is_the_same_program(name: str) -> None:
    text, wanted = SUGGESTED[name]
    source = program(HEAD + dedent(text).lstrip("\n"))
    fix = Failed(source).certain().fix or ""
    found = re.search(
        r"If no other name needs the new values, .*: (write|put) `(.+)` (?:instead of|before) `(.+)`\.", fix
    )
    assert found is not None, fix
    how, new, old = found.groups()
    assert new == wanted
    with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved.clone(), lambda saved: saved):
        wanted_gradient = gradient(source)
    assert torch.equal(gradient(source.replace(old, new if how == "write" else f"{new}; {old}")), wanted_gradient)


@pytest.mark.parametrize("name", IN_WORDS)
def test_where_the_code_can_be_another_program_the_change_is_said_in_words(name: str) -> None:
    answer = Failed(program(HEAD + IN_WORDS[name])).certain()
    assert answer.candidates
    if answer.certain:
        assert "give a new tensor instead of writing into the saved one" in (answer.fix or "")
