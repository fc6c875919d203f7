"""One driver in one mode, in a process of its own: what it left behind, how long it took, what was found.

A driver is a text of cells: blank lines at the margin part them. The first cell imports and is never watched.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import re
import sys
import time
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy
import torch
from corpus import stand_ins
from empty_modes import EmptyDispatchMode
from IPython.core.interactiveshell import InteractiveShell
from torch.utils.hooks import RemovableHandle

import inplace_magic
from inplace_magic.report import Report
from inplace_magic.watching.last import note

Mode = Literal["plain", "empty", "calls", "ops", "cells", "plain cells"]
"""`empty` is a dispatch mode that does nothing, without a watch: what it changes is no fault of level `ops`."""
DEPTH = 6
TRAIN = """\
optimizer = torch.optim.Adam({0}.parameters(), 1e-3)
losses = []
for step in range(3):
    optimizer.zero_grad()
    loss = {1}
    loss.backward()
    optimizer.step()
    losses.append(loss.item())"""


@dataclass(frozen=True)
class Cell:
    """A piece of source that is compiled by itself, and where its text lies."""

    text: str
    file: Path
    line: int = 1


@dataclass(frozen=True)
class Version:
    """A version counter, which is compared apart: at level `ops` PyTorch adds up gradients in another way."""

    count: int


@dataclass
class Outcome:
    """What a run left; plain data."""

    error: str | None = None
    state: dict[str, str] = field(default_factory=dict)
    """Name in the driver's namespace → digest of what is reached from it."""
    seconds: float = 0.0
    report_seconds: float = 0.0
    calls: int = 0
    findings: list[dict[str, str]] = field(default_factory=list)
    infos: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def cells(text: str, checkout: Path, folder: Path) -> list[Cell]:
    """Return the cells of a driver, with those of the checkout's notebooks and scripts that it names.

    `# cells: FILE.ipynb 0 2-4` takes code cells by their position, `# script: FILE.py` a whole file, and a line below,
    `# instead: OLD => NEW`, changes their text. `# train MODEL: LOSS` is the loop of three steps with Adam.
    """
    driver = folder / "driver.py"
    text = re.sub(r"^# train (\S+): (.*)$", lambda match: TRAIN.format(*match.groups()), text, flags=re.MULTILINE)
    driver.write_text(text)
    found, line = [], 1
    for part in re.split(r"(\n\n+(?=\S))", text):
        if part.strip():
            taken = re.match(r"# (cells|script): (.+?\.(?:ipynb|py))\b ?(.*)", part)
            found += _taken(part, *taken.groups(), checkout, folder) if taken else [Cell(part, driver, line)]
        line += part.count("\n")
    return found


def _taken(part: str, kind: str, name: str, which: str, checkout: Path, folder: Path) -> list[Cell]:
    text = (checkout / name).read_text(encoding="utf-8")
    sources = {0: text}
    if kind == "cells":
        codes = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        sources = {at: "".join(codes[at]["source"]) for at in _numbers(which)}
    taken = []
    for at, source in sources.items():
        for old, new in re.findall(r"^# instead: (.*?) => (.*)$", part, re.MULTILINE):
            source = source.replace(old.replace("\\n", "\n"), new.replace("\\n", "\n"))
        file = folder / (f"{Path(name).stem}-{at}.py" if kind == "cells" else Path(name).name)
        file.write_text(source)
        taken.append(Cell(source, file))
    return taken


def _numbers(which: str) -> list[int]:
    ranges = [piece.split("-") for piece in which.split()]
    return [at for first, *last in ranges for at in range(int(first), int(last[0] if last else first) + 1)]


def run(text: str, mode: Mode, checkout: Path, folder: Path) -> Outcome:
    """Return what the driver left in this mode."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    names = main.__dict__
    names.update(stand_ins.GIVEN, torch=torch, sys=sys, ROOT=checkout, __file__=str(folder / "driver.py"))
    first, *rest = cells(text, checkout, folder)
    _seed()
    exec(compile(first.text, first.file, "exec"), names)
    outcome = Outcome()
    _seed()
    if mode in ("cells", "plain cells"):
        _as_notebook(rest, mode, names, outcome, checkout)
    else:
        _as_script(rest, mode, names, outcome, checkout)
    outcome.state |= _state(names)
    return outcome


def _as_script(rest: list[Cell], mode: Mode, names: dict[str, Any], outcome: Outcome, checkout: Path) -> None:
    codes = [compile("\n" * (cell.line - 1) + cell.text, cell.file, "exec") for cell in rest]
    watch = None if mode in ("plain", "empty") else inplace_magic.watch(level=mode)
    error: BaseException | None = None
    started = time.process_time()
    if watch is not None:
        watch.start(frame=sys._getframe())
    try:
        with EmptyDispatchMode() if mode == "empty" else contextlib.nullcontext():
            for code in codes:
                exec(code, names)
    except BaseException as raised:
        error = sys.last_value = raised
        outcome.error = f"{type(raised).__name__}: {raised}"
    if watch is not None:
        watch.leave()
    outcome.seconds = time.process_time() - started
    outcome.state["random"] = _random()
    if watch is not None:
        _look(lambda: watch.stop(namespace=names, error=error), outcome, checkout)
        note(watch.report)


def _as_notebook(rest: list[Cell], mode: Mode, names: dict[str, Any], outcome: Outcome, checkout: Path) -> None:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(user_ns=names)
    shell.run_line_magic("load_ext", "inplace_magic")
    if mode == "cells":
        shell.run_line_magic("inplace_watch", "on")
    before = inplace_magic.last_report()
    for cell in rest:
        started = time.process_time()
        result = shell.run_cell(cell.text, store_history=True)
        outcome.seconds += time.process_time() - started
        report = inplace_magic.last_report()
        if report is not None and report is not before:
            _look(lambda made=report: made, outcome, checkout)
        before = report
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            outcome.error = f"{type(error).__name__}: {error}"
            break
    outcome.state["random"] = _random()


def _look(report_of: Any, outcome: Outcome, checkout: Path) -> None:
    started, random_before = time.process_time(), _random()
    report: Report = report_of()
    hazards = list(report.hazards)
    outcome.report_seconds += time.process_time() - started
    outcome.faults += report.faults
    if _random() != random_before:
        outcome.faults.append("making the report drew random numbers")
    outcome.calls += len(report.calls)
    outcome.infos += [hazard.code for hazard in hazards if not hazard.is_alarm]
    outcome.findings += [_finding(hazard, checkout) for hazard in hazards if hazard.is_alarm]


def _finding(hazard: Any, checkout: Path) -> dict[str, str]:
    site = hazard.mutation or hazard.read or hazard.saved or hazard.origin
    place = "unknown"
    if site is not None:
        file = Path(site.file) if site.file else None
        inside = file is not None and file.is_relative_to(checkout)
        name = "cell" if file is None else str(file.relative_to(checkout)) if inside else file.name
        place = f"{name}:{site.line}"
    text = "" if site is None else (site.text or "").strip()
    return {
        "code": hazard.code,
        "severity": hazard.severity,
        "place": place,
        "line": text,
        "message": hazard.message,
        "fix": hazard.fix or "",
    }


def _seed() -> None:
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)


def _random() -> str:
    return _digest((torch.get_rng_state().numpy().tobytes(), random.getstate(), str(numpy.random.get_state())))


def _digest(value: object) -> str:
    return hashlib.sha1(repr(value).encode()).hexdigest()[:12]


def _state(names: Mapping[str, Any]) -> dict[str, str]:
    """Return a digest of each name of the driver's that leads to numbers."""
    given = {*stand_ins.GIVEN, "In", "Out", "exit", "quit", "open", "get_ipython"}
    reached: dict[str, str] = {}
    versions: list[int] = []
    for name, value in sorted(names.items()):
        if name[0] != "_" and name not in given and not isinstance(value, (type, types.ModuleType, types.FunctionType)):
            pieces = _pieces(value, set(), DEPTH)
            if pieces:
                reached[name] = _digest([piece for piece in pieces if not isinstance(piece, Version)])
                versions += [piece.count for piece in pieces if isinstance(piece, Version)]
    return {**reached, "versions": " ".join(map(str, versions))}


def _pieces(value: Any, seen: set[int], depth: int) -> list[object]:
    if isinstance(value, (bool, int, float, complex)):
        return [value]
    if depth == 0 or id(value) in seen or isinstance(value, RemovableHandle):  # its number counts all hooks ever
        return []
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        return _tensor(value) + ([] if not value.is_leaf or value.grad is None else _tensor(value.grad))
    if isinstance(value, numpy.ndarray):
        return [value.tobytes() if value.dtype != object else str(value.shape)]
    if isinstance(value, Mapping):
        parts: list[Any] = list(value.values())
    elif isinstance(value, (list, tuple)):
        parts = list(value)
    elif hasattr(value, "__dict__") and not isinstance(value, (type, types.ModuleType, types.FunctionType)):
        parts = list(vars(value).values())
    else:
        return []
    return [piece for part in parts for piece in _pieces(part, seen, depth - 1)]


def _tensor(tensor: torch.Tensor) -> list[object]:
    try:
        plain = torch.Tensor.detach(tensor).cpu().contiguous()
        raw = plain.view(torch.uint8).numpy().tobytes()
        return [Version(tensor._version), str(plain.dtype), tuple(plain.shape), raw]
    except (RuntimeError, TypeError):  # sparse, quantized or a scalar without bytes
        return [str(tensor.detach())]
