"""``python -m inplace_magic program.py``: the program runs as Python runs it, and is told what a cell is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from forking.starting import python

from inplace_magic.cli.command_line import MACHINES
from inplace_magic.report import Report

UNDER_US = ("-m", "inplace_magic")
TYPED = "first\nsecond\nthird\n"


def ran(folder: Path, *words: str, by: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """Of ``python …`` in a folder."""
    return subprocess.run(
        [by, *words], cwd=folder, capture_output=True, text=True, input=TYPED, timeout=300, check=False
    )


def forked(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The same in a child of a process that has imported torch, where that is all that the program begins with."""
    return ran(folder, *words, by=python())


def said(error: str) -> list[str]:
    """Standard error without our own line, and without the frames of Python's import machinery, which ``-m`` shows."""
    ours = ("inplace_magic: ", '  File "<frozen ')
    lines = [line for line in error.splitlines() if not line.startswith(ours)]
    return lines[1:] if "SyntaxError" in error and lines[0].startswith("Traceback") else lines


PROGRAMS = {
    "what it sees of itself": """
        import sys
        print(__name__, __file__, sys.argv[1:], sys.path[0], sorted(globals()))
        print(sys.modules["__main__"].__dict__ is globals())
    """,
    "an error in a function": """
        def fail():
            raise ValueError("no such thing")
        print("before")
        fail()
    """,
    "an exit with a number": "import sys; print('out'); sys.exit(7)",
    "an exit with a sentence": "raise SystemExit('that was all')",
    "an exit with nothing": "import sys; sys.exit()",
    "a class that is pickled": """
        import pickle
        class Point:
            pass
        print(type(pickle.loads(pickle.dumps(Point()))) is Point)
    """,
    "a class that children of spawn get": """
        import multiprocessing
        class Point:
            def __init__(self, x):
                self.x = x
            def __eq__(self, other):
                return type(self) is type(other) and self.x == other.x
        def doubled(point):
            return Point(2 * point.x)
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(doubled, [Point(3)]) == [Point(6)], __name__)
    """,
    "what it reads": "print(input(), [line.strip() for line in __import__('sys').stdin])",
    "a hook of its own for errors, and one for the end": """
        import atexit, sys
        sys.excepthook = lambda kind, error, traceback: print("mine:", error)
        atexit.register(print, "the end")
        raise ValueError("none of ours")
    """,
    "closed streams": """
        import sys
        print("all that was to be said", flush=True)
        sys.stdout.close()
        sys.stderr = None
    """,
    "a thread that outlives the last line": """
        import threading, time
        threading.Thread(target=lambda: (time.sleep(0.2), print("late"))).start()
    """,
    "a syntax error": "x = = 1",
    "a forked child that runs to the end": """
        import os, sys
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        print("child" if child == 0 else "parent", flush=True)
    """,
}


@pytest.mark.parametrize("as_module", [False, True], ids=["file", "module"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_runs_as_without_us(tmp_path: Path, name: str, as_module: bool) -> None:
    if "fork" in name and not hasattr(os, "fork"):
        pytest.skip("Windows cannot fork")
    lines = PROGRAMS[name].splitlines()
    (tmp_path / "program.py").write_text("\n".join(line.removeprefix(" " * 8) for line in lines))
    program = ("-m", "program", "--level", "x", "y") if as_module else ("program.py", "--level", "x", "y")
    plain, watched = ran(tmp_path, *program), ran(tmp_path, *UNDER_US, *program)
    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout)
    assert said(watched.stderr) == said(plain.stderr)
    assert watched.stderr.count("inplace_magic:") <= 1, "one process tells"


def test_what_is_set_before_torch_is_imported_counts(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import os, sys\n"
        "assert 'torch' not in sys.modules\n"
        "os.environ['OMP_NUM_THREADS'] = '1'\n"
        "import torch\n"
        "print(torch.get_num_threads(), type(torch.__loader__).__name__, torch.__spec__.loader is torch.__loader__)\n"
    )
    plain, watched = ran(tmp_path, "program.py"), ran(tmp_path, *UNDER_US, "--quiet", "program.py")
    assert plain.stdout.startswith("1 ")
    assert (watched.stdout, watched.stderr) == (plain.stdout, "")


FAILING = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
    def forward(self, x):
        probs = torch.sigmoid(self.lin(x))
        probs *= 2
        return probs
def main():
    net = Net()
    net(torch.ones(1, 3)).sum().backward()
main()
"""


def test_an_error_is_shown_as_ever_and_then_explained_and_saved(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    plain = forked(tmp_path, "train.py")
    watched = forked(tmp_path, *UNDER_US, "--level", "ops", "--save", "report.json", "train.py")
    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout) == (1, "")
    assert "modified by an inplace operation" in plain.stderr
    assert watched.stderr.startswith(plain.stderr)
    told = watched.stderr.removeprefix(plain.stderr)
    assert "`probs` was overwritten by `probs *= 2` (train.py:9, in `Net.forward`" in told
    report = Report.from_json((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (report.hazards[0].code, report.trace.level) == ("saved-tensor-overwritten", "ops")


SILENT = """
import torch
ids = torch.arange(1, 9).view(2, 4)
labels = ids
ids[:, 1] = 0
print(torch.nn.functional.one_hot(ids, 9).sum().item(), labels.sum().item())
"""


def test_a_silent_finding_is_told_and_the_status_stays_the_program_s(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SILENT)
    plain, watched = forked(tmp_path, "train.py"), forked(tmp_path, *UNDER_US, "--lang", "zh", "train.py")
    assert (plain.stdout, plain.stderr) == ("8 28\n", ""), "PyTorch says nothing"
    assert (watched.returncode, watched.stdout) == (0, plain.stdout)
    assert "alias-written" in watched.stderr
    assert "ids[:, 1] = 0" in watched.stderr
    assert any("\u4e00" <= letter <= "\u9fff" for letter in watched.stderr)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_an_interrupted_program_ends_as_interrupted(tmp_path: Path) -> None:
    heard = "signal.signal(signal.SIGINT, signal.default_int_handler)"  # a job in the background is born deaf to it
    (tmp_path / "program.py").write_text(f"import os, signal\n{heard}\nos.kill(os.getpid(), signal.SIGINT)\n")
    plain, watched = ran(tmp_path, "program.py"), ran(tmp_path, *UNDER_US, "program.py")
    assert watched.returncode == plain.returncode == -signal.SIGINT
    assert said(watched.stderr)[-1] == said(plain.stderr)[-1] == "KeyboardInterrupt"


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_a_program_that_is_killed_dies_of_the_same_signal(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    plain, watched = ran(tmp_path, "program.py"), ran(tmp_path, *UNDER_US, "program.py")
    assert watched.returncode == plain.returncode == -signal.SIGTERM
    assert watched.stderr == plain.stderr


def test_a_program_may_watch_itself(tmp_path: Path) -> None:
    watching = FAILING.replace("import torch", "import torch, inplace_magic").replace(
        "    net(torch", "    with inplace_magic.watch():\n        net(torch"
    )
    (tmp_path / "train.py").write_text(watching)
    plain, watched = forked(tmp_path, "train.py"), forked(tmp_path, *UNDER_US, "train.py")
    assert "RuntimeError: one of the variables" in plain.stderr
    assert (watched.returncode, watched.stderr[: len(plain.stderr)]) == (plain.returncode, plain.stderr)
    told = watched.stderr[len(plain.stderr) :]
    assert "Not seen: what came after the program's own watch began." in told
    assert "was overwritten" not in told, "that is in the program's own report"


def test_a_saved_report_is_shown_and_saved_in_another_format(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SILENT)
    forked(tmp_path, *UNDER_US, "--save", "report.json", "train.py")
    report = Report.from_json((tmp_path / "report.json").read_text(encoding="utf-8"))
    shown = forked(tmp_path, *UNDER_US, "report.json")
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, report.to_text(), "")
    chinese = forked(tmp_path, *UNDER_US, "--lang", "zh", "report.json")
    assert chinese.stdout == report.in_language("zh").to_text()
    saved = forked(tmp_path, *UNDER_US, "--save", "report.html", "report.json")
    assert (saved.returncode, saved.stdout) == (0, "")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.to_html()


@pytest.mark.parametrize("form", MACHINES)
def test_a_format_for_programs_comes_after_all_that_the_program_says_or_in_a_file(tmp_path: Path, form: str) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    plain = forked(tmp_path, "train.py")
    watched = forked(tmp_path, *UNDER_US, "--format", form, "train.py")
    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout)
    assert watched.stderr.startswith(plain.stderr)
    told = watched.stderr.removeprefix(plain.stderr)
    assert told.count("\n") == 1
    assert "saved-tensor-overwritten" in told
    filed = forked(tmp_path, *UNDER_US, "--format", form, "--output", "found", "--save", "report.json", "train.py")
    assert (tmp_path / "found").read_text(encoding="utf-8") == told
    assert told not in filed.stderr
    shown = forked(tmp_path, *UNDER_US, "--format", form, "report.json")
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, told, "")


@pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal is POSIX")
def test_a_terminal_gets_lines_of_its_width_and_colours(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    mine, theirs = os.openpty()
    settings = {**os.environ, "COLUMNS": "60", "TERM": "xterm"}
    settings.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [python(), *UNDER_US, "train.py"], cwd=tmp_path, stderr=theirs, stdout=theirs, env=settings
    )
    os.close(theirs)
    said = b""
    try:
        while part := os.read(mine, 4096):
            said += part
    except OSError:  # how Linux says that the other end is closed
        pass
    assert process.wait(timeout=60) == 1
    report = said.decode().replace("\r", "").split("\n\n", 1)[1]
    assert "\x1b[1mFinding 1: ✗ Error (saved-tensor-overwritten)\x1b[0m" in report
    prose = report.split("\n\n")[0].split("\n")[1:]
    assert len(prose) > 3
    assert max(map(len, prose)) <= 60


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nowhere.py",), "'nowhere.py' cannot be run: No such file or directory."),
        (("-m", "no.such.module"), "There is no module 'no.such.module' that could be run."),
        (("nowhere.json",), "'nowhere.json' cannot be read: No such file or directory."),
        (("program.json",), "The saved report is not JSON"),
        (("--level", "all", "program.py"), "level 'all' does not exist; choose one of calls, ops, writes."),
        (("--save", "report.doc", "program.py"), "'report.doc' is no file to save a report to"),
        (("--lang", "tlh", "program.py"), "tlh"),
        (("--format", "xml", "program.py"), "invalid choice: 'xml'"),
        (("--output", "found.json", "program.py"), "--output goes with --format"),
        (("--level", "off", "--format", "json", "program.py"), "--level off makes none"),
        ((), "the following arguments are required"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence_and_nothing_runs(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    for name in ("program.py", "program.json"):
        (tmp_path / name).write_text("print('ran')")
    refused = ran(tmp_path, *UNDER_US, *words)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert sentence in refused.stderr
    assert "Traceback" not in refused.stderr
