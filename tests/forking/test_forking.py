"""A forked program ends, and says, what it does in a process of its own: one of each kind, held side by side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from forking.starting import python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all processes are their own")

SEEN = """
import os, sys
print(__name__, sys.argv, sys.path[0], sorted(globals()), globals().get("__file__"))
print("torch" in sys.modules, "numpy" in sys.modules, "inplace_magic" in sys.modules, "pytest" in sys.modules)
print(os.getcwd(), os.environ["SET_HERE"], "JPY_PARENT_PID" in os.environ, input(), sys.stdin.read())
print(sys.stdout, sys.stderr, sys.stdout.isatty(), file=sys.stderr)
"""
WRITING = """
import torch, sys
print("numpy" in sys.modules, torch.__spec__.loader is torch.__loader__, torch.get_num_threads())
probs = torch.sigmoid(torch.ones(3, requires_grad=True))
probs[0] = 0.0
probs.sum().backward()
"""
TESTED = WRITING.replace("\n", "\n    ").replace("\n", "\ndef test_it():\n", 1)
PROGRAMS: dict[str, tuple[list[str], str]] = {
    "a file": (["program.py", "one", "--two"], SEEN),
    "a module": (["-m", "program", "one"], SEEN),
    "a text": (["-c", SEEN.replace("input(), ", ""), "one"], ""),
    "a file, unbuffered": (["-u", "program.py"], SEEN),
    "standard input": (["-"], ""),
    "flags that only Python knows": (["-O", "-c", "print(__debug__)"], ""),
    "no such file": (["-m", "nowhere"], ""),
    "an error": (["program.py"], "def fail():\n    raise ValueError('no')\nprint('before')\nfail()\n"),
    "a syntax error": (["program.py"], "x = = 1\n"),
    "an exit with a number": (["program.py"], "raise SystemExit(7)"),
    "an exit with a sentence": (["program.py"], "raise SystemExit('no')"),
    "what is left to the end": (
        ["program.py"],
        "import atexit, threading, time\natexit.register(print, 'end')\n"
        "threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()\nprint('first')\n",
    ),
    "an interrupt": (["program.py"], "raise KeyboardInterrupt"),
    "a signal": (["program.py"], "import os\nprint('before', flush=True)\nos.kill(os.getpid(), 15)\n"),
    "a crash": (["program.py"], "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"),
    "torch": (["program.py"], WRITING),
    "a watch": (["-m", "inplace_magic", "program.py"], WRITING),
    "a test": (["-m", "pytest", "-q", "-p", "no:cacheprovider", "--inplace-watch", "program.py"], TESTED),
    "IPython": (["-m", "IPython", "--colors=NoColor", "-c", WRITING], ""),
}


def ran(by: str, words: list[str], folder: Path) -> tuple[int, str, str]:
    """Exit status, standard output and standard error."""
    done = subprocess.run(
        [by, *words],
        cwd=folder,
        env={**os.environ, "SET_HERE": "yes", "IPYTHONDIR": str(folder / "ipython"), "NO_COLOR": "1"},
        input="print(sorted(globals()))\n1 / 0\n",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, without_times(done.stdout), without_times(done.stderr)


def without_times(text: str) -> str:
    """A text without pytest's last line."""
    return "\n".join(line for line in text.splitlines() if " in " not in line or "failed" not in line)


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_as_in_a_process_of_its_own(tmp_path: Path, name: str) -> None:
    words, text = PROGRAMS[name]
    (tmp_path / "program.py").write_text(text)
    forked = ran(python(), words, tmp_path)
    assert forked == ran(sys.executable, words, tmp_path)
    assert any(forked)


def begun(program: str) -> subprocess.Popen[str]:
    """A program that has said its first line."""
    process = subprocess.Popen([python(), "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def test_a_signal_reaches_the_program() -> None:
    process = begun(
        "import signal, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "try:\n    print('begun', flush=True)\n    for _ in range(600):\n        time.sleep(0.1)\n"
        "except KeyboardInterrupt:\n    print('heard')\n"
    )  # many short sleeps: Python looks for signals before it sleeps, and one that comes just then waits for its end
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("heard\n", None)
    assert process.returncode == 0


def test_a_program_is_killed_with_who_stands_for_it() -> None:
    process = begun("import time\nprint('begun', flush=True)\ntime.sleep(60)\n")
    process.kill()
    began = time.monotonic()
    assert process.communicate(timeout=60) == ("", None), "its end of the pipe is closed"
    assert time.monotonic() - began < 30
    assert process.returncode == -signal.SIGKILL


def test_settings_of_python_are_python_s_own_business(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    words = ["-c", "print(hash('a word'))"]
    assert ran(python(), words, tmp_path) == ran(sys.executable, words, tmp_path)
