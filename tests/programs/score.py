"""Scores `%%inplace_watch` on a set of labelled programs: a file of `packed.py`, or a folder with `cases.jsonl`.

    python score.py [--programs SET] [--only NAME ...] [--level LEVEL] [--how cell|file|script] [--anomaly] [-v]

Every program is run twice: plainly, and watched; as a cell of one IPython shell under `%%inplace_watch --out report`, or
with `--how file` as a file of its own inside `with inplace_magic.watch()`, or with `--how script` by `python -m
inplace_magic --level LEVEL --save report.json program.py` in a process of its own. The watched run must behave as the plain
one (same exception type and text, same SILENTLY_WRONG), and `report.hazards` must say what `cases.jsonl` says. Line numbers in `cases.jsonl` count from the program's first line; in the watched cell the magic is
line 1, so they are one higher there. Any line of a statement counts for that statement.

Figures, each `right/asked`:
  culprit      the first hazard's mutation is the labelled statement (silent_wrong: some silent or warning hazard's is)
  call         where the culprit sits in a helper, the guilty call is in that hazard's caller chain
  saver        the first hazard's `saved` is the labelled statement
  saved_by     and names the labelled autograd node ("SigmoidBackward0" and "Sigmoid" are the same)
  versions     and gives the labelled expected and found versions
  variable     and names the labelled variable, as the guilty line calls it or by the name whose memory it is
  quiet        harmless programs with no error, silent or warning hazard
  same         programs that behaved under the watch as they do without it

With --anomaly a second line counts, for the programs whose backward raises, what PyTorch's own anomaly mode shows in its
traceback of the forward call: the labelled statement that saved (saver), and the one that wrote (culprit).
"""

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

sys.path.append(str(Path(__file__).resolve().parent))

import packed  # noqa: E402  # found by the line above, however this file is imported

ALARM = {"error", "silent", "warning"}


def cases_in(programs: Path) -> list[dict]:
    """Return the labels of a set."""
    if programs.suffix == ".md":
        return packed.cases_in(programs)
    return [json.loads(line) for line in (programs / "cases.jsonl").read_text().splitlines()]


def source_of(programs: Path, name: str) -> str:
    """Return the text of one program of a set."""
    if programs.suffix == ".md":
        return packed.source_of(programs, name)
    folder = programs / "cases" if (programs / "cases").is_dir() else programs
    return (folder / f"{name}.py").read_text(encoding="utf-8")


def statement_of(source):
    """Maps each line of `source` to the first line of the innermost statement that holds it."""
    first = {}

    def visit(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                first.update(dict.fromkeys(range(child.lineno, child.end_lineno + 1), child.lineno))
            visit(child)

    visit(ast.parse(source))
    return first


@contextmanager
def unshown():
    """A watched cell makes its report here and no page of it: to have the picture drawn takes longer than most programs."""
    from inplace_magic.magics import session

    shown, session.show = session.show, lambda *_, **__: None
    try:
        yield
    finally:
        session.show = shown


@contextmanager
def told_briefly(shell):
    """Of an exception the shell prints its last line: a whole traceback, with its colours, takes longer than most
    programs, and IPython makes two."""
    mode = shell.InteractiveTB.mode
    shell.InteractiveTB.set_mode("Minimal")
    try:
        yield
    finally:
        shell.InteractiveTB.set_mode(mode)


@contextmanager
def default_dtype_kept():
    """What a program says with `torch.set_default_dtype` is not said for the next one."""
    before = torch.get_default_dtype()
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def outcome(shell, cell):
    """(exception type, text, SILENTLY_WRONG) of running `cell` in a fresh namespace, and the namespace. No page is made."""
    if any(name[0] != "_" for name in shell.user_ns.keys() - shell.user_ns_hidden.keys()):
        # not of a new shell: each time it collects garbage
        shell.reset(new_session=False)
    with capture_output(), warnings.catch_warnings(), unshown(), told_briefly(shell), default_dtype_kept():
        warnings.simplefilter("ignore")
        if cell.startswith("%%"):
            shell.run_cell("%load_ext inplace_magic")
        result = shell.run_cell(cell)
    error = result.error_in_exec or result.error_before_exec or shell.user_ns.get("_watched_error")
    return error, shell.user_ns.get("SILENTLY_WRONG"), dict(shell.user_ns)


@cache
def plainly(source):
    """What is said of a program by itself, as a file: its exception, and SILENTLY_WRONG. Asked once, however often."""
    error, wrong, _ = outcome_of_file(source, None)
    return said(error), wrong


_of_cells = {}
"""By source and level, what :func:`watched` told last."""
_LAST = 4


def watched(shell, source, level="calls"):
    """What is said of a program as a watched cell: its exception, SILENTLY_WRONG, and the report, None where the watch
    gave none. Asked again soon, it is not run again: who asks several things of a program asks them one after the other."""
    if (source, level) not in _of_cells:
        for oldest in [*_of_cells][: 1 - _LAST]:
            del _of_cells[oldest]
        error, wrong, namespace = outcome(shell, f"%%inplace_watch --out report --level {level}\n{source}")
        report = namespace.get("report")
        if report is not None:  # without what leads to the program's own objects
            report = replace(report, live=None, origin=None)
        _of_cells[source, level] = said(error), wrong, report
    return _of_cells[source, level]


def outcome_of_file(source, level):
    """The same for a program in a file; with a level, watched. The report is under the name `report`."""
    namespace, error, watcher = {}, None, None
    with tempfile.TemporaryDirectory() as folder, capture_output(), warnings.catch_warnings(), default_dtype_kept():
        warnings.simplefilter("ignore")
        path = Path(folder, "program.py")
        path.write_text(source)
        code = compile(source, str(path), "exec")
        namespace.update(__name__="__main__", __file__=str(path))
        try:
            if level is None:
                exec(code, namespace)
            else:
                import inplace_magic

                with inplace_magic.watch(level=level) as watcher:
                    exec(code, namespace)
        except Exception as raised:
            error = raised
        if watcher is not None:
            namespace["report"] = watcher.report
    return error, namespace.get("SILENTLY_WRONG"), namespace


def outcome_of_script(source, level):
    """The same for `python program.py`; with a level, under `python -m inplace_magic`."""
    with tempfile.TemporaryDirectory() as folder:
        path, saved = Path(folder, "program.py"), Path(folder, "report.json")
        path.write_text(source + "\nprint('SILENTLY_WRONG', globals().get('SILENTLY_WRONG'))\n")
        magic = ["-m", "inplace_magic", "--level", level, "--save", str(saved)] if level else []
        ran = subprocess.run([sys.executable, "-W", "ignore", *magic, str(path)], capture_output=True, text=True)
        raised = re.findall(r"^(?:\w+\.)*(\w*(?:Error|Exception|Interrupt|Exit)): (.*)", ran.stderr, re.M)
        error = (ran.returncode, raised[0] if raised and ran.returncode else None)
        wrong = re.findall(r"^SILENTLY_WRONG (\w+)", ran.stdout, re.M)
        namespace = {}
        if saved.exists():
            from inplace_magic.report import Report

            namespace["report"] = Report.from_json(saved.read_bytes())
        return error, wrong, namespace


def said(error):
    """What a user sees of an exception. A magic may re-raise it wrapped: then the cause speaks."""
    if error is None or isinstance(error, tuple):
        return error
    inner = error.__cause__ or error
    return type(inner).__name__, str(inner)


def chain(site):
    """The lines of a callsite and of its callers, in the cell's gutter numbers."""
    lines = []
    while site is not None:
        lines.append(site.line)
        site = site.caller
    return lines


def bare(name):
    return re.sub(r"Backward\d*$", "", name) if name else name


def judge(case, source, report, above=1):
    """Yields (figure, right) for one program, `above` lines of which stand above its first line."""
    first = statement_of(source)
    statements = lambda lines: {first.get(n) for n in lines}
    own = lambda site: [n - above for n in chain(site)]
    hazards = list(report.hazards)
    alarms = [h for h in hazards if h.severity in ALARM]
    if case["symptom"] == "harmless":
        yield "quiet", not alarms
        return
    wanted = statements(case["mutating_lines"])
    hit = lambda h: h.mutation is not None and bool(statements(own(h.mutation)[:1]) & wanted)
    if case["symptom"] == "silent_wrong":
        found = next((h for h in alarms if h.severity != "error" and hit(h)), None)
    else:
        found = hazards[0] if hazards and hazards[0].severity == "error" and hit(hazards[0]) else None
    yield "culprit", found is not None
    if case.get("call_lines"):
        yield "call", found is not None and bool(statements(own(found.mutation)) & statements(case["call_lines"]))
    if case.get("saving_line"):
        saver = statements([case["saving_line"]])
        yield "saver", found is not None and found.saved is not None and bool(statements(own(found.saved)) & saver)
        yield "saved_by", found is not None and bare(found.saved_by) == bare(case["saved_by"])
        versions = (case["expected_version"], case["found_version"])
        yield "versions", found is not None and (found.expected_version, found.found_version) == versions
    if re.fullmatch(r"[\w.]+", case.get("variable") or ""):
        names = {found.variable, *re.findall(r"the memory of `([^`]+)`", found.message)} if found is not None else ()
        yield "variable", case["variable"] in names


def score(
    shell: Any, case: dict, source: str, level: str = "calls", how: str = "cell"
) -> tuple[Any, list[tuple[str, bool]]]:
    """The report of one program, None where the watch gave none, and its (figure, right) pairs."""
    if how == "script":
        error, wrong, _ = outcome_of_script(source, None)
        plain = said(error), wrong
        error, wrong, namespace = outcome_of_script(source, level)
    elif how == "file":
        plain = plainly(source)
        error, wrong, namespace = outcome_of_file(source, level)
    else:
        plain = plainly(source)
        error, wrong, report = watched(shell, source, level)
        namespace = {"report": report}
    report = namespace.get("report")
    figures = [("same", plain == (said(error), wrong))]
    if report is None:
        figures.append(("culprit" if case["symptom"] != "harmless" else "quiet", False))
    else:
        figures += judge(case, source, report, above=int(how == "cell"))
    return report, figures


def anomaly(case: dict, source: str) -> list[tuple[str, bool]]:
    """The (figure, right) pairs of PyTorch's anomaly mode for a program whose backward raises."""
    path = "<program>"
    first = statement_of(source)
    with warnings.catch_warnings(record=True) as caught, torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("always")
        try:
            exec(compile(source, path, "exec"), {"__name__": "__main__"})
        except RuntimeError:
            pass
    text = "".join(str(warning.message) for warning in caught)
    shown = {first.get(int(line)) for line in re.findall(rf'{path}", line (\d+)', text)}
    saver, wanted = first[case["saving_line"]], {first[line] for line in case["mutating_lines"]}
    return [("saver", saver in shown), ("culprit", bool(wanted & shown))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, default=packed.FIRST)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--level", choices=("calls", "ops"), default="calls")
    parser.add_argument("--how", choices=("cell", "file", "script"), default="cell")
    parser.add_argument("--anomaly", action="store_true", help="count what PyTorch's anomaly mode names, too")
    parser.add_argument("-v", action="store_true", help="say for each program what was wrong")
    options = parser.parse_args()
    cases = cases_in(options.programs)
    cases = [c for c in cases if not options.only or c["case"] in options.only]
    shell = InteractiveShell.instance()
    shell.Completer.use_jedi = False
    right, asked = Counter(), Counter()
    for case in cases:
        source = source_of(options.programs, case["case"])
        report, figures = score(shell, case, source, options.level, options.how)
        for figure, ok in figures:
            asked[figure] += 1
            right[figure] += ok
        if options.v and not all(ok for _, ok in figures):
            print(case["case"], case["symptom"], "wrong:", ", ".join(f for f, ok in figures if not ok))
            for hazard in report.hazards[:2] if report else []:
                print(
                    "    ",
                    hazard.code,
                    hazard.severity,
                    hazard.mutation and chain(hazard.mutation),
                    hazard.message[:120],
                )
    print(" ".join(f"{figure} {right[figure]}/{asked[figure]}" for figure in asked))
    if options.anomaly:
        pairs = [
            pair
            for c in cases
            if c["symptom"] == "backward_error"
            for pair in anomaly(c, source_of(options.programs, c["case"]))
        ]
        counts = {figure: [ok for name, ok in pairs if name == figure] for figure in ("saver", "culprit")}
        print("anomaly mode:", " ".join(f"{figure} {sum(oks)}/{len(oks)}" for figure, oks in counts.items()))
    return 0 if right == asked else 1


if __name__ == "__main__":
    sys.exit(main())
