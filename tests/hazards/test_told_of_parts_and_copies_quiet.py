"""Casts, frames, parts, constructors, dictionaries and copies: healthy look-alikes, as a cell and as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

HEALTHY = {
    "parameters that are given parts of one vector": """
        net = nn.Linear(3, 2)
        flat = torch.zeros(8)


        def bind(net, flat):
            at = 0
            for p in net.parameters():
                n = p.numel()
                part = flat[at : at + n].view_as(p)
                part.copy_(p.data)
                p.data = part
                at += n


        bind(net, flat)
        flat.mul_(2)
        y = net(torch.ones(1, 3)).sum() + flat.sum()


        def step(x):
            head = x[:2]
            head.data = head.data * 2
            return head.sum() + x.sum()


        z = step(torch.ones(4))
        part = flat[:2]
        part.data = torch.ones(2)
        w = flat.sum()
        """,
    "tensors that are resized and keep what they have": """
        ws = torch.empty(100)
        part = ws[:10]
        part.resize_(20)
        part.fill_(1)
        x = torch.arange(6.0)
        x.resize_(3, 2)
        v = x[0]
        y = torch.empty(0)
        y.resize_(4, 4).zero_()
        y += 1
        z = torch.arange(12.0).view(3, 4)
        z.resize_(2, 3)
        b = z.sum() + v.sum()
        rows = torch.zeros(4, 6)
        row = rows[1]
        row.resize_(2, 3)
        row += 1
        t = rows.sum()
        """,
    "constructors that copy, rebind, or show what is counted": """
        import numpy as np

        x = torch.randn(4)
        x = torch.Tensor(x)
        x *= 2
        y = x.sum()
        z = torch.Tensor([1.0, 2.0])
        z += 1
        w = z.sum()


        def f(v):
            q = v.clone()
            q *= 2
            return q, v.sum()


        q, s = f(x)


        def g(v):
            u = torch.Tensor(v)
            return u * 2 + v


        r = g(x)


        class M:
            def __init__(s):
                s.total = torch.zeros(3)

            def show(s):
                return torch.Tensor(s.total)

            def add(s, d):
                s.total += d


        m = M()
        view = m.show()
        for k in range(3):
            m.add(torch.ones(3))
            view.sum().item()
        a = np.ones(3, dtype=np.float32)
        t = torch.Tensor(a)
        t += 1
        k = t.sum() + a.sum()
        """,
    "dictionaries that are meant for all, or made anew": """
        def table(n, _cache={}):
            if n not in _cache:
                _cache[n] = torch.arange(float(n))
            return _cache[n]


        def count(x, seen={}):
            if "n" not in seen:
                seen["n"] = torch.zeros(3)
            seen["n"] += x
            if seen["n"].sum() > 100:
                print("many")


        for k in range(3):
            count(torch.ones(3))
            table(3)


        class C:
            def __init__(self, store={}):
                self.store = store

            def add(self, k, x):
                self.store.setdefault(k, torch.zeros(2)).add_(x)


        s = {}
        a, b = C(s), C(s)
        a.add("x", torch.ones(2))
        b.add("x", torch.ones(2))
        m = s["x"].sum()


        class D:
            def __init__(self, store=None):
                self.store = {} if store is None else store

            def add(self, k, x):
                if k not in self.store:
                    self.store[k] = torch.zeros(2)
                self.store[k] += x


        c, d = D(), D()
        c.add("x", torch.ones(2))
        d.add("x", torch.ones(2))
        c.add("x", torch.ones(2))
        m = c.store["x"].sum()
        """,
    "beliefs that are copies": """
        from torch.distributions import Normal, kl_divergence


        class Loc:
            def __init__(s):
                s.mu = torch.zeros(2)
                s.sd = torch.ones(2)

            def d(s):
                return Normal(s.mu, s.sd)

            def old(s):
                return Normal(s.mu.clone(), s.sd.clone())


        def run(l):
            out = []
            for _ in range(3):
                before = l.old()
                l.mu.add_(1)
                l.sd.mul_(0.9)
                out.append(kl_divergence(l.d(), before).sum())
                live = l.d()
                out.append(kl_divergence(l.d(), live).sum())
                l.mu.add_(0.1)
                out.append(live.log_prob(l.mu).sum())
            return torch.stack(out)


        r = run(Loc())
        """,
    "a copy whose entry is replaced before it is written": """
        class Frame:
            def __init__(self, cols):
                self.cols = dict(cols)

            def view(self):
                return Frame(self.cols)


        class State:
            def __init__(self, x):
                self.x = {"x": x}

            def advance(self):
                self.x["x"].mul_(0.9)
                return self


        def ranked(frame):
            f = frame.view()
            f.cols["score"] = f.cols["score"] - f.cols["score"].min()
            f.cols["score"].mul_(2)
            return f.cols["score"].argsort()


        def total(frame):
            f = frame.view()
            return f.cols["score"].sum()


        frame = Frame({"score": torch.tensor([3.0, 1.0, 2.0]) * 2})
        r = ranked(frame)
        t = total(frame)
        st = State(torch.ones(2) * 3)


        def run(st):
            s = st.advance()
            return s.x["x"].sum()


        a = run(st)
        b = run(st)
        """,
}


@pytest.mark.parametrize("program", [pytest.param(text, id=name) for name, text in HEALTHY.items()])
def test_a_healthy_look_alike_gives_no_alarm(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    found = told(loaded_shell, tmp_path, program)
    assert found.plain is None
    assert found.alarms == [[], []], [report.to_text() for report in found.reports]
