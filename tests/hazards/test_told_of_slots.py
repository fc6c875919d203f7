"""Several slots of one list or dict that held a tensor when a line wrote it, in many clothes; and what
differs from each in the one fact that decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

DRAWN = """
class Memory:
    def __init__(self): self.kept = []
    def put(self, entry): self.kept.append(entry)
    def some(self, n):
        drawn = self.kept[-n:]
        states = []
        for entry in drawn:
            state, reward = entry
            states.append(state.tolist())
        return torch.tensor(states)
memory = Memory()
obs = torch.zeros(2)
for step in range(4):
    obs.copy_(torch.full((2,), float(step)))
    memory.put((obs, 0.5))
batch = memory.some(3)
"""
FOUND = {
    "one tensor under every key of a method's dict": (
        "one-tensor-many-slots",
        """
class Counter:
    def __init__(self, names):
        self.hits = dict.fromkeys(names, torch.zeros(3))
    def add(self, name, v):
        self.hits[name].add_(v)
    def of(self, name):
        return self.hits[name].clone()
c = Counter(["day", "night"])
c.add("day", 2.0)
night = c.of("night")
""",
    ),
    "one tensor under two keys, written by one and read by the other": (
        "one-tensor-many-slots",
        """
grads = dict.fromkeys(("conv", "fc"), torch.zeros(2, 2))
grads["conv"].add_(torch.eye(2))
norm = grads["fc"].norm().item()
""",
    ),
    "the cells of a row are one tensor": (
        "one-tensor-many-slots",
        """
def build(rows, cols):
    return [[torch.zeros(1)] * cols for _ in range(rows)]
board = build(2, 3)
for r in range(2):
    board[r][r] += 1
total = sum(cell.item() for row in board for cell in row)
""",
    ),
    "the states of all layers are one tensor": (
        "one-tensor-many-slots",
        """
def run(cells, xs):
    zero = torch.zeros(2)
    hidden = [(zero, zero) for _ in cells]
    for x in xs:
        for scale, (h, c) in zip(cells, hidden):
            c.mul_(0.5).add_(scale * x)
    return torch.stack([c for _, c in hidden])
out = run([1.0, 10.0], torch.ones(3, 2))
want = torch.tensor([1.75, 17.5])
""",
    ),
    "one dict under every key": (
        "one-tensor-many-slots",
        """
ema = dict.fromkeys(["w", "b"], {"mean": torch.zeros(2)})
values = {"w": torch.ones(2), "b": 3 * torch.ones(2)}
for name, slot in ema.items():
    slot["mean"].mul_(0.9).add_(values[name], alpha=0.1)
shift = ema["w"]["mean"] - 0.1
""",
    ),
    "one object in every slot": (
        "one-tensor-many-slots",
        """
class Agent:
    def __init__(self): self.pos = torch.zeros(2)
agents = [Agent()] * 3
for k, agent in enumerate(agents):
    agent.pos += k
spread = torch.stack([a.pos for a in agents]).std(0)
""",
    ),
    "a part of what was kept, by a name that a line gave to it": (
        "one-tensor-many-slots",
        DRAWN,
    ),
    "a list of what a generator fills": (
        "one-tensor-many-slots",
        """
scratch = torch.zeros(3)
def read(lines):
    for line in lines:
        scratch.zero_()
        scratch[: len(line)] += torch.tensor(line)
        yield scratch
rows = list(read([[1.0], [2.0, 3.0], [4.0, 5.0, 6.0]]))
mean = torch.tensor([r.mean().item() for r in rows])
""",
    ),
    "a list of what an object gives": (
        "one-tensor-many-slots",
        """
class Batches:
    def __init__(self, data): self.data, self.buf = data, torch.zeros(2)
    def __iter__(self):
        for d in self.data:
            self.buf.copy_(d)
            yield self.buf
bs = list(Batches(torch.arange(6.0).view(3, 2)))
s = 0
for b in bs:
    s += b.sum().item()
""",
    ),
    "slots that a loop fills between its writes, by a statement of another form than most": (
        "one-tensor-many-slots",
        """
total = torch.zeros(2)
curve = []
for step in range(3):
    curve += [total]
    total += 1
sums = [each.sum().item() for each in curve]
""",
    ),
    "the same in an attribute": (
        "one-tensor-many-slots",
        """
class Walk:
    def __init__(self):
        self.at, self.path = torch.zeros(2), []
    def go(self):
        self.path += [self.at]
        self.at += 1
walk = Walk()
for step in range(3):
    walk.go()
sums = [each.sum().item() for each in walk.path]
""",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_told(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    code, program = FOUND[name]
    ran = told(loaded_shell, tmp_path, program)
    assert ran.plain is None
    assert ran.codes == [{code}, {code}]


HEALTHY = {
    "slots: words": """
words = ["a", "b", "a"]
table = {w: torch.zeros(1) for w in words}
rows = [table[w] for w in words]
for r in rows:
    r += 1
share = torch.cat(rows).max()
""",
    "slots: keys each": """
counts = {k: torch.zeros(2) for k in ("a", "b")}
counts["a"] += 1
counts["b"][0] = 5
""",
    "slots: label after": """
batch = {"ids": torch.tensor([3, 0, 4])}
batch["ids"][batch["ids"] == 0] = 9
batch["labels"] = batch["ids"]
n = (batch["labels"] == 9).sum() + (batch["ids"] == 9).sum()
""",
    "slots: said one": """
class Cache:
    def __init__(self, n):
        self.store = {"now": torch.zeros(n)}
        self.store["latest"] = self.store["now"]
    def push(self, v):
        self.store["now"].mul_(0.5).add_(v)
        return self.store["latest"].sum().item()
c = Cache(2)
got = [c.push(1.0), c.push(1.0)]
""",
    "slots: grid each": """
grid = [[torch.zeros(1) for _ in range(3)] for _ in range(2)]
grid[0][1] += 4
flat = torch.cat([c for row in grid for c in row])
""",
    "slots: route": """
a, b = torch.zeros(2), torch.zeros(2)
route = [a, b, a]
for stop in route:
    stop += 1
visits = torch.stack([a, b])
""",
    "slots: shared table": """
class Layer:
    def __init__(self, table): self.table = table
    def visit(self, i): self.table[i] += 1
table = torch.zeros(3)
layers = [Layer(table) for _ in range(3)]
for i, layer in enumerate(layers):
    layer.visit(i)
    layer.table += 1
got = layers[0].table.sum() + table.sum()
""",
    "what was kept: a copy": DRAWN.replace("(obs, 0.5)", "(obs.clone(), 0.5)"),
    "what was kept: only how many": """
class Memory:
    def __init__(self): self.kept = []
    def put(self, entry): self.kept.append(entry)
    def share(self, obs):
        count = len(self.kept)
        return obs.sum().item() / count
memory = Memory()
obs = torch.zeros(2)
for step in range(4):
    obs.copy_(torch.full((2,), float(step)))
    memory.put((obs, 0.5))
share = memory.share(obs)
""",
    "slots: read at once": """
buffers = [torch.zeros(2)] * 2
means = []
for k in range(4):
    buf = buffers[k % 2]
    buf.fill_(k)
    means.append(buf.mean().item())
""",
    "collected: clone": """
class Batches:
    def __init__(self, data): self.data, self.buf = data, torch.zeros(2)
    def __iter__(self):
        for d in self.data:
            self.buf.copy_(d)
            yield self.buf.clone()
bs = list(Batches(torch.arange(6.0).view(3, 2)))
s = 0
for b in bs:
    s += b.sum().item()
""",
    "collected: loop": """
class Batches:
    def __init__(self, data): self.data, self.buf = data, torch.zeros(2)
    def __iter__(self):
        for d in self.data:
            self.buf.copy_(d)
            yield self.buf
s = 0
for b in Batches(torch.arange(6.0).view(3, 2)):
    s += b.sum().item()
""",
    "collected: items": """
scratch = torch.zeros(3)
def read(lines):
    for line in lines:
        scratch.zero_()
        scratch[: len(line)] += torch.tensor(line)
        yield scratch.mean().item()
rows = list(read([[1.0], [2.0, 3.0], [4.0, 5.0, 6.0]]))
""",
    "collected: same on purpose": """
def warm(x, n):
    for _ in range(n): x.mul_(0.5)
    return (x, x)
pair = tuple(warm(torch.ones(2), 3))
got = [p.sum().item() for p in pair]
""",
    "slots: one key alone": """
counts = dict.fromkeys(["a", "b"], torch.zeros(2))
counts["a"] += 1
got = counts["a"].sum().item()
counts["b"] = torch.ones(2)
""",
    "slots: words index": """
words = ["a", "b", "a"]
table = {w: torch.zeros(1) for w in words}
rows = [table[w] for w in words]
for i in range(len(rows)):
    rows[i] += 1
share = torch.cat(rows).max()
""",
    "slots: words handed": """
def bump(rows):
    for r in rows:
        r += 1
    return torch.cat(rows)
words = ["a", "b", "a"]
table = {w: torch.zeros(1) for w in words}
got = bump([table[w] for w in words])
""",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_it_is_quiet_on(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    ran = told(loaded_shell, tmp_path, HEALTHY[name])
    assert ran.plain is None
    assert ran.alarms == [[], []]
