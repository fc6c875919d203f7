"""Healthy look-alikes of mistakes with what training carries on: no alarm, as a cell and as a file."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.trained import DATA

ACCUMULATED = """
        model, count = network(), 0
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            {before}
            for i, (x, y) in enumerate(data[:{batches}]):
                (loss_of(model(x), y) / 4).backward()
                count += {counted}
                if {due}:
                    opt.step()
                    opt.zero_grad()
                    {after}
        """
QUIET = {
    "sums that end with the epoch": ACCUMULATED.format(
        before="", batches=8, counted=1, due="(i + 1) % 4 == 0", after=""
    ),
    "a last sum of fewer batches": ACCUMULATED.format(
        before="", batches=7, counted=1, due="(i + 1) % 4 == 0 or i == 6", after=""
    ),
    "sums that go on from epoch to epoch": ACCUMULATED.format(
        before="", batches=7, counted=1, due="count % 4 == 0", after=""
    ),
    "gradients that are cleared before each epoch": ACCUMULATED.format(
        before="opt.zero_grad()", batches=7, counted=1, due="(i + 1) % 4 == 0", after=""
    ),
    "batches that are gathered up to a number of rows": ACCUMULATED.format(
        before="", batches=11, counted="(3, 5, 2, 9, 3, 3, 1, 8, 2, 2, 5)[i]", due="count >= 8", after="count = 0"
    ),
    "gradients that are clipped for each of two optimizers": """
        parts = [nn.Linear(3, 1), nn.Linear(3, 1)]
        opts = [torch.optim.SGD(part.parameters(), lr=0.1) for part in parts]
        for x, y in data:
            for part, opt in zip(parts, opts):
                opt.zero_grad()
                loss_of(9 * part(x), y).backward()
            for opt in opts:
                nn.utils.clip_grad_norm_([p for part in parts for p in part.parameters()], 0.1)
                opt.step()
        """,
    "gradients that are scaled back to be shown": """
        model = network()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in data:
            opt.zero_grad()
            (9 * loss_of(model(x), y)).backward()
            opt.step()
            for p in model.parameters():
                p.grad.div_(9)
            print(sum(p.grad.norm() for p in model.parameters()).item())
        """,
    "a norm that clipping gives, below the step": """
        model, norms = network(), []
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in data:
            opt.zero_grad()
            loss_of(model(x), y).backward()
            opt.step()
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), float("inf")))
        """,
    "a judge that is cleared, its maker first": """
        maker, judge = nn.Linear(3, 1), nn.Linear(1, 1)
        opt_maker, opt_judge = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (maker, judge))
        for x, y in data:
            opt_maker.zero_grad()
            judge(maker(x)).mean().backward()
            opt_maker.step()
            opt_judge.zero_grad()
            (-judge(y)).mean().backward()
            judge(maker(x).detach()).mean().backward()
            opt_judge.step()
        """,
    "a body of two heads that is stepped after both": """
        body, heads = nn.Linear(3, 4), [nn.Linear(4, 1), nn.Linear(4, 1)]
        opt_body, *opts = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (body, *heads))
        for x, y in data:
            opt_body.zero_grad()
            for head, opt in zip(heads, opts):
                opt.zero_grad()
                loss_of(head(body(x)), y).backward()
                opt.step()
            opt_body.step()
        """,
    "two bodies and one head that is stepped after both": """
        head, bodies = nn.Linear(4, 1), [nn.Linear(3, 4), nn.Linear(3, 4)]
        opt_head, *opts = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (head, *bodies))
        for x, y in data:
            opt_head.zero_grad()
            for body, opt in zip(bodies, opts):
                opt.zero_grad()
                loss_of(head(body(x)), y).backward()
                opt.step()
            opt_head.step()
        """,
    "noise that climbs while gradients are summed": """
        model = network()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in data:
            opt.zero_grad()
            noise = torch.zeros_like(x, requires_grad=True)
            for climb in range(3):
                (loss_of(model(x + noise), y) / 3).backward()
                noise = (noise + 0.1 * noise.grad.sign()).detach().requires_grad_()
            opt.step()
        """,
}


@pytest.mark.parametrize("name", QUIET)
def test_training_that_only_looks_like_it_is_left_alone(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    found = told(loaded_shell, tmp_path, DATA + textwrap.dedent(QUIET[name]))
    assert found.plain is None
    assert found.alarms == [[], []], [each.to_text() for each in found.reports]
