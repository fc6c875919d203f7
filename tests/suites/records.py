"""What is written down of one test in one mode, and the file that it is written to while the tests run.

A log is a text file of JSON lines: ``began`` before a test, ``left`` when its body is over, ``ended`` with all that is
known of it. A process that dies leaves an open ``began`` behind, which says in which test it died and where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

Mode = Literal["plain", "calls", "ops", "empty-function", "empty-dispatch"]
MODES: tuple[Mode, ...] = ("plain", "calls", "ops", "empty-function", "empty-dispatch")
YARDSTICK: dict[str, Mode] = {"calls": "empty-function", "ops": "empty-dispatch"}
"""The mode that does nothing, for each level: what it changes too is PyTorch's doing."""

CRASH = "crash"
TIME = "time"
"""Outcomes that only the driver can write: the process died; the test took longer than its limit."""

_MASKS = (
    (re.compile(r"0x[0-9a-fA-F]{4,}"), "0x…"),
    (re.compile(r"(/tmp|/var/tmp)/[^\s'\":,)]*"), "/tmp/…"),
    (re.compile(r"\b\d+(\.\d+)?(e[-+]?\d+)? ?(s|ms|us|μs|µs|sec|secs|seconds?|minutes?|it/s)\b"), "… seconds"),
    (re.compile(r"\b\d+:\d+(:\d+)?([.,]\d+)?\b"), "…:…"),
    (re.compile(r"\b(pid|tid|id|thread|process)([=: ]+)\d+", re.IGNORECASE), r"\1\2…"),
    (re.compile(r"(?<![\d.])\d{9,}(?![\d.])"), "…"),
)


def masked(text: str) -> str:
    """Text without what differs between any two runs: addresses, identities, temporary files, times."""
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    return text


@dataclass(frozen=True)
class Finding:
    """One finding of a report, without the report."""

    code: str
    severity: str
    message: str
    place: str
    raised: bool = False


@dataclass(frozen=True)
class Result:
    """One test in one mode."""

    test: str
    outcome: str
    """``passed``, ``failed``, ``skipped``, ``xfailed``, ``xpassed``, ``setup failed``.

    The driver writes two more: ``crash`` and ``time``.
    """
    entered: bool = False
    """Whether its body was run by the plugin; a test that was skipped before that cannot be compared."""
    error: str | None = None
    """Type and text of what the body raised, masked."""
    cause: str | None = None
    traceback: tuple[str, ...] = ()
    """``file:function`` of each frame from the body on."""
    random: tuple[str, ...] = ()
    """Digests of the states of torch's, NumPy's and Python's generators after the body."""
    warnings: tuple[str, ...] = ()
    modes_left: tuple[int, int] = (0, 0)
    """How many more modes lie on torch's two stacks after the body than before it."""
    output: str = ""
    cpu_seconds: float = 0.0
    """Of the body, all threads of this process."""
    report_seconds: float | None = None
    calls: int | None = None
    """Recorded in the report; None where none was made."""
    findings: tuple[Finding, ...] = ()
    faults: tuple[str, ...] = ()
    blindness: tuple[str, ...] = ()


def result_from(data: dict[str, Any]) -> Result:
    """The inverse of ``asdict``, by way of JSON."""
    known = {f.name for f in fields(Result)}
    kept = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items() if key in known}
    kept["findings"] = tuple(Finding(**finding) for finding in data.get("findings", ()))
    return Result(**kept)


class Log:
    """A log that is being written; each line is on the disk before the next step is taken."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def began(self, test: str) -> None:
        self._write({"began": test})

    def left(self, test: str) -> None:
        self._write({"left": test})

    def ended(self, result: Result) -> None:
        self._write({"ended": asdict(result)})

    def _write(self, line: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


@dataclass(frozen=True)
class Open:
    """A test that began and did not end."""

    test: str
    body_over: bool


def read(path: Path) -> tuple[dict[str, Result], Open | None]:
    """The tests that ended, by name, and the one that did not."""
    results: dict[str, Result] = {}
    unfinished: Open | None = None
    for line in _lines(path):
        if "began" in line:
            unfinished = Open(line["began"], body_over=False)
        elif "left" in line:
            unfinished = Open(line["left"], body_over=True)
        else:
            result = result_from(line["ended"])
            results[result.test] = result
            unfinished = None
    return results, unfinished


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            if text.endswith("\n"):  # a process that dies in the middle of a line leaves no whole line
                yield json.loads(text)


def write_names(path: Path, names: Iterable[str]) -> None:
    """A list of tests for the plugin to read."""
    path.write_text(json.dumps(sorted(names)), encoding="utf-8")


def read_names(path: Path) -> frozenset[str]:
    """The inverse of :func:`write_names`."""
    return frozenset(json.loads(path.read_text(encoding="utf-8")))
