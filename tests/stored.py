"""What a watch recorded of each labelled program, as files: a rule is asked about them without running anything.

    python tests/stored.py

runs the programs and writes ``tests/traces/`` anew. That is wanted when a program is new or a watch records something
else: ``tests/test_further_programs.py`` and ``tests/test_programs.py`` run each program as well, and fail where the
rules say of its stored trace what they do not say of the one that was recorded just now.
"""

from __future__ import annotations

import json
import lzma
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent)]

from programs import score  # noqa: E402  # found by the two lines above, when this is run and not imported

from inplace_magic.report import Report  # noqa: E402

TRACES = HERE / "traces"
FOLDERS = (HERE / "programs", HERE / "programs" / "further")
ADDRESSES = ("python_id", "data_ptr")


@lru_cache(maxsize=4)  # what two tests ask of a program, they ask one after the other
def stored(name: str) -> Report:
    """The report of a program, by its name: its trace from the file, and what the rules say of that now."""
    saved = json.loads(lzma.decompress((TRACES / f"{name}.json.xz").read_bytes()))
    return Report.from_trace(Report.from_dict(saved).trace)


def out_of_date(report: Report, name: str) -> bool:
    """Whether the rules say something else of a program recorded just now than of its stored trace. Another PyTorch
    may run another way, so of its reports nothing is known."""
    known = stored(name)
    return known.trace.torch_version == report.trace.torch_version and known.hazards != report.hazards


def store(report: Report, name: str) -> None:
    """Writes the trace of a program, unless its file has it already: addresses, which are others each time, stand there
    by the order in which they occur."""
    data = numbered({**report.to_dict(), "hazards": []}, {})
    path = TRACES / f"{name}.json.xz"
    if not path.exists() or json.loads(lzma.decompress(path.read_bytes())) != data:
        path.write_bytes(lzma.compress(json.dumps(data, separators=(",", ":")).encode(), preset=9))


def numbered(value: Any, known: dict[int, int]) -> Any:
    """A report as JSON, with small numbers for addresses, by the order in which they occur."""
    if isinstance(value, dict):
        return {
            key: known.setdefault(part, len(known) + 1) if key in ADDRESSES and part else numbered(part, known)
            for key, part in value.items()
        }
    return [numbered(part, known) for part in value] if isinstance(value, list) else value


def main() -> None:
    """Stores the traces of all labelled programs."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"hist_file": ":memory:"}}))
    for folder in FOLDERS:
        for case in score.cases_in(folder):
            source = (folder / f"{case['case']}.py").read_text(encoding="utf-8")
            _error, _wrong, namespace = score.outcome(shell, f"%%inplace_watch --out report\n{source}")
            store(namespace["report"], case["case"])


if __name__ == "__main__":
    main()
