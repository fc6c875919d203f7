"""Proofs that a run has made: tests that depend on few files need not run again while these stay as they are.

    python tests/proven.py [--anew]     run the proofs whose files changed, or all; write proven.json if they pass

A test of :data:`PROOFS` depends on the files listed there, on torch and on Python. ``proven.json`` holds a digest of
these for each proof of which all tests passed. ``make test-all`` (``pytest --unproven``) leaves out the tests of a
proof whose digest is still the same, but for a tenth of them, another one with each commit (``drawing_lots.py``). After
a change of one of the files, or of torch, all tests of the proof run: whoever forgets to write ``proven.json`` waits
longer, and nothing goes untested.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KNOWN = Path(__file__).with_name("proven.json")

SHOWING = {
    f"inplace_magic/{room}"
    for room in (
        *("answering", "callbacks", "cli", "comparing", "lessons", "locale", "postmortem", "proving", "ranks"),
        *("render", "testing", "widgets"),
    )
}
"""Rooms that neither watch a cell nor say what is found in it."""
JUDGING = {f"inplace_magic/{room}" for room in ("analysis", "hazards", "language.py", "report.py", "report_names.py")}
"""Rooms that read a record when the watch is over."""
LABELLED = ("tests/programs", "tests/stored.py", "tests/traces", "tests/cells.py")

PROOFS: dict[str, tuple[bool, tuple[str, ...]]] = {
    "tests/test_rounds.py::test_a_program_of_a_round": (False, ("tests/test_rounds.py", *LABELLED)),
    "tests/test_rounds.py::test_a_long_program": (True, ("tests/test_rounds.py", "tests/gate.py", *LABELLED)),
    "tests/test_rounds.py::test_the_diffs": (True, ("tests/test_rounds.py", "tests/hazards/curing.py", *LABELLED)),
    "tests/test_further_programs.py::test_a_further_program": (True, ("tests/test_further_programs.py", *LABELLED)),
    "tests/test_programs_in_files.py": (
        True,
        ("tests/test_programs_in_files.py", "tests/test_further_programs.py", *LABELLED),
    ),
    "tests/hazards/test_fixes.py::test_the_diff_cures": (
        True,
        ("tests/hazards/test_fixes.py", "tests/hazards/curing.py", "tests/hazards/patching.py", *LABELLED),
    ),
    "tests/no_harm/test_operators.py": (False, ("tests/no_harm",)),
    "tests/no_harm/fuzz": (True, ("tests/no_harm",)),
}
"""Beginning of the names of its tests -> (whether what is found matters, and not only what is recorded; the tests'
files). The package's own files are added."""


def proof_of(name: str) -> str | None:
    """Return the proof that a test belongs to; None where it depends on more than a proof names."""
    return next((proof for proof in PROOFS if name.startswith(proof)), None)


@cache
def is_proven(proof: str) -> bool:
    """True if a run has passed the tests of a proof with the files that are here now."""
    return bool(known().get("proofs", {}).get(proof) == digest(proof))


def digest(proof: str) -> str:
    """Return a digest of all that a proof depends on."""
    judged, files = PROOFS[proof]
    whole = sha256(f"{version('torch')} {sys.version_info[:2]}".encode())
    left_out = SHOWING if judged else SHOWING | JUDGING
    for path in sorted({*_files("inplace_magic", left_out), *(each for file in files for each in _files(file, set()))}):
        if judged or path.name != "golden.jsonl":
            whole.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + _digest(path))
    return whole.hexdigest()[:16]


def without_trace() -> frozenset[str]:
    """Return the names of the labelled programs that are too long for a stored trace."""
    return frozenset(known().get("without_trace", ()))


@cache
def known() -> dict[str, object] | dict[str, dict[str, str]]:
    """Return what ``proven.json`` says; nothing where it is missing."""
    return json.loads(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else {}


def _files(place: str, left_out: set[str]) -> Iterator[Path]:
    path = ROOT / place
    for file in path.rglob("*") if path.is_dir() else (path,):
        parts = file.relative_to(ROOT).as_posix().split("/")
        if file.suffix in (".py", ".md", ".xz", ".jsonl", ".json") and "/".join(parts[:2]) not in left_out:
            yield file


@cache
def _digest(path: Path) -> bytes:
    return sha256(path.read_bytes()).digest()


def main() -> int:
    """Run what is not proven; return pytest's exit status."""
    import stored
    from programs import packed

    names = {case["case"] for programs in packed.SETS for case in packed.cases_in(programs)}
    long = sorted(names - {name for programs in packed.SETS for name in stored.names_in(programs)})
    if list(without_trace()) != long:
        _write({**known(), "without_trace": long})
    stale = [proof for proof in PROOFS if "--anew" in sys.argv or not is_proven(proof)]
    digests = {proof: digest(proof) for proof in stale}
    if stale:
        files = sorted({proof.partition("::")[0] for proof in stale})
        chosen = [option for proof in stale for option in ("--proof", proof)]
        pytest = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", *chosen, *files]
        status = subprocess.run(pytest, cwd=ROOT, check=False).returncode
        if status:
            return status
    proofs = {proof: digests[proof] if proof in stale else known()["proofs"][proof] for proof in PROOFS}
    _write({"proofs": proofs, "without_trace": long})
    print(f"{len(stale)} proofs run, {len(PROOFS) - len(stale)} as they were: {KNOWN.relative_to(ROOT)}")
    return 0


def _write(content: dict[str, object]) -> None:
    KNOWN.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    known.cache_clear()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
