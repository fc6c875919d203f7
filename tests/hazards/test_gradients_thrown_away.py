"""Gradients that should add up and are cleared before the step, by whatever line; and what looks alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import example, plainly, watched
from hazards.trained import DATA

CODE = "gradients-thrown-away"

PAGE = """
w, batches = torch.ones(2, requires_grad=True), torch.rand(8, 2)
opt = torch.optim.SGD([w], lr=0.1)
def loss_of(x):
    return (w * x).square().sum()
"""
MODEL = """
model = network()
params = list(model.parameters())
opt = torch.optim.SGD(params, lr=0.1, momentum=0.9)
"""
LOOP = """
for i, (x, y) in enumerate(data):
    {cleared}
    (loss_of(model(x), y) / 3).backward()
    {between}
    if i % 3 == 2:
        opt.step()
        {after}
"""


def loop(cleared: str, *, between: str = "", after: str = "") -> str:
    return MODEL + LOOP.format(cleared=cleared, between=between, after=after)


EACH = "for p in params:\n        "
FOUND = {
    "the optimizer drops them": loop("opt.zero_grad()  # here"),
    "the optimizer makes them zero": loop("opt.zero_grad(set_to_none=False)  # here"),
    "the module drops them": loop("model.zero_grad()  # here"),
    "each one is dropped": loop(f"{EACH}p.grad = None  # here"),
    "each one is filled with zeros": loop(f"{EACH}if p.grad is not None: p.grad.zero_()  # here"),
    "they are cleared after the step as well": loop("opt.zero_grad()  # here", after="opt.zero_grad()"),
    "they are cleared right after backward, but for the last": loop(
        "pass", between="if i % 3 < 2: opt.zero_grad()  # here", after="opt.zero_grad()"
    ),
    "only the last piece clears, before its backward": loop("if i % 3 == 2: opt.zero_grad()  # here"),
    "steps of many tensors at once": loop("opt.zero_grad()  # here").replace("momentum=0.9", "foreach=True"),
    "fused steps": loop("opt.zero_grad()  # here").replace("SGD", "Adam").replace("momentum=0.9", "fused=True"),
    "a step of one's own": loop("model.zero_grad()  # here").replace(
        "opt.step()", "torch._foreach_add_([p.data for p in params], [p.grad for p in params], alpha=-0.1)"
    ),
    "clipped before the step": loop("opt.zero_grad()  # here").replace(
        "opt.step()", "nn.utils.clip_grad_norm_(params, 1.0)\n        opt.step()"
    ),
    "a number of batches that is no multiple": MODEL
    + """
for epoch in range(4):
    for i, (x, y) in enumerate(data[:8]):
        opt.zero_grad()  # here
        (loss_of(model(x), y) / 3).backward()
        if (i + 1) % 3 == 0:
            opt.step()
""",
    "two networks in one loop, of which one is right": MODEL
    + """
head = nn.Linear(3, 1)
other = torch.optim.SGD(head.parameters(), lr=0.1)
for i, (x, y) in enumerate(data):
    opt.zero_grad()  # here
    loss_of(model(x), y).backward()
    loss_of(head(x), y).backward()
    if i % 2:
        opt.step()
        other.step()
        other.zero_grad()
""",
    "a counter that goes on over the epochs, each of which begins with a clearing": MODEL
    + """
seen = 0
for epoch in range(6):
    opt.zero_grad()  # here
    for x, y in data[:5]:
        (loss_of(model(x), y) / 3).backward()
        seen += 1
        if seen % 3 == 0:
            opt.step()
            opt.zero_grad()
""",
    "a clearing before each evaluation": MODEL
    + """
def evaluated():
    model.zero_grad(set_to_none=False)  # here
    with torch.no_grad():
        return sum(loss_of(model(x), y).item() for x, y in data)
for i in range(24):
    x, y = data[i % len(data)]
    (loss_of(model(x), y) / 4).backward()
    if i % 4 == 3:
        opt.step()
        opt.zero_grad(set_to_none=False)
    if i in (5, 13):
        print(evaluated())
""",
    "methods of a trainer": """
class Trainer:
    def __init__(self):
        self.model, self.seen = network(), 0
        self.optimizer = torch.optim.AdamW(self.model.parameters())
    def begin(self):
        self.optimizer.zero_grad()  # here
    def end(self):
        self.seen += 1
        if self.seen % 4 == 0:
            self.optimizer.step()
    def fit(self, data):
        for x, y in data:
            self.begin()
            loss_of(self.model(x), y).backward()
            self.end()
Trainer().fit(data)
""",
}


@pytest.mark.parametrize("name", FOUND)
def test_gradients_cleared_before_their_step_are_told_at_the_line_that_clears(
    name: str, loaded_shell: Any, tmp_path: Path
) -> None:
    found = told(loaded_shell, tmp_path, DATA + FOUND[name])
    (blamed,) = (line.strip() for line in FOUND[name].splitlines() if line.endswith("# here"))
    assert found.alarms == [[(CODE, blamed)]] * 2, [each.to_text() for each in found.reports]


CLEARED = "opt.zero_grad()"
QUIET = {
    "gradients that add up": loop("pass", after=CLEARED),
    "a step for each of them": loop(CLEARED).replace("i % 3 == 2", "True"),
    "norms that are shown": loop(CLEARED, between="print(params[0].grad.norm())"),
    "norms that are shown before they are made zero": loop(
        "opt.zero_grad(set_to_none=False)", between="nn.utils.clip_grad_norm_(params, 1.0)"
    ),
    "gradients that are kept": "kept = []\n" + loop(CLEARED, between="kept.append([p.grad for p in params])"),
    "gradients that a hook sees": loop(CLEARED).replace(
        "opt =", "seen = []\nparams[0].register_hook(lambda g: seen.append(g))\nopt ="
    ),
    "gradients that a hook of the leaf sees": loop(CLEARED).replace(
        "opt =",
        "params[0].register_post_accumulate_grad_hook(lambda p: print(p.grad.norm()))\nopt =",
    ),
    "an image whose gradient is read": loop(
        CLEARED + "\n    x = x.clone().requires_grad_()", between="print((x + 0.1 * x.grad.sign()).sum())"
    ),
    "no steps at all": loop(CLEARED).replace("opt.step()", "pass"),
    "a bad batch that is skipped": MODEL
    + """
for i, (x, y) in enumerate(data):
    opt.zero_grad()
    loss_of(model(x), y).backward()
    if i in (3, 4, 8):
        continue
    opt.step()
""",
    "batches to warm up with": MODEL
    + """
for i, (x, y) in enumerate(data):
    opt.zero_grad()
    loss_of(model(x), y).backward()
    if i >= 4:
        opt.step()
""",
    "a backward that is timed at another line": MODEL
    + """
for x, y in data:
    for _ in range(2):
        loss_of(model(x), y).backward()
        opt.zero_grad()
    loss_of(model(x), y).backward()
    opt.step()
    opt.zero_grad()
""",
    "a judge that the maker's loss goes through": """
maker, judge = nn.Linear(3, 3), nn.Linear(3, 1)
opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (maker, judge)]
for i, (x, y) in enumerate(data):
    opts[0].zero_grad()
    loss_of(judge(maker(x)), y).backward()
    opts[0].step()
    opts[1].zero_grad()
    loss_of(judge(maker(x).detach()), 1 - y).backward()
    opts[1].step()
""",
    "optimizers that take turns": MODEL
    + """
opts = [torch.optim.SGD(part.parameters(), lr=0.1) for part in (model[0], model[2])]
for i, (x, y) in enumerate(data):
    model.zero_grad()
    loss_of(model(x), y).backward()
    opts[i % 2].step()
""",
    "a closure that is run several times": """
model = network()
opt = torch.optim.LBFGS(model.parameters(), max_iter=4)
for x, y in data[:3]:
    def closure():
        opt.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        return loss
    opt.step(closure)
""",
    "a step that looks ahead": MODEL
    + """
for x, y in data:
    loss_of(model(x), y).backward()
    with torch.no_grad():
        ahead = [0.05 * p.grad for p in params]
        for p, e in zip(params, ahead):
            p.add_(e)
    opt.zero_grad()
    loss_of(model(x), y).backward()
    with torch.no_grad():
        for p, e in zip(params, ahead):
            p.sub_(e)
    opt.step()
    opt.zero_grad()
""",
    "a step left out where the scaled gradients overflow": MODEL
    + """
scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
for i, (x, y) in enumerate(data):
    opt.zero_grad()
    loss = loss_of(model(x), y) * (float("inf") if i % 2 else 1.0)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
""",
    "epochs that begin with a clearing, after the last batches have made a step": MODEL
    + """
for epoch in range(6):
    opt.zero_grad()
    for i, (x, y) in enumerate(data[:5]):
        (loss_of(model(x), y) / 3).backward()
        if i % 3 == 2 or i == 4:
            opt.step()
            opt.zero_grad()
""",
    "last batches that are dropped": MODEL
    + """
for epoch in range(6):
    opt.zero_grad()
    for i, (x, y) in enumerate(data[:5]):
        (loss_of(model(x), y) / 3).backward()
        if i % 3 == 2:
            opt.step()
            opt.zero_grad()
""",
    "gradients that are looked at and cleared now and then": MODEL
    + """
for i in range(24):
    x, y = data[i % len(data)]
    (loss_of(model(x), y) / 4).backward()
    if i in (5, 13):
        print(sum(p.grad.norm() for p in params))
        opt.zero_grad()
    if i % 4 == 3:
        opt.step()
        opt.zero_grad()
""",
    "a single step, by which nothing is known to go on so": MODEL
    + """
for x, y in data[:2]:
    opt.zero_grad()
    loss_of(model(x), y).backward()
opt.step()
""",
}


@pytest.mark.parametrize("name", QUIET)
def test_what_looks_alike_is_quiet(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    found = told(loaded_shell, tmp_path, DATA + QUIET[name])
    assert found.plain is None
    assert found.alarms == [[], []], [each.to_text() for each in found.reports]


def test_the_bad_program_is_named_at_its_line_and_the_good_one_is_quiet(tmp_path: Path) -> None:
    bad, good = (watched(tmp_path, PAGE, example(CODE, title)) for title in ("Bad", "Good"))
    assert (bad.error, good.error) == (None, None)
    finding = bad.the(CODE)
    assert finding.mutation is not None
    assert finding.mutation.text.startswith("opt.zero_grad()")
    assert "3 times for each step" in finding.message
    assert not any(each.is_alarm for each in good.report.hazards)


def test_pytorch_by_itself_says_nothing_and_gives_other_numbers(tmp_path: Path) -> None:
    bad, good = (plainly(tmp_path, "torch.manual_seed(0)", PAGE, example(CODE, title)) for title in ("Bad", "Good"))
    assert (bad.error, good.error) == (None, None)
    assert bad.names["w"].tolist() != good.names["w"].tolist()


def test_the_line_that_clears_moves_to_below_the_step(loaded_shell: Any, tmp_path: Path) -> None:
    found = told(loaded_shell, tmp_path, DATA + loop("opt.zero_grad()  # here"))
    for each in found.the(CODE):
        lines = [line.strip() for line in each.diff.splitlines()]
        assert next(line for line in lines if line.startswith("-")).endswith("opt.zero_grad()  # here")
        assert [line.replace(" ", "") for line in lines[-2:]] == ["+opt.step()", "+opt.zero_grad()"]


def test_a_line_that_clears_in_another_function_stays(loaded_shell: Any, tmp_path: Path) -> None:
    found = told(loaded_shell, tmp_path, DATA + FOUND["methods of a trainer"])
    assert [each.diff for each in found.the(CODE)] == ["", ""]
