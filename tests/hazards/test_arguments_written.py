"""Functions that write their argument: told where the caller's old values were wanted, and silent where the function is
there to write it. Both are called the same way; what happened tells them apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from hazards.running import plainly, watched

WRONG = {
    "gives a new tensor": """
def standardise(x):
    x -= x.mean(0)
    return x / x.std(0)
z = standardise(data)
result = z.sum() + data.sum()
""",
    "gives a figure of what it overwrote": """
def loss(predicted, target):
    predicted.clamp_(-1, 1)
    return (predicted - target).square().mean()
error = loss(predicted=data, target=other)
result = error + data.sum()
""",
    "by a part of it": """
def energy(x):
    first = x[:, 0]
    first *= 2
    return first.square().sum()
e = energy(data)
result = e + data.sum()
""",
    "stretched by its own limits, each time that a sheet is made": """
def sheet(patches):
    low, high = float(patches.min()), patches.max().item()
    patches.sub_(low).div_(high - low + 1e-5)
    page = torch.ones(4, 3)
    for k in range(4):
        page[k] = patches[k]
    return page
album = []
for step in range(3):
    weight = torch.ones(3) + (data * 2).sum(0)
    album.append(sheet(data))
result = weight.sum() + album[0].sum()
""",
    "what it gives is printed": """
def capped(x):
    x[x > x.mean()] = 0.0
    return x
print(capped(data).sum())
result = (data * 3).sum()
""",
    "what it gives is put away": """
def without_first(x):
    x[0] = 0
    return x * 2
kept = []
kept.append(without_first(data))
result = kept[0].sum() + (data * 3).sum()
""",
    "a conversion that gave it back": """
def normalise(x):
    x = x.float()
    x.mul_(torch.rsqrt(x.square().mean()))
    return x * weight
def block(h):
    kept = h
    h = normalise(h)
    return kept + h
result = block(data).sum()
""",
    "its result got a second name": """
def score(logs):
    chances = logs.exp_()
    pick = chances.argmax(1)
    return logs.gather(1, pick[:, None])
result = score(data).sum()
""",
}
MEANT = {
    "an integrator that gives the energy": """
def step(position, velocity, dt):
    velocity -= position * dt
    position += velocity * dt
    return velocity.square().sum() + position.square().sum()
path = []
for _ in range(3):
    e = step(data, other, 0.1)
    path.append(data.clone())
""",
    "clipping that gives the norm": """
def clip(gradient, limit):
    norm = gradient.norm()
    gradient.mul_(limit / norm)
    return norm
norm = clip(data, 1.0)
moved = other - 0.1 * data
""",
    "a sweep that gives the change": """
def sweep(u, f):
    before = u.clone()
    u[1:-1] = 0.5 * (u[:-2] + u[2:] + f[1:-1])
    return (u - before).abs().max()
for _ in range(3):
    change = sweep(data, other)
total = data.sum()
""",
    "a statement of its own": """
def normalise(x):
    x -= x.mean()
    x /= x.std()
normalise(data)
total = data.sum()
""",
    "bound to the same name": """
def rows(m):
    m /= m.sum(1, keepdim=True)
    return m
def columns(m):
    m /= m.sum(0, keepdim=True)
    return m
for _ in range(3):
    data = columns(rows(data))
total = data.sum()
""",
    "one step after the other": """
actual = torch.clamp_(data, -1.0, 1.0)
assert actual.max() <= 1.0
actual = torch.clamp_max(data, 0.5)
total = actual.sum()
""",
    "one function in another, called for what they do": """
def capped(x):
    top = x.abs().max() / 2
    x[x > top] = 0.0
    return x
def halved(x):
    part = x[x > 0]
    part.mul_(0.5)
    x[x > 0] = part
    return x
halved(capped(data))
total = data.sum()
""",
    "a method of what a function gives, called for what it does": """
def capped(x):
    x[x > x.mean()] = 0.0
    return x
capped(data).mul_(2)
total = data.sum()
""",
    "stretched by its own limits, in a statement of its own": """
def stretch(x):
    low, high = x.min().item(), x.max().item()
    x.sub_(low).div_(high - low + 1e-5)
for _ in range(3):
    stretch(data)
total = data.sum()
""",
    "a state that moves by a number of its own": """
def moved(x):
    step = x.mean().item()
    x.add_(step)
    return float(step)
steps = [moved(data) for _ in range(3)]
total = data.sum()
""",
    "a cache": """
def attend(q, cache, n):
    cache[n] = q
    return (cache[: n + 1] @ q).softmax(0) @ cache[: n + 1]
outs = [attend(other[n], data, n) for n in range(3)]
total = data.mean()
""",
}
SETUP = """
data, other, weight = 3 * torch.randn(4, 3), torch.randn(4, 3), torch.ones(3)
"""


def in_a_function(program: str) -> str:
    lines = "\n".join(f"    {line}" for line in program.strip().splitlines())
    return f"def main(data, other):\n{lines}\nmain(data, other)\n"


@pytest.mark.parametrize("program", WRONG.values(), ids=WRONG)
def test_an_argument_that_the_caller_reads_on_is_told(program: str, tmp_path: Path) -> None:
    copied = program
    for handed in ("(data)", "predicted=data", "normalise(h)", "chances = logs"):
        copied = copied.replace(handed, handed.replace("data", "data.clone()").replace("h)", "h.clone())"))
    copied = copied.replace("logs.exp_()", "logs.exp()")
    results = [float(plainly(tmp_path, SETUP, each).names["result"]) for each in (program, copied)]
    assert results[0] != pytest.approx(results[1]), "PyTorch says nothing and is wrong"
    for text in (program, in_a_function(program)):
        assert {"alias-written", "argument-written"} & watched(tmp_path, SETUP, text).codes()


@pytest.mark.parametrize("program", MEANT.values(), ids=MEANT)
def test_an_argument_that_is_there_to_be_written_is_not(program: str, tmp_path: Path) -> None:
    for text in (program, in_a_function(program)):
        found = watched(tmp_path, SETUP, text).report.hazards
        assert [hazard.message for hazard in found if hazard.severity != "info"] == []


def test_the_read_that_is_told_is_one_of_values_and_no_view_of_another_part(tmp_path: Path) -> None:
    program = """
        def shown(image):
            image.mul_(2)
            return image.clamp(0, 1)
        batch, board = torch.rand(3, 4), []
        for k in range(2):
            board.append(shown(batch[k]))
        total = batch.sum()"""
    finding = watched(tmp_path, program).the("argument-written")
    assert finding.read is not None
    assert finding.read.text == "total = batch.sum()"
