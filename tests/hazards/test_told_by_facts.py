"""Rules that rest on the record alone: the bad program of each page is named at its line, in a file as in a cell, its
good one is quiet, and PyTorch by itself says nothing and gives other numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hazards.running import code_of, example, module_of, plainly, watched

from inplace_magic.hazards import RULES
from inplace_magic.hazards.handed import argument_written
from inplace_magic.hazards.shared import objects_share_state


@dataclass(frozen=True)
class Page:
    """What the two programs of a rule's page need, and what is expected of them."""

    rule: ModuleType | str
    """Its module, or its code."""
    setup: str
    blamed: tuple[str, ...]
    """The statements blamed in the bad program, in its order."""
    result: str
    """An expression over the program's names in which the bad and the good one differ."""
    tail: str = ""


PAGES = {
    code_of(page.rule): page
    for page in (
        Page(
            "view-overwritten-unread",
            "pool, i, image, sums = torch.arange(6.0).reshape(3, 2), 1, torch.full((2,), 9.0), []\n"
            "def train_on(x):\n    sums.append(x.sum().item())",
            ("pool[i] = image",),
            "sums",
        ),
        Page(
            "history-cut",
            "x, w = (torch.ones(3, requires_grad=True) for _ in range(2))\nh = x * 2\n"
            "def probe(t):\n    return t.sum()",
            ("aside = probe(h.detach_())",),
            "x.grad is None",
            "loss.backward()",
        ),
        Page(
            "gradient-edited-by-step",
            "w, importance = torch.full((2,), 3.0, requires_grad=True), torch.zeros(2)\n(w * w).sum().backward()",
            ("direction.add_(p, alpha=0.1)",),
            "round(importance.sum().item(), 3)",
        ),
        Page(
            argument_written,
            "weights = torch.arange(6.0)",
            ("weights /= weights.sum()",),
            "round(opacity.item(), 3)",
        ),
        Page(
            "lookup-shortened",
            "F, table, words = torch.nn.functional, torch.arange(1.0, 7.0).reshape(3, 2), torch.tensor([2])",
            ("rows = F.embedding(words, table, max_norm=1.0)",),
            "round(lengths[2].item(), 3)",
        ),
        Page(
            "kept-then-written",
            "losses, parts = [], [torch.tensor(4.0 * k) for k in range(3)]\n"
            "x, last = torch.tensor([5.0, 3.0, 1.0]), torch.tensor(1.0)",
            ("loss /= 4", "x -= last"),
            "(mean.item(), round(x[0].item(), 3))",
        ),
        Page(
            "joined-with-itself",
            "now, before, y = torch.zeros(2), torch.zeros(2), torch.ones(2)\n"
            "def rates(y, out):\n    out.copy_(y * 0.1)",
            ("out.copy_(y * 0.1)",),
            "round(y[0].item(), 4)",
        ),
        Page(
            "part-written",
            "tokens, size, UNKNOWN = torch.tensor([[1, 2], [3, 9]]), 5, 0\ndef embed(x):\n    return x * 2",
            ("newest[newest >= size] = UNKNOWN",),
            "text",
        ),
        Page(
            "out-outgrown",
            "table, i, record = torch.ones(3, 4), 1, torch.full((6,), 2.0)",
            ("torch.square(record, out=table[i])",),
            "table[2].tolist()",
        ),
        Page(
            objects_share_state,
            "import copy\nx, y = torch.ones(2), torch.ones(2)\nclass Meter:\n    def __init__(self):\n"
            "        self.count = torch.zeros(2)\n    def update(self, x):\n        self.count += x\nmeter = Meter()",
            ("self.count += x",),
            "meter.count.sum().item()",
        ),
        Page(
            "index-repeats",
            "count, labels = torch.zeros(10), torch.tensor([1, 1, 2])\n"
            "grad, rows, step = torch.zeros(3), torch.tensor([0, 0]), torch.ones(2)",
            ("count[labels] += 1", "grad[rows] = grad[rows] + step"),
            "(count[1].item(), grad[0].item())",
        ),
        Page(
            "values-cut-off",
            "values, n = torch.tensor([0.0, 0.5]), torch.tensor(8)\nindex = torch.zeros(2, dtype=torch.long)",
            ("mean[0] = values.mean()",),
            "mean[0].item()",
        ),
        Page(
            "overwritten-unread",
            "vectors, model = torch.ones(4, 2), nn.Module()\n"
            "model.emb, model.out = nn.Embedding(4, 2), nn.Linear(2, 2)\n"
            "def init_weights(layer):\n    if hasattr(layer, 'weight'):\n        nn.init.normal_(layer.weight)\n"
            "layers = [nn.Linear(2, 2), nn.Linear(2, 1)]\nhead = layers[1]",
            ("nn.init.normal_(layer.weight)", "nn.init.zeros_(layer.bias)"),
            "(model.emb.weight.sum().item() == 8, head.bias.item())",
            "out = layers[0](model.emb(torch.tensor([1]))) + head.bias + model.out.weight.sum()",
        ),
        Page(
            "result-thrown-away",
            "scores, padding = torch.ones(3), torch.tensor([False, True, True])",
            ("scores.masked_fill(padding, -1e9)",),
            "scores.sum().item()",
            "chances = scores.softmax(0)",
        ),
        Page(
            "source-in-order",
            "filled, gaps, estimate = torch.zeros(4), torch.tensor([False, True, False, True]), torch.arange(4.0)",
            ("filled.masked_scatter_(gaps, estimate)",),
            "filled.tolist()",
        ),
        Page(
            "frozen-but-moved",
            "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1, momentum=0.9)\n"
            "w.sum().backward()\nopt.step()",
            ("opt.step()",),
            "w[0].item()",
        ),
        Page(
            "kept-gradient-added-to",
            "log, w = [], torch.ones(3, requires_grad=True)",
            ("(k * Noted.apply(w)).sum().backward()",),
            "torch.stack(log).sum().item()",
            "for k in (1.0, 2.0, 4.0):\n    (k * Noted.apply(w)).sum().backward()\nkept = torch.stack(log)",
        ),
        Page(
            "gradient-not-renewed",
            "local, shared = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)\n"
            "batches, opt = [1.0, 10.0], torch.optim.SGD([shared], lr=1)",
            ("opt.step()",),
            "shared[0].item()",
        ),
        Page(
            "updated-again",
            "from torch.utils.checkpoint import checkpoint\nnet, seen = nn.Linear(2, 2), torch.zeros(())\n"
            "x = torch.randn(3, 2, requires_grad=True)",
            ("seen.add_(len(x))",),
            "seen.item()",
        ),
        Page(
            "rebound-lost",
            "model = nn.Linear(2, 1)\naverages = [torch.zeros_like(p) for p in model.parameters()]",
            ("p = average.detach()",),
            "all((p == 0).all().item() for p in model.parameters())",
            "out = model(torch.ones(1, 2))",
        ),
        Page(
            "gradient-not-cleared",
            "model, batches = nn.Linear(2, 1), [torch.ones(1, 2)] * 3\n"
            "opt = torch.optim.SGD(model.parameters(), lr=1)\nnn.init.zeros_(model.bias)\n"
            "w, rows = torch.ones(3, requires_grad=True), []\ny = w * w",
            ("model(x).sum().backward()", "y[k].backward(retain_graph=True)"),
            "(model.bias.item(), rows[2].sum().item())",
        ),
        Page(
            "gradient-scaled-early",
            "w, parts = torch.ones(2, requires_grad=True), [1.0, 2.0]\ndef loss(part):\n    return (w * part).sum()",
            ("w.grad /= len(parts)",),
            "w.grad[0].item()",
            "with torch.no_grad():\n    w -= 0.1 * w.grad",
        ),
        Page(
            "step-without-gradients",
            "model, x, checkpoint = nn.Linear(2, 1), torch.ones(1, 2), nn.Linear(2, 1).state_dict()\n"
            "w = torch.ones(2, requires_grad=True)\nsgd = torch.optim.SGD([w], lr=1)\n"
            "maker, code, layer = nn.Linear(3, 2), torch.ones(1, 3), nn.Linear(2, 1)\n"
            "optimizer_of_the_maker = torch.optim.SGD(maker.parameters(), lr=1)",
            ("layer.weight = nn.Parameter(maker(code))", "opt.step()", "sgd.zero_grad()"),
            "(torch.equal(model.bias, checkpoint['bias']), w[0].item(), round(maker.weight.sum().item(), 4))",
        ),
        Page(
            "buffer-gathered",
            "import numpy as np\nframe = np.zeros(3, dtype=np.float32)",
            ("frame[:] = value",),
            "video[:, 0].tolist()",
        ),
        Page(
            "row-overwritten-first",
            "x, order = torch.arange(4.0), [2, 0, 1, 3]",
            ("x[i] = x[j]",),
            "x.tolist()",
        ),
        Page(
            "out-is-input",
            "step, state = torch.arange(9.0).reshape(3, 3), torch.ones(3)",
            ("torch.mv(step, state, out=state)",),
            "state.tolist()",
        ),
        Page(
            "taken-memory-trained",
            "from torch.nn.utils import parameters_to_vector, vector_to_parameters\nmodel = nn.Linear(2, 1)\n"
            "rates, x = [0.1, 0.2], torch.ones(4, 2)\nstart = parameters_to_vector(model.parameters()).detach()\n"
            "first = start.clone()\ndef fit(model, rate):\n"
            "    opt = torch.optim.SGD(model.parameters(), lr=rate)\n    model(x).sum().backward()\n    opt.step()\n"
            "    model.zero_grad()",
            ("opt.step()",),
            "torch.equal(start, first)",
        ),
    )
}


@pytest.mark.parametrize("name", PAGES)
def test_the_bad_program_is_named_at_its_lines(name: str, tmp_path: Path) -> None:
    page = PAGES[name]
    ran = watched(tmp_path, page.setup, example(page.rule, "Bad"), page.tail)
    assert ran.error is None
    found = [finding for finding in ran.report.hazards if finding.code == code_of(page.rule)]
    assert [ran.at(finding.mutation) for finding in sorted(found, key=lambda finding: finding.call or 0)] == [
        *page.blamed
    ]
    assert all(finding.severity in ("silent", "warning") and finding.fix for finding in found)


@pytest.mark.parametrize("name", PAGES)
def test_the_good_program_is_quiet(name: str, tmp_path: Path) -> None:
    page = PAGES[name]
    ran = watched(tmp_path, page.setup, example(page.rule, "Good"), page.tail)
    assert ran.error is None
    assert {finding.code for finding in ran.report.hazards if finding.severity != "info"} == set()


@pytest.mark.parametrize("name", PAGES)
def test_pytorch_by_itself_says_nothing_and_gives_other_numbers(name: str, tmp_path: Path) -> None:
    page = PAGES[name]

    def result(title: str) -> Any:
        ran = plainly(tmp_path, "torch.manual_seed(0)", page.setup, example(page.rule, title), page.tail)
        assert ran.error is None
        return eval(page.result, dict(ran.names))

    assert result("Bad") != result("Good")


def test_every_rule_of_these_families_has_its_page_run_here_or_in_a_file_beside() -> None:
    families = ("gradients", "handed", "dead", "overlap", "twice", "shared", "stale")
    known = {rule.name for rule in RULES if module_of(rule).split(".")[2] in families}
    known -= {"history-missed", "class-attribute-written"}  # tests/of_paddle; test_class_attribute_written.py
    beside = [file for file in Path(__file__).parent.glob("test_*.py") if file.name != Path(__file__).name]
    texts = "\n".join(file.read_text(encoding="utf-8") for file in beside)
    told = r"\b{module}(\"?: \(| as rule)|Page\(\s+{module},|\"{name}\""
    assert {
        name
        for name in known - PAGES.keys()
        if not re.search(told.format(module=name.replace("-", "_"), name=name), texts)
    } == set()
    assert PAGES.keys() <= known


SHALLOW = """
from dataclasses import dataclass, replace
@dataclass
class State:
    speed: torch.Tensor
    time: float = 0.0
def future(state, kick):
    branch = {copied}
    branch{speed}.mul_(1 + kick)
    return branch{speed}
now = State(torch.ones(2) * 3){unpacked}
ends = [future(now, kick).clone() for kick in (1.0, 0.5)]
"""


@pytest.mark.parametrize(
    ("copied", "speed", "unpacked"),
    [
        ("replace(state, time=1.0)", ".speed", ""),
        ("copy.copy(state)", ".speed", ""),
        ("dict(state)", '["speed"]', ".__dict__"),
        ("{{**state}}", '["speed"]', ".__dict__"),
    ],
)
def test_an_entry_of_a_shallow_copy_that_is_written_is_the_originals(
    tmp_path: Path, copied: str, speed: str, unpacked: str
) -> None:
    program = SHALLOW.format(copied=copied.format(), speed=speed, unpacked=unpacked)
    assert plainly(tmp_path, program).names["ends"][1].tolist() == [9.0, 9.0], "PyTorch alone goes on from the first"
    finding = watched(tmp_path, program).the(objects_share_state.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == f"branch{speed}.mul_(1 + kick)"
    names = ("state", "now")  # from Python 3.12 on a comprehension is no function, and its reads are the module's
    assert any(f"`{name}{speed}`" in finding.message for name in names)


def test_a_helper_that_binds_its_parameter_anew_cuts_off_its_callers_tensor(tmp_path: Path) -> None:
    program = """
    def judged(made):
        made = made.detach_()
        return made.sum()
    w, x = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    made = w * 2
    aside = judged(made)
    (made * x).sum().backward()
    """
    assert plainly(tmp_path, program).names["w"].grad is None, "PyTorch alone gives no error"
    finding = watched(tmp_path, program).the("history-cut")
    assert finding.mutation is not None
    assert finding.mutation.statement == "made = made.detach_()"
