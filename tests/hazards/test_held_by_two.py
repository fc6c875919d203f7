"""Two objects of one class around one tensor: written by way of one, and read by way of the other. Each as a cell and
as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

from inplace_magic.hazards.shared import copy_shares_parameters, objects_share_state

WRONG = {
    "nodes that a method copies around the old tensors": (
        """
        class Node:
            def __init__(self, tensor, name):
                self.tensor, self.name = tensor, name
            def copy(self):
                return Node(self.tensor, self.name)
        def normalised(chain):
            nodes = [node.copy() for node in chain]
            for node in nodes:
                node.tensor /= node.tensor.norm()
            return nodes
        def scale(chain):
            product = torch.stack([node.tensor.sum() for node in normalised(chain)]).prod()
            return product * torch.stack([node.tensor.norm() for node in chain]).prod()
        chain = [Node(torch.full((4,), 2.0), k) for k in range(3)]
        wrong = scale(chain).item() == 8.0
        """,
        "node.tensor /= node.tensor.norm()",
    ),
    "a dict that is copied, all of whose entries a helper moves": (
        """
        def moved(params, step):
            out = dict(params)
            for name, value in out.items():
                value.add_(step)
            return out
        def total(params):
            return params["w"].sum() + params["b"].sum()
        def slope(params):
            up, down = total(moved(params, 0.5)), total(moved(params, -0.5))
            return (up - down).item()
        wrong = slope({"w": torch.zeros(3), "b": torch.zeros(1)}) == 2.0
        """,
        "value.add_(step)",
    ),
    "a list that is copied, whose tensors are projected against those of the first": (
        """
        def projected(rows):
            found = list(rows)
            for i, row in enumerate(found):
                for j, other in enumerate(rows):
                    if i != j:
                        row -= (row @ other) / (other @ other) * other
            return torch.stack(found)
        rows = projected([torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0])])
        wrong = rows[1].tolist() != [0.0, 1.0] or rows[0].tolist() == [0.5, -0.5]
        """,
        "row -= (row @ other) / (other @ other) * other",
    ),
    "a dict of live tensors that is handed out anew in each step": (
        """
        class Room:
            def __init__(self):
                self.state = {"warmth": torch.zeros(2)}
            def step(self, by):
                warmth = self.state["warmth"]
                warmth += by
                return dict(self.state)
        def rise(room):
            seen, before = [], room.step(1.0)
            for by in (2.0, 3.0):
                after = room.step(by)
                seen.append(before["warmth"].sum().item())
                before = after
            return seen
        wrong = rise(Room()) == [6.0, 12.0]
        """,
        "warmth += by",
    ),
}

HEALTHY = {
    "layers that share a cache by a name": """
        class Layer:
            def __init__(self, cache):
                self.cache = cache
            def run(self, x):
                self.cache += x
                return self.cache.sum()
        cache = torch.zeros(3)
        layers = [Layer(cache) for _ in range(2)]
        seen = [layer.run(torch.ones(3)).item() for layer in layers]
        """,
    "layers that share what their net made": """
        class Layer:
            def __init__(self, memory):
                self.memory = memory
            def run(self, x):
                self.memory.mul_(0.5).add_(x)
                return self.memory.sum()
        class Net:
            def __init__(self):
                self.memory = torch.zeros(3)
                self.layers = [Layer(self.memory), Layer(self.memory)]
            def run(self, x):
                return torch.stack([layer.run(x) for layer in self.layers])
        seen = Net().run(torch.ones(3))
        """,
    "a table that a constructor hands on beside its own size": """
        class Coder:
            def __init__(self, size, table=None):
                self.size = size
                self.table = torch.zeros(size) if table is None else table
            def learn(self, x):
                self.table += x
            def read(self, x):
                return (self.table * x).sum()
        def run():
            first = Coder(3)
            second = Coder(3, first.table)
            first.learn(torch.ones(3))
            return second.read(torch.ones(3))
        seen = run().item()
        """,
    "a table that is tied by a statement": """
        class Coder:
            def __init__(self):
                self.table = torch.zeros(3)
        def run():
            first, second = Coder(), Coder()
            second.table = first.table
            first.table += 1.0
            return second.table.sum()
        seen = run().item()
        """,
    "a state that each step takes over in a new object": """
        from dataclasses import dataclass, replace
        @dataclass
        class State:
            place: torch.Tensor
            speed: torch.Tensor
            time: int = 0
        def step(state):
            new = replace(state, time=state.time + 1)
            new.place += 0.1 * new.speed
            return new
        def run(state):
            for _ in range(5):
                state = step(state)
                shown = state.place.sum().item()
            return shown
        seen = run(State(torch.zeros(2), torch.ones(2)))
        """,
    "a live dict that is read before the next step": """
        class Room:
            def __init__(self):
                self.state = {"warmth": torch.zeros(2)}
            def step(self, by):
                self.state["warmth"] += by
                return dict(self.state)
        def rise(room):
            return [room.step(by)["warmth"].sum().item() for by in (1.0, 2.0, 3.0)]
        seen = rise(Room())
        """,
    "a batch that is normalised in its copy, of which only the size is asked again": """
        def prepared(batch):
            ready = {key: value.to("cpu") for key, value in batch.items()}
            ready["image"].sub_(0.5)
            return ready
        def run(batches):
            total, count = 0.0, 0
            for batch in batches:
                total += prepared(batch)["image"].sum().item()
                count += batch["image"].shape[0]
            return total / count
        seen = run([{"image": torch.ones(4)} for _ in range(3)])
        """,
    "an object around another one's tensor": """
        class Inner:
            def __init__(self):
                self.value = torch.zeros(2)
        class Outer:
            def __init__(self, inner):
                self.value, self.inner = inner.value, inner
            def move(self):
                self.value += 1.0
                return self.inner.value.sum()
        seen = Outer(Inner()).move().item()
        """,
    "a copied list whose tensors nobody reads by the old one": """
        def summed(rows):
            found = list(rows)
            for row in found:
                row *= 2.0
            return torch.stack(found).sum()
        seen = summed([torch.ones(2), torch.ones(2)]).item()
        """,
    "copies with tensors of their own": """
        import copy
        class Node:
            def __init__(self, tensor):
                self.tensor = tensor
        def run(nodes):
            others = copy.deepcopy(nodes)
            for node in others:
                node.tensor /= node.tensor.norm()
            return torch.stack([node.tensor.norm() for node in nodes])
        seen = run([Node(torch.ones(4)), Node(torch.ones(4))])
        """,
}


@pytest.mark.parametrize("program", WRONG)
def test_what_is_written_by_way_of_a_copy_and_read_by_way_of_the_original(
    loaded_shell: Any, tmp_path: Path, program: str
) -> None:
    source, line = WRONG[program]
    ran = told(loaded_shell, tmp_path, source)
    assert ran.names["wrong"], "PyTorch alone reads what was written"
    for report in ran.reports:
        found = [each for each in report.hazards if each.code == objects_share_state.CODE]
        assert found, report.to_text()
        assert {each.mutation.statement for each in found if each.mutation is not None} == {line}


@pytest.mark.parametrize("program", HEALTHY)
def test_what_is_meant_to_be_in_both_is_no_finding(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    assert told(loaded_shell, tmp_path, HEALTHY[program]).alarms == [[], []]


def test_a_copy_of_the_copy_before_is_no_second_holder_though_its_dict_may_get_the_place_of_a_dead_one(
    loaded_shell: Any, tmp_path: Path
) -> None:
    program = """
    def step(state):
        new = dict(state)
        new["place"] += 0.1 * new["speed"]
        return new
    def run(state):
        for _ in range(6):
            state = step(state)
            shown = (state["place"] * state["speed"]).sum().item()
        return shown
    seen = run({"place": torch.zeros(2), "speed": torch.ones(2)})
    """
    found = told(loaded_shell, tmp_path, program).alarms
    assert [[code for code, _line in each if code == objects_share_state.CODE] for each in found] == [[], []]


AGENT = """
    nn = torch.nn
    class Agent:
        def __init__(self, critic):
            self.critic = critic.to("cpu")
            self.lagged = LAGGED
            self.optimizer = torch.optim.SGD(self.critic.parameters(), lr=0.1)
        def learn(self, x):
            with torch.no_grad():
                goal = 1.0 + 0.9 * self.lagged(x)
            loss = (self.critic(x) - goal).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            with torch.no_grad():
                for slow, fast in zip(self.lagged.parameters(), self.critic.parameters()):
                    slow.copy_(0.9 * slow + 0.1 * fast)
    agent = Agent(nn.Linear(2, 1))
    for _ in range(3):
        agent.learn(torch.ones(4, 2))
    wrong = agent.lagged is agent.critic
    """


def test_two_attributes_that_a_constructor_gave_one_network_are_one(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, AGENT.replace("LAGGED", 'critic.to("cpu")'))
    assert ran.names["wrong"], "Module.to gives the module itself"
    assert ran.blamed(copy_shares_parameters.CODE) == {"self.optimizer.step()"}


def test_a_copy_of_a_network_follows_it_slowly(loaded_shell: Any, tmp_path: Path) -> None:
    copied = AGENT.replace("LAGGED", "nn.Linear(2, 1)")
    assert told(loaded_shell, tmp_path, copied).alarms == [[], []]


METER = """
    class Meter:
        def __init__(self):
            self.defaults = {}
        def add(self, name, value):
            self.defaults[name] = value
            setattr(self, name, value.clone())
        def reset(self):
            for name, value in self.defaults.items():
                setattr(self, name, GIVEN)
    class Recall(Meter):
        def __init__(self):
            super().__init__()
            self.add("found", torch.zeros(2))
        def update(self, hits):
            self.found += hits
    meter, seen = Recall(), []
    for _ in range(3):
        meter.update(torch.ones(2))
        seen.append(meter.found.sum().item())
        meter.reset()
    """


def test_a_default_that_is_handed_out_as_a_copy_is_none(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, METER.replace("GIVEN", "value.clone()"))
    assert ran.names["seen"] == [2.0, 2.0, 2.0]
    assert ran.alarms == [[], []]


def test_an_attribute_for_one_of_several_totals_is_none(loaded_shell: Any, tmp_path: Path) -> None:
    program = """
    class Totals:
        def __init__(self):
            self.totals = {"left": torch.zeros(2), "right": torch.zeros(2)}
            self.current = torch.zeros(2)
        def count(self, x):
            self.current += x
    totals = Totals()
    totals.count(torch.ones(2))
    for name in ("left", "right", "left"):
        totals.current = totals.totals[name]
        totals.count(torch.ones(2))
    sums = [total.sum().item() for total in totals.totals.values()]
    """
    assert told(loaded_shell, tmp_path, program).alarms == [[], []]
