"""Image features put into embeddings that require grad, as vision-language models do under gradient checkpointing and
adapters: the diff gives the gradients of the loss that is computed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hazards.curing import cured, run, watch_cell

START = """\
import torch
from torch import nn

torch.manual_seed(0)
embed, project = nn.Embedding(10, 4), nn.Linear(4, 4)
ids, image, index = torch.arange(6), torch.randn(2, 4), torch.tensor([1, 2])
mask = torch.tensor([False, True, True, False, False, False])
"""
FROZEN = """\
embed.requires_grad_(False)
handle = embed.register_forward_hook(lambda module, args, output: output.requires_grad_(True))
text = embed(ids)
handle.remove()
"""
LEAF = "text = embed(ids).detach().requires_grad_(True)\n"

WRITES = {
    "into a view": "flat = text.view(-1, 4)\nflat.index_copy_(0, index, image)\nloss = flat.pow(2).sum()",
    "by a mask": "text[mask] = image\nloss = text.pow(2).sum()",
    "by a slice": "text[1:3] = image\nloss = text.pow(2).sum()",
    "row by row": "for row in range(2):\n    text[1 + row] = image[row]\nloss = text.pow(2).sum()",
    "projected": "text[mask] = project(image)\nloss = text.pow(2).sum()",
    "scattered": "text.masked_scatter_(mask.unsqueeze(-1), project(image))\nloss = text.pow(2).sum()",
    "put": "text.index_put_((index,), project(image))\nloss = text.pow(2).sum()",
    "in a function": """\
def merge(rows, features):
    rows[mask] = features
    return rows

loss = merge(text, project(image)).pow(2).sum()""",
}


CASES = [
    *((FROZEN, name) for name in WRITES),
    *((LEAF, name) for name in ("into a view", "projected", "scattered", "put", "in a function")),
]


@pytest.mark.parametrize(("start", "name"), CASES, ids=[f"{'hook' if s == FROZEN else 'leaf'}, {n}" for s, n in CASES])
def test_the_diff_gives_the_gradient_of_the_loss(loaded_shell: Any, start: str, name: str) -> None:
    source = START + start + WRITES[name] + "\nloss.backward()"
    assert "leaf Variable that requires grad" in run(source)[1]

    report = watch_cell(loaded_shell, source)
    new = cured(source, report)

    assert "no_grad" not in report.hazards[0].diff
    if new == source:
        return  # a sentence, where the fix is not certain
    left, error = run(new.replace("text = ", "text = kept = ", 1))
    assert error == ""
    kept = left["kept.grad"]
    assert torch.equal(kept[1:3], torch.zeros(2, 4)), "what was overwritten has no part in the loss"
    assert torch.equal(kept[3:], 2 * left["kept"][3:])


@pytest.mark.parametrize(
    "lines",
    [
        "w = torch.zeros(3, requires_grad=True)\nloss = (w - 1).pow(2).sum()\nloss.backward()\nw -= 0.1 * w.grad",
        "prompt = nn.Parameter(torch.zeros(6, 4))\nprompt[mask] = image\nprompt.sum().backward()",
        "w = torch.zeros(3, 4, requires_grad=True)\nrow = w[0]\nrow.add_(1)",
    ],
)
def test_what_sets_values_stays_an_update(loaded_shell: Any, lines: str) -> None:
    report = watch_cell(loaded_shell, START + lines)

    assert "with torch.no_grad():" in report.hazards[0].diff
    assert run(cured(START + lines, report))[1] == ""


@pytest.mark.parametrize(
    "lines",
    [
        "h = embed(ids)\nh[mask] = project(image)\nh.pow(2).sum().backward()",
        FROZEN + "h = text.clone()\nh[mask] = project(image)\nh.pow(2).sum().backward()",
        FROZEN + "h = text.masked_scatter(mask.unsqueeze(-1), project(image))\nh.pow(2).sum().backward()",
        FROZEN + "h = torch.zeros_like(text)\nh[mask] = project(image)\nh[~mask] = text[~mask]\nh.sum().backward()",
    ],
)
def test_features_put_into_a_result_are_quiet(loaded_shell: Any, lines: str) -> None:
    assert [hazard for hazard in watch_cell(loaded_shell, START + lines).hazards if hazard.is_alarm] == []
