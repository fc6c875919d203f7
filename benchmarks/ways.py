"""Whether what is told of a program as a cell is told of it as a file and as a script, for every labelled program.

    python benchmarks/ways.py [--programs FOLDER ...] [--only NAME ...] [--scripts]

Each program runs as a watched cell and as a file of its own inside ``with watch()``, in this process; the figures of
``tests/programs/score.py`` and all alarms with their lines must be the same. With ``--scripts`` each runs besides as
``python program.py`` and under ``python -m inplace_magic``, in processes of their own: the exit status, standard output
and standard error must be the same but for the report at the end of the latter, and the figures those of the cell.
The healthy programs of ``tests/healthy`` have no labels; of them nothing but the alarms is compared.

Printed is a line for each folder, and each difference. The exit status is 0 where there is none.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(TESTS))
from programs import score  # noqa: E402  # found by the line above

from inplace_magic.record.places import Callsite  # noqa: E402
from inplace_magic.report import Report  # noqa: E402

ROUNDS = sorted((TESTS / "programs" / "rounds").iterdir(), key=lambda folder: int(folder.name))
FOLDERS = [TESTS / "programs", *(TESTS / "programs" / name for name in ("further", "held_out")), *ROUNDS]
HEALTHY = TESTS / "healthy" / "programs"


def told(case: dict[str, Any], source: str, report: Report | None, above: int) -> tuple[Any, ...]:
    """The figures of a program, where it has a label, and its alarms with the lines of their writes and saves."""
    if report is None:
        return ("no report",)
    figures = dict(score.judge(case, source, report, above=above)) if case else {}
    alarms = [
        (
            hazard.code,
            hazard.severity,
            hazard.variable,
            *(lines(site, above) for site in (hazard.mutation, hazard.saved)),
        )
        for hazard in report.hazards
        if hazard.severity in score.ALARM
    ]
    return figures, alarms, report.faults


def lines(site: Callsite | None, above: int) -> list[int | None]:
    """Of a place and its callers, without the line of ours by which a file runs."""
    found = []
    while site is not None:
        if site.file is None or Path(site.file) != Path(score.__file__):
            found.append(None if site.line is None else site.line - above)
        site = site.caller
    return found


def as_cell(shell: Any, case: dict[str, Any], source: str) -> tuple[Any, ...]:
    """How it ends, and what is told, as a watched cell."""
    error, wrong, names = score.outcome(shell, f"%%inplace_watch --out report\n{source}")
    return (score.said(error), wrong), told(case, source, names.get("report"), 1)


def as_file(case: dict[str, Any], source: str) -> tuple[Any, ...]:
    """The same as a file inside ``with watch()``."""
    error, wrong, names = score.outcome_of_file(source, "calls")
    return (score.said(error), wrong), told(case, source, names.get("report"), 0)


def as_script(case: dict[str, Any], source: str) -> tuple[list[str], tuple[Any, ...]]:
    """What differs between the processes of ``python program.py`` and of the watched script, and what is told."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "program.py").write_text(source, encoding="utf-8")
        words = ["-m", "inplace_magic", "--quiet", "--save", "report.json"]
        plain, watched = (
            subprocess.run([sys.executable, *given, "program.py"], cwd=folder, capture_output=True, text=True)
            for given in ([], words)
        )
        saved = Path(folder, "report.json")
        report = Report.from_json(saved.read_bytes()) if saved.exists() else None
    pairs = {
        "exit status": plain.returncode == watched.returncode,
        "standard output": plain.stdout == watched.stdout,
        "standard error": watched.stderr.startswith(plain.stderr),
    }
    return [what for what, same in pairs.items() if not same], told(case, source, report, 0)


def programs(folder: Path, only: list[str]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """(name, label, text) of those in a folder."""
    if folder == HEALTHY:
        found = [(path.stem, {}, path) for path in sorted(folder.glob("*.py"))]
    else:
        found = [
            (case["case"], case, score.folder_of(folder) / f"{case['case']}.py") for case in score.cases_in(folder)
        ]
    for name, case, path in found:
        if not only or name in only:
            yield name, case, path.read_text(encoding="utf-8")


def differences(shell: Any, case: dict[str, Any], source: str, *, scripts: bool) -> Iterator[str]:
    """What differs between the ways of one program."""
    plain, cell, file = score.plainly(source), as_cell(shell, case, source), as_file(case, source)
    for way, outcome in (("cell", cell), ("file", file)):
        if outcome[0] != plain:
            yield f"as a {way} it ends otherwise: {outcome[0]}, and unwatched {plain}"
    if cell[1] != file[1]:
        yield f"told of the cell {cell[1]}, of the file {file[1]}"
    if scripts:
        ends, script = as_script(case, source)
        yield from (f"the watched script has another {what}" for what in ends)
        if script != cell[1]:
            yield f"told of the cell {cell[1]}, of the script {script}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, nargs="*", default=[*FOLDERS, HEALTHY])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--scripts", action="store_true", help="run each as a script, too; seconds each")
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell = InteractiveShell.instance(config=config)
    shell.Completer.use_jedi = False
    wrong = 0
    for folder in map(Path.resolve, options.programs):
        count = same = 0
        for name, case, source in programs(folder, options.only):
            found = list(differences(shell, case, source, scripts=options.scripts))
            count, same = count + 1, same + (not found)
            for line in found:
                print(f"  {name}: {line}", flush=True)
        wrong += count - same
        print(f"{folder.relative_to(TESTS)}: {same} of {count} the same", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
