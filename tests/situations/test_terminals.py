"""IPython in a terminal: the report below the traceback, in colours and no wider than the window."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from forking.starting import python
from situations.running import ran, settings

pexpect = pytest.importorskip("pexpect")

PROMPT = r"In \[\d+\]: "
MORE = r"\.\.\.: "
WIDTH = 72
FAILING = "probs = torch.sigmoid(torch.ones(3, requires_grad=True)); probs[0] = 0.0; probs.sum().backward()"


@pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal is POSIX")
@pytest.mark.parametrize("story", [False, True], ids=["one cell", "%inplace_watch on"])
def test_a_failing_line_in_a_terminal(tmp_path: Path, story: bool) -> None:
    environment = {**settings(tmp_path), "TERM": "xterm-256color"}
    for name in ("NO_COLOR", "COLUMNS", "LINES"):  # as a terminal has it, whatever an earlier test of this process set
        environment.pop(name, None)
    shell = pexpect.spawn(
        python(),
        ["-m", "IPython", "--no-banner", "--simple-prompt", "--no-confirm-exit"],
        env=environment,
        dimensions=(40, WIDTH),
        encoding="utf-8",
        timeout=60,
    )
    try:
        lines = ["%load_ext inplace_magic", "import torch"]
        for line in [*lines, "%inplace_watch on", FAILING] if story else lines:
            shell.expect(PROMPT)
            shell.sendline(line)
        shell.expect(PROMPT)
        if not story:
            shell.sendline("%%inplace_watch")
            for line in (FAILING, "", ""):  # two empty lines end a cell
                shell.expect(MORE)
                shell.sendline(line)
            shell.expect(PROMPT)
        shown = shell.before
    finally:
        shell.close(force=True)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r", "")
    traceback, report = plain.index("RuntimeError: one of the variables"), plain.index("Finding 1:")
    assert traceback < report, "the end is in sight"
    assert plain.count("`probs` was overwritten") == (1 if story else 2), "in the verdict and in the finding"
    assert "\x1b[1mFinding 1:" in shown
    prose = plain[report:].split("\n\n")[0].split("\n")
    assert len(prose) > 3
    assert max(map(len, prose)) <= WIDTH


MODULES_OF_THE_END = """\
%load_ext inplace_magic
%inplace_watch on
import sys, torch
torch.ones(3, requires_grad=True).exp().sum().backward()
before = {name for name in sys.modules if name.startswith(("inplace_magic.render", "wasmtime"))}
%inplace_watch off
later = {name for name in sys.modules if name.startswith(("inplace_magic.render.page", "wasmtime"))} - before
print("loaded at the end:", later)
"""


def test_whoever_ends_a_story_does_not_wait_for_modules_of_its_page(tmp_path: Path) -> None:
    shown = ran(tmp_path, "-m", "IPython", "program.ipy", program=MODULES_OF_THE_END)
    assert "inplace_watch is off." in shown.stdout, shown.stderr
    assert "loaded at the end: set()" in shown.stdout
