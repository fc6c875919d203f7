"""One memory that is given or stored several times: by views, by sparse tensors, and by one object in many slots. Each
as a cell and as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

from inplace_magic.hazards.handed import argument_written
from inplace_magic.hazards.shared import one_tensor_many_slots

WRONG = {
    "a view of one buffer that each run returns": (
        """
        class Sensor:
            def __init__(self):
                self.buffer = torch.zeros(8)
            def read(self, k):
                self.buffer[:4] = float(k)
                return self.buffer[:4]
        def run(sensor):
            rows = [sensor.read(k) for k in range(3)]
            return [row.sum().item() for row in rows]
        wrong = run(Sensor()) == [8.0, 8.0, 8.0]
        """,
        "kept-then-written",
        "self.buffer[:4] = float(k)",
    ),
    "the values of a sparse argument that was coalesced already": (
        """
        def shares(visits):
            visits = visits.coalesce()
            visits.values().div_(visits.values().sum())
            return torch.sparse.sum(visits, dim=1).to_dense()
        def report(visits):
            found = shares(visits)
            return found, torch.sparse.sum(visits).item()
        found, count = report(torch.tensor([[0.0, 3.0], [1.0, 0.0]]).to_sparse())
        wrong = count == 1.0
        """,
        argument_written.CODE,
        "visits.values().div_(visits.values().sum())",
    ),
    "one object that is stored for each of its states": (
        """
        class Cloud:
            def __init__(self, place):
                self.place = place
        def moved(cloud, by):
            cloud.place += by
            return cloud
        def length(cloud):
            return cloud.place.sum().item()
        def enlarged(cloud, copies):
            found = []
            for k in range(copies):
                found.append(moved(cloud, float(k)))
            return found
        found = enlarged(Cloud(torch.zeros(2)), 3)
        wrong = [length(cloud) for cloud in found] == [6.0, 6.0, 6.0]
        """,
        one_tensor_many_slots.CODE,
        "cloud.place += by",
    ),
    "a list within a dict": (
        """
        def train(steps):
            log, rate = {"rate": [], "loss": []}, torch.ones(())
            for step in range(steps):
                log["rate"].append(rate)
                log["loss"].append(1.0 / (step + 1))
                rate *= 0.5
            return log
        log = train(3)
        wrong = [float(rate) for rate in log["rate"]] == [0.125, 0.125, 0.125]
        """,
        one_tensor_many_slots.CODE,
        "rate *= 0.5",
    ),
}

HEALTHY = {
    "a view of one buffer that is read before the next": """
        class Sensor:
            def __init__(self):
                self.buffer = torch.zeros(8)
            def read(self, k):
                self.buffer[:4] = float(k)
                return self.buffer[:4]
        sensor, rows = Sensor(), []
        for k in range(3):
            row = sensor.read(k)
            rows.append(row.sum())
        last = sensor.read(7)
        total = last.sum() + torch.stack(rows).sum()
        """,
    "other rows of one buffer": """
        class Pool:
            def __init__(self):
                self.buffer, self.turn = torch.zeros(3, 4), 0
            def take(self, x):
                row = self.buffer[self.turn]
                self.turn += 1
                row.copy_(x)
                return row
        pool = Pool()
        rows = [pool.take(torch.full((4,), float(k))) for k in range(3)]
        sums = [row.sum().item() for row in rows]
        """,
    "sparse tensors with values of their own": """
        class Counter:
            def __init__(self):
                self.places, self.values = torch.tensor([[0, 1], [1, 0]]), torch.zeros(2)
            def hour(self, k):
                self.values.fill_(float(k))
                return torch.sparse_coo_tensor(self.places, self.values.clone(), (2, 2), check_invariants=True)
        counter = Counter()
        hours = [counter.hour(k) for k in range(3)]
        sums = [torch.sparse.sum(hour).item() for hour in hours]
        """,
    "a sparse matrix that is normalised once, where it was made": """
        def network(links):
            matrix = links.to_sparse()
            matrix.values().div_(matrix.values().sum())
            return matrix
        matrix, x = network(torch.tensor([[0.0, 3.0], [1.0, 0.0]])), torch.ones(2, 1)
        for _ in range(3):
            x = torch.sparse.mm(matrix, x)
        """,
    "one object in many slots that nobody writes": """
        class Cloud:
            def __init__(self, place):
                self.place = place
        cloud = Cloud(torch.ones(2))
        clouds = [cloud] * 3
        sums = [each.place.sum().item() for each in clouds]
        """,
    "layers that share their weights": """
        nn = torch.nn
        layers = nn.ModuleList([nn.Linear(2, 2)] * 3)
        optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
        for _ in range(2):
            x = torch.ones(1, 2)
            for layer in layers:
                x = layer(x)
            optimizer.zero_grad()
            x.sum().backward()
            optimizer.step()
        """,
}


@pytest.mark.parametrize("program", WRONG)
def test_what_was_given_is_overwritten_before_it_is_read(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    source, code, line = WRONG[program]
    ran = told(loaded_shell, tmp_path, source)
    assert ran.names["wrong"], "PyTorch alone reads what was written"
    assert ran.blamed(code) == {line}


@pytest.mark.parametrize("program", HEALTHY)
def test_what_looks_like_it_and_is_meant_is_no_finding(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    assert told(loaded_shell, tmp_path, HEALTHY[program]).alarms == [[], []]
