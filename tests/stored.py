"""What a watch recorded of each labelled program, an archive a set: rules are asked about it, and nothing is run.

    python tests/stored.py [SET ...]

runs the programs (a quarter of an hour for all) and writes ``tests/traces/SET.xz`` anew where a recorded fact changed.
The live tests of the programs fail where the stored trace of a program is out of date.

A line of an archive is one program: ``[name, report]``. Addresses and digests stand there by the order in which they
occur, and each number as its difference to the last one of the same key: then the passes of a loop are the same text,
and a set takes a tenth of its size. Programs of more than :data:`LONGEST` characters have no stored trace.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent)]

from programs import packed, score  # noqa: E402  # found by the two lines above, when this is run and not imported

from inplace_magic.report import Report  # noqa: E402

TRACES = HERE / "traces"
LONGEST = 2_020_000
"""Characters of a report as JSON, some 1,500 calls. One program in six is longer; they would take nine tenths of the
time of a judgement and of the archives."""
ADDRESSES = ("python_id", "data_ptr")
DIGESTS = ("values_before", "values_after")


def name_of(programs: Path) -> str:
    """Return what the archive of a set is called: ``further``, ``round-07``."""
    return f"round-{programs.stem}" if programs.parent.name == "rounds" else programs.stem


def archive_of(programs: Path) -> Path:
    """Return where the archive of a set lies."""
    return TRACES / f"{name_of(programs)}.xz"


def stored_in(programs: Path) -> Iterator[tuple[str, Report]]:
    """Yield (name, report) of each stored program of a set: its recorded trace, and what the rules say of it now."""
    for line in _lines(archive_of(programs)):
        name, data = json.loads(line)
        yield name, _report(data)


def names_in(programs: Path) -> list[str]:
    """Return the names of the stored programs of a set."""
    return [line[2 : line.index(b'"', 2)].decode() for line in _lines(archive_of(programs))]


@lru_cache(maxsize=4)  # tests of one program come one after the other
def stored(name: str) -> Report | None:
    """Return the report of one program from its stored trace; None where it has none."""
    beginning = f"[{json.dumps(name)},".encode()
    found = [line for line in _lines(archive_of(_sets()[name])) if line.startswith(beginning)]
    return _report(json.loads(found[0])[1]) if found else None


def out_of_date(report: Report, name: str) -> bool:
    """True if the rules say something else of a program recorded just now than of its stored trace.

    Another PyTorch may run another way, so nothing is known of its reports.
    """
    known = stored(name)
    if known is None or known.trace.torch_version != report.trace.torch_version:
        return False
    return known.hazards != report.hazards


def packed_report(report: Report) -> Any:
    """Return a report as JSON's plain types, in the form of an archive."""
    return _differences(numbered({**report.to_dict(), "hazards": []}, {}), {}, "")


def write(programs: Path, reports: dict[str, Report]) -> bool:
    """Write the archive of a set, unless the file has these reports already."""
    texts = {name: json.dumps([name, packed_report(each)], separators=(",", ":")) for name, each in reports.items()}
    lines = [text.encode() for text in texts.values() if len(text) <= LONGEST]
    if lines == list(_lines(archive_of(programs))):
        return False
    TRACES.mkdir(exist_ok=True)
    archive_of(programs).write_bytes(lzma.compress(b"\n".join(lines), preset=6))
    _lines.cache_clear()
    return True


@lru_cache(maxsize=2)
def _lines(path: Path) -> tuple[bytes, ...]:
    return tuple(lzma.decompress(path.read_bytes()).split(b"\n")) if path.exists() else ()


@lru_cache
def _sets() -> dict[str, Path]:
    return {case["case"]: programs for programs in packed.SETS for case in packed.cases_in(programs)}


def _report(data: Any) -> Report:
    return Report.from_trace(Report.from_dict(_summed(data, {}, "")).trace)


def numbered(value: Any, known: dict[Any, int]) -> Any:
    """Return JSON with small numbers for addresses and digests, by the order in which they occur."""
    if isinstance(value, dict):
        return {
            key: known.setdefault(part, len(known) + 1)
            if key in ADDRESSES and part
            else [None if each is None else known.setdefault(each, len(known) + 1) for each in part]
            if key in DIGESTS and part
            else numbered(part, known)
            for key, part in value.items()
        }
    return [numbered(part, known) for part in value] if isinstance(value, list) else value


def _differences(value: Any, last: dict[str, int], key: str) -> Any:
    if type(value) is int:
        difference = value - last.get(key, 0)
        last[key] = value
        return difference
    if isinstance(value, dict):
        return {name: _differences(part, last, name) for name, part in value.items()}
    return [_differences(part, last, key) for part in value] if isinstance(value, list) else value


def _summed(value: Any, last: dict[str, int], key: str) -> Any:
    """Return what :func:`_differences` was given."""
    if type(value) is int:
        last[key] = value = value + last.get(key, 0)
        return value
    if isinstance(value, dict):
        return {name: _summed(part, last, name) for name, part in value.items()}
    return [_summed(part, last, key) for part in value] if isinstance(value, list) else value


def main() -> None:
    """Record the programs of the sets that the command line names, or of all."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"hist_file": ":memory:"}}))
    for programs in packed.SETS:
        if sys.argv[1:] and name_of(programs) not in sys.argv[1:]:
            continue
        reports = {}
        for case in packed.cases_in(programs):
            _error, _wrong, report = score.watched(shell, packed.source_of(programs, case["case"]))
            assert report is not None
            reports[case["case"]] = report
        print(name_of(programs), "written" if write(programs, reports) else "as it was", flush=True)


if __name__ == "__main__":
    main()
