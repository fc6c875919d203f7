"""Under ``torchrun`` each rank watches itself, and one report comes out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from forking.starting import python
from ranks import programs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="torchrun with gloo is tested on Linux")


def ran(folder: Path, program: str, ranks: int, *ours: str, by: str = "") -> subprocess.CompletedProcess[str]:
    """What ``torchrun program.py`` does.

    Args:
        folder: where to.
        program: the text of a file there.
        ranks: how many.
        ours: words for the watch, if it shall be on.
        by: a Python for the launcher and the ranks, where they may not be forked.
    """
    by = by or python()
    (folder / "train.py").write_text(program, encoding="utf-8")
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks))
    settings = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "TMPDIR": str(folder),
        "PYTHON_EXEC": by,
        "FORKED_FROM": "torch.distributed",
    }
    return subprocess.run(
        [by, *launcher, *ours, "train.py"],
        capture_output=True,
        text=True,
        cwd=folder,
        env=settings,
        timeout=300,
        check=False,
    )


UNDER_US = ("-m", "inplace_magic")


def told(stderr: str) -> list[str]:
    """The lines that we begin."""
    return [line for line in stderr.splitlines() if line.startswith("inplace_magic:")]


def tracebacks(stderr: str) -> set[str]:
    """The last lines of the ranks' own tracebacks."""
    return set(re.findall(r"^\[rank\d\]: (?:RuntimeError|File).*$", stderr, re.M))


def test_ranks_that_fail_alike_are_told_once_and_each_keeps_its_own_page(tmp_path: Path) -> None:
    plain = ran(tmp_path, programs.FAILING, 2)
    watched = ran(tmp_path, programs.FAILING, 2, *UNDER_US, "--save", "report.json", by=sys.executable)
    assert watched.returncode == plain.returncode == 1
    assert tracebacks(plain.stderr) <= tracebacks(watched.stderr) != set()
    assert "inplace_magic: ranks 0–1:" in told(watched.stderr)
    assert watched.stderr.count("Finding 1:") == 1
    assert "`probs` was overwritten by `probs *= 2` (train.py:11, in `Net.forward`" in watched.stderr
    assert sorted(path.name for path in tmp_path.glob("report*")) == ["report.rank0.json", "report.rank1.json"]


def test_of_four_sharded_ranks_the_one_that_differs_is_told_apart(tmp_path: Path) -> None:
    plain = ran(tmp_path, programs.SHARDED, 4)
    watched = ran(tmp_path, programs.SHARDED, 4, *UNDER_US)
    for _attempt in range(3):
        if len(told(watched.stderr)) == 2:  # four processes on a busy machine: no rank waits for long
            break
        watched = ran(tmp_path, programs.SHARDED, 4, *UNDER_US)
    assert (plain.returncode, watched.returncode) == (0, 0)
    losses = [re.findall(r"-?\d+\.\d{6}", each.stdout) for each in (plain, watched)]  # ranks share one line at times
    assert losses[0] == losses[1] != []
    guilty, fine = told(watched.stderr)
    assert guilty == "inplace_magic: rank 2:"
    assert fine.startswith("inplace_magic: ranks 0–1, 3: ✓ Nothing wrong found")
    assert "hidden.data[0] = 0.0" in watched.stderr


def test_a_rank_that_is_killed_loses_nothing_of_the_others(tmp_path: Path) -> None:
    watched = ran(tmp_path, programs.ONE_DIES, 3, *UNDER_US)
    assert watched.returncode == 1
    said = told(watched.stderr)
    assert any(re.match(r"inplace_magic: ranks? 0.*: not heard of until now", line) for line in said), said
    assert watched.stderr.count("Finding 1:") == 1, "what both have seen is said once"
    assert "`probs.data[0] = 0.0` (train.py:5)" in watched.stderr
    named = " ".join(line for line in said if "not heard of" not in line)
    assert {"1", "2"} <= set(re.findall(r"\d", named)), watched.stderr
