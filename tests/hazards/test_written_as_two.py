"""One tensor in two places, written by both as if it were two: whatever the places are, and however it got there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import example

from inplace_magic.hazards.shared import written_as_two
from inplace_magic.hazards.shared import written_as_two as rule

CODE = written_as_two.CODE

BEGUN = {
    "names that a call gives": ("def begin():\n    z = torch.zeros(2)\n    return z, z\na, b = begin()", "a", "b"),
    "names of one tuple": ("z = torch.zeros(2)\na, b = z, z", "a", "b"),
    "names of a list that repeats": ("a, b = [torch.zeros(2)] * 2", "a", "b"),
    "names of one assignment": ("a = b = torch.zeros(2)", "a", "b"),
    "attributes": ("class S: pass\ns = S()\ns.a = s.b = torch.zeros(2)", "s.a", "s.b"),
    "slots": ("class S:\n    __slots__ = ('a', 'b')\ns = S()\nz = torch.zeros(2)\ns.a, s.b = z, z", "s.a", "s.b"),
    "entries of a dict": ('z = torch.zeros(2)\ns = {"a": z, "b": z}', 's["a"]', 's["b"]'),
    "fields of a named tuple": (
        'from collections import namedtuple\nState = namedtuple("State", "a b")\ns = State(*[torch.zeros(2)] * 2)',
        *("s.a", "s.b"),
    ),
    "fields of a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass S:\n    a: object\n    b: object\n"
        "s = S(*[torch.zeros(2)] * 2)",
        *("s.a", "s.b"),
    ),
    "buffers": (
        'z = torch.zeros(2)\ns = nn.Module()\ns.register_buffer("a", z)\ns.register_buffer("b", z)',
        *("s.a", "s.b"),
    ),
}
WRITTEN = {
    "methods": ("{a}.add_(1)", "{b}.mul_(2)  # here"),
    "augmented assignments": ("{a} += 1", "{b} -= 2  # here"),
    "elements": ("{a}[0] = 1.0", "{b}[0] += 1  # here"),
    "out": ("torch.add({a}, 1, out={a})", "torch.mul({b}, 2, out={b})  # here"),
    "a copy of the other's": ("{a} += 1", "{b}.copy_({a}.tanh())  # here"),
    "functions": ("add({a})", "double({b})"),
}
HELPERS = """
def add(x):
    x.add_(1)
def double(x):
    x *= 2  # here
"""


def _program(begun: tuple[str, str, str], written: tuple[str, str]) -> str:
    start, a, b = begun
    named = "namedtuple" in start and "+=" in "".join(written)
    first, second = (line.format(a=a, b=b) for line in (WRITTEN["methods"] if named else written))
    return f"{HELPERS}{start}\nfor _ in range(2):\n    {first}\n    {second}\nprint({a}, {b})\n"


@pytest.mark.parametrize("begun", BEGUN)
def test_one_tensor_in_two_places_is_told_whatever_the_places_are(
    begun: str, loaded_shell: Any, tmp_path: Path
) -> None:
    _is_told(loaded_shell, tmp_path, _program(BEGUN[begun], WRITTEN["methods"]))


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("begun", ["names of one tuple", "attributes"])
def test_one_tensor_in_two_places_is_told_however_it_is_written(
    begun: str, written: str, loaded_shell: Any, tmp_path: Path
) -> None:
    _is_told(loaded_shell, tmp_path, _program(BEGUN[begun], WRITTEN[written]))


IN_FUNCTIONS = {
    "an optimizer's state": """
class Descent(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["m"] = state["v"] = torch.zeros_like(p)
                m, v = state["m"], state["v"]
                m.mul_(0.9).add_(p.grad, alpha=0.1)
                v.mul_(0.99).addcmul_(p.grad, p.grad, value=0.01)  # here
                p.addcdiv_(m, v.sqrt() + 1e-8, value=-0.1)
w = torch.ones(3, requires_grad=True)
w.sum().backward()
Descent([w]).step()
""",
    "a closure": """
def make(n):
    total = square = torch.zeros(n)
    def update(x):
        total.add_(x)
        square.add_(x * x)  # here
    return update
make(2)(torch.ones(2))
""",
    "names of the module": """
HITS = MISSES = torch.zeros(3)
def count(hit):
    HITS.add_(hit)
    MISSES.add_(1 - hit)  # here
count(torch.ones(3))
""",
    "two methods": """
class Rate:
    def __init__(self, n):
        zeros = torch.zeros(n)
        self.hits, self.all = zeros, zeros
    def hit(self):
        self.hits += 1
    def seen(self):
        self.all += 1  # here
rate = Rate(2)
rate.hit()
rate.seen()
""",
}


@pytest.mark.parametrize("where", IN_FUNCTIONS)
def test_one_tensor_in_two_places_is_told_in_functions(where: str, loaded_shell: Any, tmp_path: Path) -> None:
    _is_told(loaded_shell, tmp_path, IN_FUNCTIONS[where])


QUIET = {
    "two buffers change places": """
class Life:
    def __init__(self):
        self.now, self.next = torch.ones(3), torch.zeros(3)
    def step(self):
        self.next.copy_(self.now)
        self.next.mul_(0.5)
        self.now += 1
        self.now, self.next = self.next, self.now
life = Life()
for _ in range(4):
    life.step()
""",
    "two names change places": """
now, following = torch.ones(3), torch.zeros(3)
for _ in range(4):
    following.copy_(now).mul_(0.5)
    now += 1
    now, following = following, now
""",
    "another form of the same memory": """
def make(n):
    flat = torch.zeros(n * n)
    return flat, flat.view(n, n)
flat, grid = make(3)
flat[0] += 1
grid[1, 1] += 2
flat *= 2
grid += 1
""",
    "a statement says that they are one": """
class Node:
    def __init__(self, value):
        self.value = value
        self.data = self.value
    def count(self):
        self.value += 1
    def scale(self):
        self.data *= 2
node = Node(torch.ones(2))
node.count()
node.scale()
""",
    "memory to work in": """
class Work:
    def __init__(self, n):
        self.sums = self.products = torch.empty(n)
    def add(self, x):
        torch.add(x, 1, out=self.sums)
        self.sums.mul_(2)
        return self.sums.sum()
    def multiply(self, x):
        self.products.copy_(x)
        self.products.mul_(3)
        return self.products.sum()
work = Work(3)
for _ in range(3):
    work.add(torch.ones(3))
    work.multiply(torch.ones(3))
""",
    "one of a product with itself": """
import itertools
places = [torch.ones(2), torch.zeros(2)]
for one, other in itertools.product(places, places):
    force = (other - one) * 0.1
    one += force
    other -= force
""",
    "one of the two is bound anew": """
def begin():
    zeros = torch.zeros(2)
    return zeros, zeros
a, b = begin()
a = a + 1
a += 1
b += 2
""",
    "one of the two is only read": """
def reset():
    frame = torch.zeros(4)
    return frame, frame
frame, shown = reset()
frame[0] += 1
print(shown.sum())
""",
    "two tensors": """
def begin():
    return torch.zeros(2), torch.zeros(2)
a, b = begin()
a += 1
b += 2
""",
    "tied weights": """
one, other = nn.Linear(2, 2), nn.Linear(2, 2)
one.weight = other.weight
with torch.no_grad():
    one.weight.mul_(2)
    other.weight.add_(1)
""",
}


@pytest.mark.parametrize("program", QUIET)
def test_what_is_one_on_purpose_or_two_is_quiet(program: str, loaded_shell: Any, tmp_path: Path) -> None:
    found = told(loaded_shell, tmp_path, QUIET[program])
    assert found.alarms == [[], []], [report.to_text() for report in found.reports]


def test_the_card_names_both_places_and_both_lines(loaded_shell: Any, tmp_path: Path) -> None:
    for hazard in told(loaded_shell, tmp_path, IN_FUNCTIONS["two methods"]).the(CODE):
        assert "`self.all`" in hazard.message
        assert "`self.hits`" in hazard.message
        assert [site.text for site in hazard.mutations] == ["self.hits += 1", "self.all += 1  # here"]
        assert hazard.origin is not None
        assert hazard.origin.text == "zeros = torch.zeros(n)"


def _is_told(shell: Any, folder: Path, program: str) -> None:
    found = told(shell, folder, program)
    for report in found.reports:
        known = [each for each in report.hazards if each.code in (CODE, "alias-written", "one-tensor-many-slots")]
        writes = [{each.mutation, *each.mutations, each.read} for each in known]
        blamed = [any(site is not None and site.text.endswith("# here") for site in sites) for sites in writes]
        assert blamed == [True], report.to_text()


def test_the_page_is_true(loaded_shell: Any, tmp_path: Path) -> None:
    setup, rest = "forget, new = torch.full((3,), 0.5), torch.ones(3)\n", "\nprint(hidden, cell)\n"
    bad = example(rule, "Bad")
    good = example(rule, "Good") + bad[bad.index("\n\nhidden") :]
    told(loaded_shell, tmp_path, setup + bad + rest).the(CODE)
    assert told(loaded_shell, tmp_path, setup + good + rest).alarms == [[], []]
