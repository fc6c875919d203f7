"""What a function kept by a tensor's identity is told as old where the tensor was written since, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import plainly, watched

from inplace_magic.hazards.stale import cache_outdated
from inplace_magic.source.memos import keys_of
from inplace_magic.source.text import text_of

BY_ID = """
    class Pooling:
        def __init__(self):
            self.kept = {}
        def index(self, offsets):
            key = KEY
            if key not in self.kept:
                lengths = offsets.diff()
                self.kept[key] = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
            return self.kept[key]
        def __call__(self, values, offsets):
            index = self.index(offsets)
            return torch.zeros(len(offsets) - 1).index_add(0, index, values) / offsets.diff()
    offsets, pooling, means = torch.tensor([0, 0, 4]), Pooling(), []
    for length in (1, 3):
        offsets[1] = length
        means.append(pooling(torch.arange(4.0), offsets))
    """


def test_a_dictionary_by_id_gives_what_was_computed_of_older_values(tmp_path: Path) -> None:
    program = BY_ID.replace("KEY", "id(offsets)")
    assert plainly(tmp_path, program).names["means"][1].tolist() == [0.0, 6.0], "PyTorch alone sorts by the old lengths"
    finding = watched(tmp_path, program).the(cache_outdated.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == "offsets[1] = length"
    assert "`index`" in finding.message
    assert watched(tmp_path, BY_ID.replace("KEY", "(id(offsets), offsets._version)")).codes() == set()


def test_a_result_that_a_method_keeps_beside_what_it_was_computed_of_is_told(tmp_path: Path) -> None:
    program = """
    class Scaled:
        def __init__(self):
            self.seen = None
        def __call__(self, x):
            if x is not self.seen:
                self.seen, self.scale = x, x.abs().max() * 2
            return x / self.scale
    x, scaled, shares = torch.zeros(2), Scaled(), []
    for size in (1.0, 5.0):
        x[0] = size
        shares.append(scaled(x))
    """
    assert plainly(tmp_path, program).names["shares"][1].tolist() == [2.5, 0.0]
    finding = watched(tmp_path, program).the(cache_outdated.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == "x[0] = size"


HEALTHY = {
    "a tensor that nobody writes": """
        @lru_cache
        def lengths(cells):
            return cells.square().sum(1)
        cells = torch.rand(3, 2)
        for colour in torch.rand(4, 2):
            gaps = lengths(cells) - 2 * cells @ colour
        """,
    "a cache that is cleared after the write": """
        @lru_cache
        def lengths(cells):
            return cells.square().sum(1)
        cells = torch.rand(3, 2)
        for colour in torch.rand(4, 2):
            gaps = lengths(cells) - 2 * cells @ colour
            cells += 0.1
            lengths.cache_clear()
        """,
    "what depends on a shape alone": """
        @lru_cache
        def places(cells):
            return torch.arange(len(cells)) + torch.zeros_like(cells[:, 0])
        cells = torch.rand(3, 2)
        for colour in torch.rand(4, 2):
            gaps = places(cells) - 2 * cells @ colour
            cells += 0.1
        """,
    "a scale that is taken of the first batch": """
        class Scaled:
            def __init__(self):
                self.scale = None
            def first(self, x):
                if self.scale is None:
                    self.scale = x.abs().max() + 1
                return self.scale
        x, scaled = torch.zeros(2), Scaled()
        for size in (1.0, 5.0):
            x[0] = size
            shares = x / scaled.first(x)
        """,
    "how far parameters went from where they began": """
        class Drift:
            def __init__(self):
                self.norms = {}
            def start(self, p):
                if p not in self.norms:
                    self.norms[p] = p.detach().norm()
                return self.norms[p]
        w, drift = torch.ones(2, requires_grad=True), Drift()
        for step in range(3):
            loss = (w * w).sum()
            loss.backward()
            with torch.no_grad():
                share = w.norm() / drift.start(w)
                w -= 0.1 * w.grad
            w.grad = None
        """,
    "a copy that is kept to measure how far a tensor moved": """
        kept = {}
        def start(x):
            if x not in kept:
                kept[x] = x.clone()
            return kept[x]
        x = torch.zeros(2)
        for step in range(3):
            moved = (x - start(x)).norm()
            x += 1
        """,
    "values that are put back before the function is asked again": """
        @lru_cache
        def total(x):
            return x.sum() * 2
        x, slopes = torch.ones(2), []
        for step in range(3):
            middle = total(x) - x[0]
            x += 1.0
            above = x.sum() * 2
            x -= 1.0
            slopes.append(above - middle)
        """,
    "a state that a function keeps and moves on": """
        kept = {}
        def moment(x):
            if x not in kept:
                kept[x] = x * 0.1
            kept[x] *= 0.9
            return kept[x]
        x = torch.ones(2)
        for step in range(3):
            x -= moment(x) * x
        """,
}


@pytest.mark.parametrize("program", [pytest.param(text, id=name) for name, text in HEALTHY.items()])
def test_a_healthy_look_alike_gives_no_alarm(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    found = told(loaded_shell, tmp_path, "\n        from functools import lru_cache" + program)
    assert found.plain is None
    assert found.alarms == [[], []], [report.to_text() for report in found.reports]


def test_a_key_by_values_is_none_by_identity() -> None:
    lines = """
def by_values(x):
    key = tuple(x.tolist())
    if key not in kept:
        kept[key] = x.sum()
    return kept[key]
def by_place(x):
    if x.data_ptr() not in kept:
        kept[x.data_ptr()] = x.sum()
    return kept[x.data_ptr()]
"""
    text = text_of(tuple(lines.splitlines()))
    assert (keys_of(text, "by_values"), keys_of(text, "by_place")) == (frozenset(), {"x"})
