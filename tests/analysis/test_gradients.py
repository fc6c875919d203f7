"""The events of a gradient: which there are, in which order, and that a question for a shape is none."""

from __future__ import annotations

import pytest
import torch

import inplace_magic
from inplace_magic.analysis.story import story_of

PROGRAMS = {
    "two backwards, a step and a clearing": ("go(), go()", "opt.step()", "opt.zero_grad(set_to_none=False)", "aasc"),
    "scaled between two backwards": ("go()", "w.grad /= 2", "go()", "axa"),
    "a part is set, and more is added": ("go()", "w.grad[0] = 0", "w.grad.add_(1)", "ame"),
    "a step of one's own": ("go()", "step()", "go()", "arsa"),
    "read and looked at": ("go()", "norm = w.grad.norm(); view = w.grad[0]", "go()", "arva"),
    "questions for shapes and flags": ("go()", "w.grad.shape, w.grad.size(0), w.grad.dim(), len(w.grad)", "go()", "aa"),
    "clipped by the library": ("go()", "torch.nn.utils.clip_grad_norm_([w], 0.1)", "go()", "aqxa"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_event_of_a_gradient_has_its_letter_and_a_query_has_none(name: str) -> None:
    *lines, letters = PROGRAMS[name]
    w = torch.ones(2, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)

    def go() -> None:
        (w * 3).sum().backward()

    @torch.no_grad()
    def step() -> None:
        w.sub_(0.1 * w.grad)  # type: ignore[operator]  # the gradient is there

    with inplace_magic.watch() as watch:
        for line in lines:
            exec(line, {"torch": torch, "w": w, "opt": opt, "go": go, "step": step})
    (history,) = story_of(watch.report.trace).gradients.histories
    assert history.letters == letters
