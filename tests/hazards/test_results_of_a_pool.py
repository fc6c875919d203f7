"""Two results of a pool that are one tensor are told in whatever function they are read, and only where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import plainly, watched

from inplace_magic.hazards.stale import results_share_memory

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
BANDS = (
    POOL
    + """
        def bands(x, pool):
            gentle = smooth(x, pool)
            broad = smooth(gentle, pool)
            slow = smooth(broad, pool)
            return torch.stack([x - gentle, gentle - broad, broad - slow, slow])
        found = [bands(x, Pool(SIZE)) for x in torch.arange(8.0).reshape(2, 4)]
        """
)


def test_a_pool_that_is_too_small_gives_two_names_one_tensor(tmp_path: Path) -> None:
    small, large = BANDS.replace("SIZE", "2"), BANDS.replace("SIZE", "3")
    found = plainly(tmp_path, small).names["found"][0]
    assert found[0].tolist() != [-1.5, 0.5, 0.5, 0.5], "PyTorch alone gives another first band than `x - gentle`"
    finding = watched(tmp_path, small).the(results_share_memory.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == "out.copy_((x + x.roll(1)) / 2)"
    assert "`gentle` and `slow` are one tensor" in finding.message
    assert watched(tmp_path, large).codes() == set()


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
