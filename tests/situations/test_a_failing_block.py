"""Where a program can fail, in processes of their own: each shows the finding, and the error is as ever."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from situations.running import ran

WRITING = """\
probs = torch.sigmoid(torch.ones(3, requires_grad=True))
probs[0] = 0.0
probs.sum().backward()
"""
WITHIN = "import torch, inplace_magic\nwith inplace_magic.watch():\n" + "".join(
    f"    {line}\n" for line in WRITING.splitlines()
)
EXECUTED = f"import torch, inplace_magic\nwith inplace_magic.watch():\n    exec({WRITING!r})\n"
STORY = f"%load_ext inplace_magic\n%inplace_watch on\nimport torch\n{WRITING}"

SITUATIONS = {
    "a file with a watch": (["program.py"], WITHIN, "`probs[0] = 0.0` (program.py:4)"),
    "a file that nobody edited": (
        ["-m", "inplace_magic", "program.py"],
        f"import torch\n{WRITING}",
        "`probs[0] = 0.0` (program.py:3)",
    ),
    "python -c": (["-c", WITHIN], "", "line 4 (its source is not there)"),
    "exec": (["program.py"], EXECUTED, "line 2 (its source is not there"),
    "standard input": (["-"], WITHIN, "line 4 (its source is not there)"),
    "ipython script.ipy, a story": (["-m", "IPython", "program.ipy"], STORY, "`probs[0] = 0.0`"),
    "ipython script.ipy, a watch": (["-m", "IPython", "program.ipy"], WITHIN, "`probs[0] = 0.0`"),
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="notes are of Python 3.11; before, the finding is printed")
@pytest.mark.parametrize("name", SITUATIONS)
def test_the_line_is_told_once_and_the_error_is_as_ever(tmp_path: Path, name: str) -> None:
    words, text, told = SITUATIONS[name]
    done = ran(tmp_path, *words, program=text, typed=text if words == ["-"] else "")
    shown = done.stdout + done.stderr
    assert done.returncode == 1
    assert shown.count("RuntimeError: one of the variables needed") + shown.count("RuntimeError\x1b") >= 1
    assert shown.count("was overwritten by") == 1
    assert told in shown
    assert "``" not in shown, "no empty quotation"
