"""Healthy look-alikes of mistakes with what training carries on: no alarm, as a cell and as a file."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.trained import AVERAGE, DATA

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
    "weights are given their own memory back": AVERAGE + 16 * " " + "average.put_back()",
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
    "averages are swapped in and out": """
        model = network()
        opt, average = torch.optim.SGD(model.parameters(), lr=0.1), [p.detach().clone() for p in model.parameters()]
        @torch.no_grad()
        def swap():
            for s, p in zip(average, model.parameters()):
                kept = p.clone()
                p.copy_(s)
                s.copy_(kept)
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            for s, p in zip(average, model.parameters()):
                s.lerp_(p.detach(), 0.1)
            if i % 4 == 3:
                swap()
                with torch.no_grad():
                    print(loss_of(model(x), y).item())
                swap()
        """,
    "weights are kept and put back": """
        model = network()
        opt, average = torch.optim.SGD(model.parameters(), lr=0.1), copy.deepcopy(model)
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            for s, p in zip(average.parameters(), model.parameters()):
                s.data.mul_(0.9).add_(p.data * 0.1)
            if i % 4 == 3:
                kept = copy.deepcopy(model.state_dict())
                model.load_state_dict(average.state_dict())
                with torch.no_grad():
                    print(loss_of(model(x), y).item())
                model.load_state_dict(kept)
        """,
    "Lookahead, begun after some steps": """
        model, slow = network(), None
        opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            if i == 1:
                slow = [p.detach().clone() for p in model.parameters()]
            if i % 4 == 3:
                with torch.no_grad():
                    for s, p in zip(slow, model.parameters()):
                        s.add_(p - s, alpha=0.5)
                        p.copy_(s)
                    print(loss_of(model(x), y).item())
        """,
    "Reptile over three tasks each": """
        model = network()
        for outer in range(2):
            start = {k: v.clone() for k, v in model.state_dict().items()}
            ends = []
            for task in range(3):
                model.load_state_dict(start)
                opt = torch.optim.SGD(model.parameters(), lr=0.1)
                for x, y in data[4 * task : 4 * task + 4]:
                    stepped(model, opt, x, y)
                ends.append({k: v.clone() for k, v in model.state_dict().items()})
            model.load_state_dict({k: torch.stack([end[k] for end in ends]).mean(0) for k in start})
            with torch.no_grad():
                print(loss_of(model(x), y).item())
        """,
    "an average at the end, with statistics of its own": """
        from torch.optim import swa_utils
        model = normed()
        opt, average = torch.optim.SGD(model.parameters(), lr=0.1), swa_utils.AveragedModel(model)
        for x, y in data:
            stepped(model, opt, x, y)
            average.update_parameters(model)
        swa_utils.update_bn(data, average)
        print(loss_of(average.eval()(x), y).item())
        """,
    "an average that takes the buffers too": """
        model = normed()
        opt, average = torch.optim.SGD(model.parameters(), lr=0.1), copy.deepcopy(model).eval()
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            with torch.no_grad():
                for s, p in zip(average.parameters(), model.parameters()):
                    s.lerp_(p, 0.1)
                if i % 4 == 3:
                    for s, p in zip(average.buffers(), model.buffers()):
                        s.copy_(p)
                    print(loss_of(average(x), y).item())
        """,
    "a teacher that sees batches in training mode": """
        model = normed()
        opt, teacher = torch.optim.SGD(model.parameters(), lr=0.1), copy.deepcopy(model)
        for x, y in data:
            with torch.no_grad():
                aim = teacher(x)
            stepped(model, opt, x, aim)
            with torch.no_grad():
                for s, p in zip(teacher.parameters(), model.parameters()):
                    s.lerp_(p, 0.1)
        print(loss_of(teacher.eval()(x), y).item())
        """,
    "a target network by its state dict": """
        model = normed()
        opt, target = torch.optim.SGD(model.parameters(), lr=0.1), copy.deepcopy(model).eval()
        for i, (x, y) in enumerate(data):
            with torch.no_grad():
                aim = y + 0.9 * target(x)
            stepped(model, opt, x, aim)
            if i % 4 == 3:
                target.load_state_dict(model.state_dict())
        """,
    "a batch norm that stays as it was": """
        model = normed().eval()
        opt, average = torch.optim.SGD(model.parameters(), lr=0.1), copy.deepcopy(model)
        for x, y in data:
            stepped(model, opt, x, y)
            with torch.no_grad():
                for s, p in zip(average.parameters(), model.parameters()):
                    s.lerp_(p, 0.1)
        print(loss_of(average(x), y).item())
        """,
    "a generator that runs without gradients for its judge": """
        maker, judge = normed(), nn.Linear(1, 1)
        opt_maker, opt_judge = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (maker, judge))
        for x, y in data:
            with torch.no_grad():
                fake = maker(x)
            opt_judge.zero_grad()
            loss = (judge(fake) - judge(y)).mean()
            loss.backward()
            opt_judge.step()
            opt_maker.zero_grad()
            (-judge(maker(x))).mean().backward()
            opt_maker.step()
        print(maker.eval()(x).mean().item())
        """,
    "statistics that a pass is there to adapt": """
        model = normed()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(2):
            for x, y in data:
                stepped(model, opt, x, y)
            with torch.no_grad():
                for x, y in data:
                    model(x + 1)
        print(loss_of(model.eval()(x), y).item())
        """,
    "a measurement after which the statistics are put back": """
        model = normed()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(2):
            for x, y in data:
                stepped(model, opt, x, y)
            kept = copy.deepcopy(model.state_dict())
            with torch.no_grad():
                print(loss_of(model(x + 1), y).item())
            model.load_state_dict(kept)
        print(loss_of(model.eval()(x), y).item())
        """,
    "labels that the network gives itself": """
        model = normed()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in data:
            with torch.no_grad():
                aim = (model(x + 1) > 0).float()
                print(aim.mean().item())
            stepped(model, opt, x + 1, aim)
        print(loss_of(model.eval()(x), y).item())
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
