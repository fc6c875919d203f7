"""Whether what is told of a program as a cell is told of it as a file and as a script, for every labelled program.

    python benchmarks/ways.py [--programs FOLDER ...] [--only NAME ...] [--scripts [--own-every N]]

Each program runs as a watched cell and as a file of its own inside ``with watch()``, in this process; the figures of
``tests/programs/score.py`` and all alarms with their lines must be the same. With ``--scripts`` each runs as a file, as
``python program.py`` and under ``python -m inplace_magic``, the latter two in children of processes that have imported
torch (``tests/forking``): their exit status, standard output and standard error must be the same but for the
report at the end of the latter, and the figures those of the file. With ``--own-every N`` each Nth runs as both in
processes of its own, too, which must end and be told the same as the children. The healthy programs of
``tests/healthy`` have no labels; of them nothing but the alarms is compared.

Printed is a line for each folder, and each difference. The exit status is 0 where there is none. A script that ends
otherwise when the memory it is given holds something else, without a watch, reads memory that nobody filled: it is
named, and only what is told of it is compared.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(TESTS))
from forking.starting import python  # noqa: E402  # found by the line above
from healthy import compare as healthy  # noqa: E402  # the same
from programs import score  # noqa: E402  # the same

from inplace_magic.record.places import Callsite  # noqa: E402
from inplace_magic.report import Report  # noqa: E402

FOLDERS = [*score.packed.SETS]
FILLINGS = range(1, 256, 50)
"""With what glibc fills the memory that it gives out, see ``mallopt(3)``."""
UNDER_US = ["-m", "inplace_magic", "--quiet", "--save", "report.json"]
HEALTHY = TESTS / "healthy" / "programs.md"


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


@dataclass(frozen=True)
class Ended:
    """How a script ended."""

    status: int
    out: str
    err: str


def ran(by: str, folder: Path, words: Sequence[str], settings: Mapping[str, str] | None = None) -> Ended:
    """Of ``python words…`` in a folder, by a Python, with some settings of the environment besides."""
    around = {**os.environ, **(settings or {})}
    done = subprocess.run(
        [by, *words], cwd=folder, env=around, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def as_script(by: str, case: dict[str, Any], source: str) -> tuple[Ended, Ended, tuple[Any, ...]]:
    """How ``python program.py`` and the watched script end, by a Python, and what is told of the latter."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.py").write_text(source, encoding="utf-8")
        plain, watched = (ran(by, folder, [*words, "program.py"]) for words in ([], UNDER_US))
        saved = folder / "report.json"
        report = Report.from_json(saved.read_bytes()) if saved.exists() else None
    return without_folder(plain, name), without_folder(watched, name), told(case, source, report, 0)


def is_steady(source: str) -> bool:
    """Whether a script ends alike without a watch, whatever stood in the memory that it is given."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "program.py").write_text(source, encoding="utf-8")
        ways = [{"MALLOC_PERTURB_": str(filling)} for filling in FILLINGS]
        return len({ran(sys.executable, Path(name), ["program.py"], way) for way in ways}) == 1


def without_folder(ended: Ended, folder: str) -> Ended:
    """With another name for a folder that is a new one each time."""
    return replace(ended, out=ended.out.replace(folder, "FOLDER"), err=ended.err.replace(folder, "FOLDER"))


def unlike(plain: Ended, watched: Ended) -> list[str]:
    """What of a watched script is not as without a watch."""
    pairs = {
        "exit status": plain.status == watched.status,
        "standard output": plain.out == watched.out,
        "standard error": watched.err.startswith(plain.err),
    }
    return [what for what, same in pairs.items() if not same]


def programs(folder: Path, only: list[str]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """(name, label, text) of those in a folder."""
    if folder == HEALTHY:
        found = [(name, {}, text) for name, text in healthy.programs().items()]
    else:
        found = [(case["case"], case, score.source_of(folder, case["case"])) for case in score.cases_in(folder)]
    for name, case, source in found:
        if not only or name in only:
            yield name, case, source


def differences(shell: Any, case: dict[str, Any], source: str) -> Iterator[str]:
    """What differs between a program as a cell and as a file."""
    plain, cell, file = score.plainly(source), as_cell(shell, case, source), as_file(case, source)
    for way, outcome in (("cell", cell), ("file", file)):
        if outcome[0] != plain:
            yield f"as a {way} it ends otherwise: {outcome[0]}, and unwatched {plain}"
    if cell[1] != file[1]:
        yield f"told of the cell {cell[1]}, of the file {file[1]}"


def differences_of_script(name: str, case: dict[str, Any], source: str, *, own: bool) -> Iterator[str]:
    """What differs between a program as a file and as a script; and between a child and a process of its own."""
    plain, watched, script = found = as_script(python(), case, source)
    changed = unlike(plain, watched)
    if changed and not is_steady(source):
        print(f"  {name}: it prints memory that nobody filled: how it ends was not compared", flush=True)
        changed = []
    yield from (f"the watched script has another {what}" for what in changed)
    file = as_file(case, source)[1]
    if script != file:
        yield f"told of the file {file}, of the script {script}"
    if own:
        real = as_script(sys.executable, case, source)
        if real != found:
            yield f"in a process of its own {real}, in a child {found}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, nargs="*", default=[*FOLDERS, HEALTHY])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--scripts", action="store_true", help="compare files with scripts")
    parser.add_argument("--own-every", type=int, metavar="N", help="hold each Nth script against processes of its own")
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell = InteractiveShell.instance(config=config)
    shell.Completer.use_jedi = False
    wrong = owned = 0
    for folder in map(Path.resolve, options.programs):
        count = same = 0
        for name, case, source in programs(folder, options.only):
            own = options.scripts and bool(options.own_every) and count % options.own_every == 0
            if options.scripts:
                found = list(differences_of_script(name, case, source, own=own))
            else:
                found = list(differences(shell, case, source))
            owned += own
            count, same = count + 1, same + (not found)
            for line in found:
                print(f"  {name}: {line}", flush=True)
        wrong += count - same
        print(f"{folder.relative_to(TESTS)}: {same} of {count} the same", flush=True)
    if owned:
        print(f"{owned} of the scripts ran in processes of their own, too")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
