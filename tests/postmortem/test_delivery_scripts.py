"""A script that nobody watches says below its traceback what caused an autograd error, and is else the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from forking.starting import python
from scripts import ROOT

INSTALL = "import inplace_magic\ninplace_magic.install()\n"
TRAIN = """
import sys
import torch

def scaled(values):
    values.mul_(2)
    return values

def main():
    torch.manual_seed(0)
    weight = torch.randn(3, requires_grad=True)
    probs = torch.sigmoid(weight)
    loss = scaled(probs).sum()
    print("loss", loss.item(), torch.rand(1).item(), sys.argv[1:])
    loss.backward()

"""
IN_A_THREAD = "import threading\nthread = threading.Thread(target=main)\nthread.start()\nthread.join()\n"
MARK = "inplace_magic: "


def ran(folder: Path, text: str, *words: str, options: tuple[str, ...] = ()) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a script.

    Args:
        folder: where it lies.
        text: the script.
        words: its arguments.
        options: what stands before its name.
    """
    (folder / "train.py").write_text(text)
    done = subprocess.run(
        [python(), *options, "train.py", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("end", ["main()\n", IN_A_THREAD], ids=["main", "thread"])
def test_after_install_the_answer_stands_below_the_plain_traceback(tmp_path: Path, end: str) -> None:
    status, output, plain = ran(tmp_path, f"\n\n{TRAIN}{end}")
    again, same, told = ran(tmp_path, f"{INSTALL}{TRAIN}{end}")
    assert (status, output) == (again, same)
    assert told.startswith(plain)
    answer = told.removeprefix(plain)
    assert answer.startswith(f"\n{MARK}`values.mul_(2)` (train.py:8, called from train.py:15) overwrote")
    assert MARK not in plain


@pytest.mark.parametrize(
    "end", ["1 / 0\n", "sys.exit(3)\n", "raise KeyboardInterrupt\n", "raise SystemExit('text')\n", ""]
)
def test_what_has_no_answer_ends_as_without_us(tmp_path: Path, end: str) -> None:
    plain = ran(tmp_path, f"\n\n{TRAIN}{end}", "a")
    assert ran(tmp_path, f"{INSTALL}{TRAIN}{end}", "a") == plain


def test_install_loads_no_torch_and_uninstall_puts_every_hook_back() -> None:
    program = """
import sys, threading
before = sys.excepthook, threading.excepthook
import inplace_magic
inplace_magic.install(); inplace_magic.install()
assert not {"torch", "numpy", "IPython"} & set(sys.modules)
assert sys.excepthook is not before[0] and threading.excepthook is not before[1]
inplace_magic.uninstall(); inplace_magic.uninstall()
assert (sys.excepthook, threading.excepthook) == before
inplace_magic.install()
ours = sys.excepthook
sys.excepthook = lambda *error: ours(*error)
inplace_magic.uninstall()
inplace_magic.install(); inplace_magic.uninstall()
1 / 0
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize(
    "end",
    [
        "main()\n",
        "sys.excepthook = lambda kind, *_: print(kind.__name__, file=sys.stderr)\nmain()\n",
        "1 / 0\n",
        "sys.exit(3)\n",
    ],
    ids=["fails", "with a hook of its own", "otherwise", "ends"],
)
def test_level_off_runs_the_program_alone_and_answers(tmp_path: Path, end: str) -> None:
    text = TRAIN + "watches = torch.overrides._get_current_function_mode_stack()\nprint(len(watches))\n" + end
    status, output, plain = ran(tmp_path, text, "a", "b")
    again, same, told = ran(tmp_path, text, "a", "b", options=("-m", "inplace_magic", "--level", "off"))
    assert (status, output) == (again, same)
    assert told.startswith(plain)
    assert told.count(f"{MARK}`values.mul_(2)` (train.py:6, called from train.py:13) overwrote") == ("main()" in end)


def test_an_answer_can_be_asked_for_where_an_error_is_handled_and_keeps_nothing(tmp_path: Path) -> None:
    program = f"""{TRAIN}
import gc, weakref
import inplace_magic
assert inplace_magic.answer() is None
sizes = [size for size in range(3)]
inplace_magic.answer(RuntimeError("modified by an inplace operation"))  # what it loads leaves rubbish of its own
for _ in range(2):
    gc.collect()
    gc.disable()
    try:
        main()
    except RuntimeError as error:
        found, raised = inplace_magic.answer(), error
    assert found == inplace_magic.answer(raised)
    loss = weakref.ref(raised.__traceback__.tb_next.tb_frame.f_locals["loss"])
    del raised
    assert loss() is None, "it died when nobody held it any more, without the collector"
    gc.enable()
    assert (found.mutation.line, found.mutation.file, found.saved.line) == (6, __file__, 12), found
    try:
        1 / 0
    except ZeroDivisionError:
        assert inplace_magic.answer() is None
"""
    status, _output, told = ran(tmp_path, program)
    assert (status, told) == (0, "")
