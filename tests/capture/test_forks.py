"""A forked child is not watched: no probe is on in it, whoever forked."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from forking.starting import python

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")

PROGRAM = """\
import os, sys
import torch
import inplace_magic
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

def modes():
    return [len(torch.overrides._get_current_function_mode_stack()), len(_get_current_dispatch_mode_stack())]

class Modes(torch.utils.data.Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, index):
        return torch.tensor(modes())

def forked(work):
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writes, repr(work()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return os.read(reads, 1000).decode()
"""


def lines_of(program: str, folder: Path, level: str) -> list[str]:
    """What a program of its own prints."""
    path = folder / "forking.py"
    path.write_text(PROGRAM + program, encoding="utf-8")
    done = subprocess.run([python(), str(path), level], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_a_forked_child_and_a_worker_of_a_loader_have_no_probe(tmp_path: Path, level: str) -> None:
    program = """
plain = forked(modes), [batch.tolist() for batch in torch.utils.data.DataLoader(Modes(), num_workers=1)]
with inplace_magic.watch(level=sys.argv[1]) as watched:
    here = modes()
    loader = torch.utils.data.DataLoader(Modes(), num_workers=1, multiprocessing_context="fork")
    print((forked(modes), [batch.tolist() for batch in loader]) == plain, here != [0, 0], modes() == here)
told = ["processes (2 or more)" in said for said in watched.report.blindness].count(True)
print(plain, told, watched.report.faults, modes())
"""
    assert lines_of(program, tmp_path, level) == [
        "True True True",
        "('[0, 0]', [[[0, 0]], [[0, 0]]]) 1 [] [0, 0]",
    ]


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_a_child_forked_within_a_call_leaves_the_block_as_it_would_unwatched(tmp_path: Path, level: str) -> None:
    program = """
def end(child):
    sys.stdout.flush()
    os._exit(0) if child else None

def hook(gradient):
    hook.child = os.fork()
    if hook.child:
        os.waitpid(hook.child, 0)
    return gradient * 2

x = torch.ones(3, requires_grad=True)
with inplace_magic.watch(level=sys.argv[1]) as watched:
    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    z = x.detach() + 1
print(hook.child > 0, x.grad.tolist(), modes(), len(watched.report.calls), watched.report.faults)
if hook.child == 0:
    print(watched.report.blindness)
    with inplace_magic.watch() as again:
        torch.ones(2)
    print(len(again.report.calls))
    end(True)
"""
    child, told, own, parent = lines_of(program, tmp_path, level)
    assert child == "False [4.0, 4.0, 4.0] [0, 0] 0 []"
    assert told == "['This is a forked child of the watched process; a child is not watched.']"
    assert own == "1"
    assert parent.startswith("True [4.0, 4.0, 4.0] [0, 0] ")
    assert parent.endswith(" []")
