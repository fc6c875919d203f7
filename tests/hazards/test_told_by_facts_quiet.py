"""Healthy look-alikes of what the rules on the record alone tell: no alarm, as a cell and as a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import ALARM, told
from programs import packed

import inplace_magic
from inplace_magic import hazards
from inplace_magic.record.blindness import NOT_JUDGED
from inplace_magic.report import Report

HEALTHY = {
    "two parameters of one shape, moved by parts of one vector of LBFGS": """
        net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
        optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=3)
        x = torch.rand(4, 3)

        def closure():
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            return loss

        for _ in range(2):
            optimizer.step(closure)
        """,
    "a function that clips its argument and gives the norm": """
        def clipped(gradient, most):
            norm = gradient.norm()
            gradient.mul_((most / norm).clamp(max=1.0))
            return norm.item()

        gradient = torch.arange(4.0)
        before = clipped(gradient, 1.0)
        step = 0.1 * gradient
        """,
    "a state that a function moves on in each pass": """
        def advance(position, velocity):
            position += 0.1 * velocity
            return position.square().sum()

        position, velocity = torch.ones(3), torch.rand(3)
        energies = []
        for step in range(4):
            energies.append(advance(position, velocity))
        path = position.norm() + torch.stack(energies).sum()
        """,
    "noise that a function adds to its argument and gives": """
        def noised(x):
            noise = torch.rand_like(x)
            x += noise
            return noise

        x = torch.arange(4.0)
        noise = noised(x)
        loss = (x * 2 - noise).square().mean()
        """,
    "a cache that a function fills and reads": """
        def attend(query, cache, at):
            cache[at] = query
            return (cache[: at + 1] * query).sum(1).softmax(0)

        cache = torch.zeros(4, 2)
        shares = [attend(torch.rand(2), cache, at) for at in range(4)]
        filled = cache.sum()
        """,
    "a function that hands back what it wrote, in its place": """
        def scaled(x):
            x /= x.sum()
            return x

        shares = torch.arange(1.0, 4.0)
        shares = scaled(shares)
        most = shares.max()
        """,
    "a simulation that leaves its places where they ended": """
        def simulate(places, speeds):
            energy = []
            for step in range(3):
                places += 0.1 * speeds
                energy.append(places.square().sum())
            return torch.stack(energy)

        places, speeds = torch.rand(5), torch.rand(5)
        energy = simulate(places, speeds)
        spread = places.std()
        """,
    "a window of a buffer that is filled before each use": """
        static = torch.zeros(4, 2)
        for batch in torch.ones(3, 2, 2):
            window = static[:2]
            static[:2] = batch
            out = window * 2
        """,
    "a row of a new buffer, taken before the buffer is filled": """
        table = torch.empty(3, 2)
        first = table[0]
        table[0] = torch.ones(2)
        out = first * 2
        """,
    "a row that was read before it is replaced": """
        pool = torch.rand(3, 2)
        oldest = pool[0]
        age = oldest.sum()
        pool[0] = torch.ones(2)
        out = oldest * 2
        """,
    "a name that follows another one, which is bound anew": """
        now, y = torch.zeros(2), torch.ones(2)
        before = now
        for step in range(3):
            now = torch.mul(y, 0.1)
            now += 0.01
            y = y + 1.5 * now - 0.5 * before
            before = now
        """,
    "a weight that is tied and stepped": """
        net = nn.Linear(3, 3, bias=False)
        tied = net.weight
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(2):
            opt.zero_grad()
            (net.weight @ torch.ones(3) + tied @ torch.ones(3)).sum().backward()
            opt.step()
        """,
    "a conversion that is divided out of place": """
        state = {"momentum": torch.full((4,), 3.0)}
        direction = state["momentum"].to(torch.float32)
        direction = direction / direction.norm()
        average = 0.9 * state["momentum"]
        """,
    "a conversion that is cleared to be filled": """
        state = {"scratch": torch.full((4,), 3.0)}
        scratch = state["scratch"].contiguous()
        scratch.zero_()
        total = state["scratch"].sum()
        """,
    "two names of one meter": """
        class Meter:
            def __init__(self):
                self.count = torch.zeros(2)

            def update(self, x):
                self.count += x

        meter = Meter()
        overall = meter
        meter.update(torch.ones(2))
        overall.update(torch.ones(2))
        total = meter.count.sum()
        """,
    "particles that friction slows down": """
        particles = [(torch.zeros(2), torch.ones(2)), (torch.ones(2), torch.rand(2))]
        for step in range(3):
            for position, velocity in particles:
                velocity.mul_(0.9)
                position.add_(velocity)
        """,
    "the flattened gradients of each step": """
        net = nn.Linear(3, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        log = []
        for step in range(3):
            for half in range(2):
                net(torch.ones(1, 3)).sum().backward()
            log.append(torch.cat([p.grad.flatten() for p in net.parameters()]))
            opt.step()
            opt.zero_grad(set_to_none=False)
        spread = torch.stack(log).std(0)
        """,
    "a state cut off by a statement of its own": """
        w = torch.ones(3, requires_grad=True)
        h = torch.zeros(3)
        for step in range(3):
            h = torch.tanh(h + w)
            h.sum().backward()
            h.detach_()
        """,
    "a result cut off where it is returned, and read without a gradient": """
        w = torch.ones(3, requires_grad=True)
        def measured(x):
            loss = (x * w).sum()
            loss.backward()
            return loss.detach_()
        losses = [measured(torch.ones(3)) for step in range(2)]
        mean = torch.stack(losses).mean()
        """,
    "a loss cut off in the line that keeps it, after its backward": """
        w, kept = torch.ones(3, requires_grad=True), []
        for step in range(2):
            loss = (w * 2).sum()
            loss.backward()
            kept.append(loss.detach_())
            (loss * w).sum().backward()
        """,
    "an array filled by a function that is called to do it": """
        import numpy as np
        def clear_diagonal(x):
            np.fill_diagonal(x.numpy(), 0)
        distances = torch.rand(3, 3) * 2
        clear_diagonal(distances)
        total = distances.sum()
        """,
    "a copy of the array that a function writes": """
        import numpy as np
        def closest(distances):
            table = distances.numpy().copy()
            np.fill_diagonal(table, np.inf)
            return table.argmin()
        distances = torch.rand(3, 3) * 2
        pair = closest(distances)
        total = distances.sum()
        """,
    "a buffer read in by a function that says how much": """
        import numpy as np
        def read_into(buffer, values):
            room = buffer.numpy()
            np.copyto(room, values)
            return len(values)
        buffer = torch.zeros(4)
        count = read_into(buffer, np.ones(4, dtype=np.float32))
        total = buffer.sum()
        """,
    "the state of an environment that each step moves": """
        import numpy as np
        def step(state, push):
            array = state.numpy()
            array += push
            return float(array.sum())
        state = torch.rand(3) * 2
        for push in range(3):
            reward = step(state, push)
            action = state * 2
        """,
    "a target given its last dimension by a statement": """
        logits, target = torch.rand(4, 1), torch.rand(4) * 2
        target.unsqueeze_(1)
        loss = (logits - target).pow(2).mean()
        """,
    "a shallow copy whose entry is bound anew": """
        from dataclasses import dataclass, replace
        @dataclass
        class State:
            speed: torch.Tensor
        def future(state, kick):
            branch = replace(state)
            branch.speed = branch.speed * (1 + kick)
            branch.speed.mul_(2)
            return branch.speed
        now = State(torch.ones(2) * 3)
        ends = [future(now, kick).clone() for kick in (0.0, 0.1)]
        """,
    "a shallow copy whose original nobody asks again": """
        import copy
        def scaled(sample):
            sample = copy.copy(sample)
            sample["x"].mul_(2)
            return sample["x"].sum()
        total = scaled({"x": torch.rand(3) + 1})
        """,
    "two halves of a guided picture put into one batch": """
        latent = torch.rand(2, 3) * 2
        with torch.no_grad():
            for step in range(3):
                both = torch.tanh(torch.cat([latent, latent]))
                again = torch.stack([latent] * 2).mean(0)
                latent.add_(both[:2] - both[2:] * 0.5)
        """,
    "a view given another shape in a helper": """
        def picked(scores, classes):
            column = classes[:]
            return scores.gather(1, column.unsqueeze_(1)).mean()
        scores, classes = torch.rand(4, 3), torch.rand(4, 3).argmax(1)
        loss = picked(scores, classes)
        hits = (scores.argmax(1) == classes).sum()
        """,
    "a momentum with a name, read by both of its names": """
        moment, grad = torch.rand(3), torch.rand(3)
        for step in range(2):
            update = moment.mul_(0.9)
            moment = update + grad
        """,
    "gradients that a function of their own decays, for a step elsewhere": """
        net = nn.Linear(3, 2)
        def decayed(net):
            for p in net.parameters():
                p.grad.add_(p.detach(), alpha=0.1)
        for step in range(2):
            net.zero_grad()
            net(torch.ones(1, 3)).sum().backward()
            decayed(net)
            with torch.no_grad():
                for p in net.parameters():
                    p -= 0.1 * p.grad
        """,
    "a norm that is read of clipped gradients": """
        w = torch.ones(3, requires_grad=True)
        def step(p):
            p.grad.mul_(0.5)
            p.sub_(0.1 * p.grad)
        for k in range(2):
            w.grad = None
            (w * w).sum().backward()
            with torch.no_grad():
                step(w)
            norm = w.grad.norm()
        """,
    "a buffer taken by a short name, written and put back": """
        class Average:
            def __init__(self):
                self.mean = torch.zeros(2)
            def add(self, x):
                mean = self.mean
                mean += 0.1 * (x - mean)
                self.mean = mean
                return mean.sum()

        average = Average()
        seen = [average.add(torch.rand(2)) for _ in range(3)]
        """,
    "two buffers in turn, each under either name": """
        def smoothed(x, pool):
            finer, ends = x, []
            for k in range(4):
                coarser = pool[k % 2]
                coarser.copy_(0.5 * finer)
                ends.append((finer - coarser).sum())
                finer = coarser
            return torch.stack(ends)

        ends = smoothed(torch.ones(3), [torch.empty(3), torch.empty(3)])
        """,
    "a place that was kept as a copy is taken back": """
        place, kicks = torch.zeros(2), torch.ones(3, 2)
        for kick in kicks:
            before = place.clone()
            place += kick
            if place.sum() > 1:
                place = before
        end = place * 1
        """,
    "objects that are handed one counter": """
        class Worker:
            def __init__(self, done):
                self.done = done
            def work(self):
                self.done += 1
                return self.done.item()

        def run():
            done = torch.zeros(())
            return [worker.work() for worker in [Worker(done) for _ in range(3)]]

        counts = run()
        """,
    "a helper that is called for what it does to detached values": """
        def halved(values):
            values.mul_(0.5)

        weight = torch.ones(2, requires_grad=True)
        for _ in range(2):
            halved(weight.detach())
        total = weight.sum()
        """,
    "a layer that is initialised before it is loaded": """
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
        for layer in net:
            torch.nn.init.zeros_(layer.bias)
        net[0].load_state_dict({"weight": torch.ones(2, 2), "bias": torch.ones(2)})
        out = net(torch.ones(1, 2))
        """,
    "votes that bytes can hold": """
        votes = torch.zeros(4, dtype=torch.uint8)
        for voter in range(255):
            votes += torch.tensor([1, 0, 1, 1], dtype=torch.uint8)
        winner = votes.argmax()
        """,
    "a function that gives what it wrote, asked for its shape alone": """
        def brightened(image):
            return (image + 0.5).clamp_(0, 1)

        image = torch.rand(2, 3)
        print(brightened(image).shape)
        mean = image.mean()
        """,
    "a product that is added to the tensor that out names": """
        total, x = torch.empty(2, 2), torch.rand(2, 3)
        torch.addmm(total, x, x.T, beta=0.0, out=total)
        torch.addmm(total, x, x.T, out=total)
        trace = total.trace()
        """,
    "a parameter that is set when the training is over": """
        layer = nn.Linear(2, 1)
        opt = torch.optim.SGD(layer.parameters(), lr=0.1)
        for step in range(2):
            opt.zero_grad()
            layer(torch.rand(4, 2)).square().sum().backward()
            opt.step()
        seen = {"noise": F.softplus(layer.bias)}
        layer.bias.data.fill_(3)
        print(seen["noise"].item(), F.softplus(layer.bias).item())
        """,
    "a state whose second entry was given after it had been made": """
        def begin(n):
            sick = torch.zeros(n)
            sick[0] += 1
            return {"sick": sick}

        def move(state):
            return (state["sick"] - state["guess"]).abs().sum() + state["sick"].sum()

        state = begin(3)
        for name in ("sick",):
            state["guess"] = state[name]
        total = move(state)
        """,
}


@pytest.mark.parametrize("program", [pytest.param(text, id=name) for name, text in HEALTHY.items()])
def test_a_healthy_look_alike_gives_no_alarm(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    found = told(loaded_shell, tmp_path, program)
    assert found.plain is None
    assert found.alarms == [[], []], [report.to_text() for report in found.reports]


OF_MANY_CALLS = packed.source_of(packed.ROUNDS[7], "ok_raw_gradients_noted_before_clipping")


def with_little_memory() -> Report:
    with inplace_magic.watch(max_events=30) as watched:
        exec(OF_MANY_CALLS, {"__name__": "__main__"})
    return watched.report


def test_where_calls_were_forgotten_nobody_is_told_of_what_did_not_happen(monkeypatch: pytest.MonkeyPatch) -> None:
    report = with_little_memory()
    assert report.faults == []
    assert [hazard.code for hazard in report.hazards if hazard.severity in ALARM] == []
    assert NOT_JUDGED in report.blindness
    monkeypatch.setattr(hazards, "RULES", tuple(replace(rule, every_call=False) for rule in hazards.RULES))
    assert [hazard.code for hazard in with_little_memory().hazards if hazard.severity in ALARM] != []
