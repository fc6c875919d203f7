"""Memory of which a part was never filled, and that is computed with; and what looks alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import example, watched

CODE = "memory-not-filled"

BOXES = "boxes = torch.rand(4, 4)\n"
FOUND = {
    "two of four columns": """
def corners(boxes):
    out = torch.empty_like(boxes)  # here
    out[..., 0] = boxes[..., 0] - boxes[..., 2] / 2
    out[..., 1] = boxes[..., 1] - boxes[..., 3] / 2
    return out
c = corners(boxes)
print(c[:, 0] + c[:, 2])
""",
    "a loop that ends one row early": """
steps = torch.empty(6, 2)  # here
for k in range(5):
    steps[k] = torch.full((2,), float(k))
print(steps.mean())
""",
    "rows that are filled by way of a view": """
steps = boxes.new_empty(3, 2)  # here
for k in range(2):
    steps[k].fill_(1.0)
loss = steps.sum()
""",
    "every second element": """
signal = torch.empty(8)  # here
signal[::2].copy_(torch.ones(4))
print(signal.norm())
""",
    "a halo whose last cell is forgotten": """
grid = torch.empty(6)  # here
grid[1:-1] = torch.ones(4)
grid[0] = 0.0
slope = grid[2:] - grid[:-2]
edge = grid[-1] - grid[-2]
""",
    "a buffer of an object that is not full yet": """
class Window:
    def __init__(self):
        self.seen, self.at = torch.empty(5), 0  # here
    def add(self, value):
        self.seen[self.at] = value
        self.at += 1
window = Window()
for k in range(3):
    window.add(float(k))
print(window.seen.mean())
""",
    "parts in the order of the memory": """
both = torch.empty((4, 3), dtype=torch.float64)  # here
both[:, :2] = 1.0
shifted = both[:, 2] + 1
""",
}


@pytest.mark.parametrize("name", FOUND)
def test_what_nobody_filled_is_told_at_the_line_that_took_the_memory(
    name: str, loaded_shell: Any, tmp_path: Path
) -> None:
    found = told(loaded_shell, tmp_path, BOXES + FOUND[name])
    (blamed,) = (line.strip() for line in FOUND[name].splitlines() if line.endswith("# here"))
    assert found.alarms == [[(CODE, blamed)]] * 2, [each.to_text() for each in found.reports]


QUIET = {
    "all columns": """
out = torch.empty_like(boxes)
for k in range(4):
    out[..., k] = boxes[..., k]
print(out.sum(), out[:, 0] + out[:, 2])
""",
    "a copy of all before": """
out = torch.empty_like(boxes)
out.copy_(boxes)
out[:, 0] = 1.0
print(out.sum(), out[:, 0] + out[:, 2])
""",
    "only what is filled is read": """
seen = torch.empty(6)
for t in range(4):
    seen[t] = float(t)
    print(seen[: t + 1].sum(), seen[t] + seen[0])
""",
    "two masks": """
out, low = torch.empty(4), boxes[:, 0] < 0.5
out[low] = 0.0
out[~low] = 1.0
print(out.sum())
""",
    "rows by their numbers": """
out = torch.empty(4)
out[0] = 1.0
out.index_copy_(0, torch.tensor([1, 2, 3]), torch.ones(3))
print(out.sum())
""",
    "a list of places": """
out = torch.empty(4)
out[0] = 1.0
out[[1, 2, 3]] = 2.0
print(out.sum())
""",
    "a part as out": """
out = torch.empty(4)
out[:2] = 1.0
torch.add(boxes[:2, 0], 1, out=out[2:])
print(out.sum())
""",
    "the array of it is filled": """
out = torch.empty(4)
out[0] = 1.0
out.numpy()[1:] = 2.0
print(out.sum())
""",
    "a view that is written elsewhere": """
import ctypes
out = torch.empty(4)
out[0] = 1.0
ctypes.memset(out[1:].data_ptr(), 0, 12)
print(out.sum())
""",
    "a mask takes it out": """
out, kept = torch.empty(4), torch.tensor([True, True, False, False])
out[:2] = 1.0
print(torch.where(kept, out, 0.0).sum(), out.masked_fill(~kept, 0.0).sum(), out[kept].sum())
""",
    "rows that are padded and masked later": """
padded = torch.empty(2, 3)
padded[0, :3], padded[1, :2] = boxes[0, :3], boxes[1, :2]
kept = torch.tensor([[True, True, True], [True, True, False]])
print((padded + 1).masked_fill(~kept, 0.0).sum(), padded.sum(dim=1)[:1])
""",
    "parameters that are initialised part by part": """
w = nn.Parameter(torch.empty(4, 2))
nn.init.zeros_(w[:1])
nn.init.normal_(w[1:])
w.sum().backward()
""",
    "layers of the library": """
net = nn.Sequential(nn.Embedding(5, 4, padding_idx=0), nn.LSTM(4, 4, batch_first=True))
attention = nn.MultiheadAttention(4, 2)
x = net(torch.tensor([[0, 1, 2]]))[0]
attention(x, x, x)[0].sum().backward()
print(attention.in_proj_weight.sum(), net[0].weight.sum())
""",
    "loaded afterwards": """
net = nn.Linear(3, 3)
with torch.no_grad():
    net.weight = nn.Parameter(torch.empty(3, 3))
    net.weight[0] = 0.0
net.load_state_dict(nn.Linear(3, 3).state_dict())
print(net.weight.sum())
""",
    "nothing was filled, as in a benchmark": """
a, b = torch.empty(4, 4), torch.empty(4, 4)
a + b, a.sum()
""",
    "no elements": """
nothing = torch.empty(0, 3)
nothing[:, 0] = 1.0
print(nothing.sum())
""",
    "memory of its size alone": """
out = torch.empty(4)
out[:2] = 1.0
like = torch.zeros_like(out)
print(like.sum(), out.shape)
""",
}


@pytest.mark.parametrize("name", QUIET)
def test_what_looks_alike_is_quiet(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    found = told(loaded_shell, tmp_path, BOXES + QUIET[name])
    assert found.plain is None
    assert CODE not in {code for alarms in found.alarms for code, _ in alarms}, [
        each.to_text() for each in found.reports
    ]


def test_the_bad_program_is_named_at_its_line_and_the_good_one_is_quiet(tmp_path: Path) -> None:
    bad, good = (watched(tmp_path, BOXES, example(CODE, title)) for title in ("Bad", "Good"))
    assert (bad.error, good.error) == (None, None)
    finding = bad.the(CODE)
    assert finding.mutation is not None
    assert finding.mutation.text == "corners = torch.empty_like(boxes)"
    assert "4 elements of `corners`" in finding.message
    assert not any(each.is_alarm for each in good.report.hazards)
