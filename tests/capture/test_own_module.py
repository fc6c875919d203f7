"""A module of the user's with the name of a framework is the user's code, and is watched as such."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

OWN = """
import torch


def bounce(speed):
    speed.neg_()
    return speed
"""
PROGRAM = """
import torch
import inplace_magic

with inplace_magic.watch() as watched:
    import paddle

    probs = torch.sigmoid(torch.zeros(3, requires_grad=True))
    try:
        (probs + paddle.bounce(probs)).sum().backward()
    except RuntimeError:
        pass
with inplace_magic.watch() as again:
    paddle.bounce(torch.ones(2))
for report in (watched.report, again.report):
    print(report.framework, report.faults, [call.callsite.file[-9:] for call in report.calls if call.mutations])
print(watched.report.hazards[0].mutation.text)
"""


def test_a_game_has_a_paddle(tmp_path: Path) -> None:
    (tmp_path / "paddle.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "game.py").write_text(PROGRAM, encoding="utf-8")
    ran = subprocess.run([sys.executable, "game.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "torch [] ['paddle.py']",
        "torch [] ['paddle.py']",
        "speed.neg_()",
    ]
