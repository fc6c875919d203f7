"""A best row that is kept as a view, and a part under a name that a function writes and hands back: as a cell and as a
file, with healthy programs that look like them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

WRONG = {
    "the best row so far, kept under a name": (
        """
        def search(x, rounds):
            least, best = torch.tensor(torch.inf), x[0].clone()
            for k in range(rounds):
                cost = x.square().sum(dim=1)
                i = cost.argmin()
                if cost[i] < least:
                    least = cost[i]
                    best = x[i]
                x += 0.1 * (k + 1)
            return best.square().sum() - least
        wrong = abs(float(search(torch.arange(-4.0, 4.0).reshape(4, 2), 5))) > 1e-6
        """,
        "kept-then-written",
        "x += 0.1 * (k + 1)",
    ),
    "the best row so far, kept by an object with a number": (
        """
        class Search:
            def __init__(self, x):
                self.x, self.least = x, float("inf")
            def look(self):
                gain = -self.x.abs().sum(dim=1)
                i = gain.argmax()
                if -gain[i].item() < self.least:
                    self.least = -gain[i].item()
                    self.best = self.x[i]
            def move(self):
                self.x.mul_(1.5)
            def run(self, rounds):
                for _ in range(rounds):
                    self.look()
                    self.move()
                return self.best.abs().sum().item()
        search = Search(torch.tensor([[1.0, 2.0], [0.5, 0.5], [3.0, 1.0]]))
        wrong = abs(search.run(4) - search.least) > 1e-6
        """,
        "kept-then-written",
        "self.x.mul_(1.5)",
    ),
    "a named part that a method scales and gives back": (
        """
        class Scale:
            def fit(self, x):
                self.size = x.abs().max()
                return self
            def apply(self, x):
                x /= self.size
                return x
        def errors(x, folds):
            found, size = [], len(x) // folds
            for k in range(folds):
                rest = torch.cat([x[:k * size], x[(k + 1) * size:]])
                part = x[k * size:(k + 1) * size]
                scale = Scale().fit(rest)
                found.append(scale.apply(part).mean())
            return torch.stack(found)
        found = errors(torch.tensor([8.0, 1.0, 3.0, 4.0, 2.0, 6.0]), 3)
        wrong = abs(float(found[1]) - 3.5 / 8) > 1e-6
        """,
        "part-written",
        "x /= self.size",
    ),
}

HEALTHY = {
    "a best row that is copied": """
        def search(x, rounds):
            least, best = torch.tensor(torch.inf), x[0].clone()
            for k in range(rounds):
                cost = x.square().sum(dim=1)
                i = cost.argmin()
                if cost[i] < least:
                    least = cost[i]
                    best = x[i].clone()
                x += 0.1 * (k + 1)
            return best.square().sum() - least
        wrong = abs(float(search(torch.arange(-4.0, 4.0).reshape(4, 2), 5))) > 1e-6
        """,
    "a best row of points that are bound anew": """
        def search(x, rounds):
            least, best = torch.tensor(torch.inf), x[0]
            for k in range(rounds):
                cost = x.square().sum(dim=1)
                i = cost.argmin()
                if cost[i] < least:
                    least = cost[i]
                    best = x[i]
                x = x + 0.1 * (k + 1)
            return best.square().sum() - least
        wrong = abs(float(search(torch.arange(-4.0, 4.0).reshape(4, 2), 5))) > 1e-6
        """,
    "a leader that is followed as it moves": """
        def follow(x, speed, rounds):
            lead = x[speed.norm(dim=1).argmax()]
            for _ in range(rounds):
                x += 0.1 * speed
                speed *= lead.norm() / (1 + lead.norm())
            return lead
        x = torch.arange(6.0).reshape(3, 2)
        lead = follow(x, torch.ones(3, 2), 4)
        wrong = float(lead.sum()) <= 1.0
        """,
    "the hardest row, tried again after a change of all": """
        def gain(x):
            cost = x.square().sum(dim=1)
            i = cost.argmax()
            row, before = x[i], cost[i]
            x *= 0.5
            return before - row.square().sum()
        wrong = abs(float(gain(torch.ones(3, 2))) - 1.5) > 1e-6
        """,
    "a view of the longest part of a work space": """
        class Pool:
            def __init__(self):
                self.memory, self.length = torch.zeros(8), 0
                self.view = self.memory[:0]
            def fill(self, values):
                n = torch.tensor(len(values))
                if n > self.length:
                    self.length = n
                    self.view = self.memory[:n]
                self.memory[:len(values)] = values
                return self.view.sum().item()
        pool = Pool()
        wrong = [pool.fill(torch.ones(k)) for k in (2, 3, 3)] != [2.0, 3.0, 3.0]
        """,
    "named parts of a copy": """
        def halve(x):
            x /= 2
            return x
        def middle(x):
            found = []
            for k in range(3):
                part = x[[2 * k, 2 * k + 1]]
                found.append(halve(part).mean())
            return torch.stack(found), x.sum()
        x = torch.arange(6.0)
        wrong = float(middle(x)[1]) != 15.0
        """,
    "a row of a state that each pass moves on": """
        def relax(cell, by):
            cell *= by
            return cell
        def run(grid, rounds):
            sums = []
            for _ in range(rounds):
                for k in range(len(grid)):
                    cell = grid[k]
                    sums.append(relax(cell, 0.5).sum().item())
            return grid.sum().item(), sums
        wrong = run(torch.ones(3, 2), 2)[0] != 1.5
        """,
    "a part whose name the result takes": """
        def scale(x):
            x /= x.max()
            return x
        def columns(table):
            for k in range(table.shape[1]):
                column = table[:, k]
                column = scale(column)
            return table.sum()
        wrong = float(columns(torch.tensor([[1.0, 2.0], [2.0, 4.0]]))) != 3.0
        """,
}


@pytest.mark.parametrize("program", WRONG)
def test_what_was_kept_or_taken_moves_with_the_whole(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    source, code, line = WRONG[program]
    ran = told(loaded_shell, tmp_path, source)
    assert ran.names["wrong"], "PyTorch alone reads what was written"
    assert ran.blamed(code) == {line}


@pytest.mark.parametrize("program", HEALTHY)
def test_what_looks_like_it_and_is_meant_is_no_finding(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    ran = told(loaded_shell, tmp_path, HEALTHY[program])
    assert not ran.names["wrong"], "the program is healthy by PyTorch alone"
    assert ran.alarms == [[], []]
