"""Results of a pool of buffers that are used up in time are no finding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

POOL = """
        class Pool:
            def __init__(self, size):
                self.blocks, self.turn = [torch.empty(4) for _ in range(size)], 0
            def take(self):
                self.turn += 1
                return self.blocks[self.turn % len(self.blocks)]
        def smooth(x, pool):
            out = pool.take()
            out.copy_((x + x.roll(1)) / 2)
            return out
        """

HEALTHY = {
    "a result of which a copy is kept": """
        def bands(x, pool):
            gentle = smooth(x, pool).clone()
            slow = smooth(smooth(gentle, pool), pool)
            return x - gentle + slow
        found = bands(torch.arange(4.0), Pool(1))
        """,
    "a result that was used up before the next one": """
        def rounds(x, pool):
            first = smooth(x, pool)
            total = first.sum()
            second = smooth(x * 2, pool)
            return total + second.sum()
        found = rounds(torch.arange(4.0), Pool(1))
        """,
    "a state that a second function moves on": """
        def moved(state, by):
            state += by
            return state
        def path(state):
            begun = moved(state, 1.0)
            ended = moved(begun, 2.0)
            return (begun * ended).sum()
        found = path(torch.zeros(4))
        """,
    "two buffers in turn, each read before its next turn": """
        ring, sums, before = [torch.empty(4) for _ in range(2)], [], None
        for k, frame in enumerate(torch.arange(24.0).reshape(6, 4)):
            ring[k % 2].copy_(frame)
            sums.append(ring[k % 2].sum())
        """,
    "the latest frame of a camera that nobody waits for": """
        ring, shown = [torch.empty(4) for _ in range(2)], []
        for k, frame in enumerate(torch.arange(24.0).reshape(6, 4)):
            ring[k % 2].copy_(frame)
            if k % 3 == 2:
                shown.append(ring[k % 2].sum())
        """,
    "weights that follow others, and are looked at in the end": """
        followers, leaders = [torch.zeros(2) for _ in range(2)], [torch.rand(2) for _ in range(2)]
        for epoch in range(3):
            for follower, leader in zip(followers, leaders):
                follower.copy_(leader * epoch)
        norms = [follower.norm() for follower in followers]
        """,
    "one name for all results": """
        def rounds(x, pool):
            totals = []
            for scale in (1.0, 2.0):
                out = smooth(x * scale, pool)
                totals.append(out.sum())
            return torch.stack(totals)
        found = rounds(torch.arange(4.0), Pool(1))
        """,
}


@pytest.mark.parametrize("program", [pytest.param(text, id=name) for name, text in HEALTHY.items()])
def test_a_healthy_look_alike_gives_no_alarm(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    found = told(loaded_shell, tmp_path, POOL + program)
    assert found.plain is None
    assert found.alarms == [[], []], [report.to_text() for report in found.reports]
