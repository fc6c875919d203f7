"""Runs a healthy program with and without the watch, and says what the watch changed and what it found.

A program is the text of one or more notebook cells, parted by lines ``# %%``. It runs as cells of an IPython shell,
plainly or watched, or as the body of a function inside ``with inplace_magic.watch()``. Every tensor and number that its
names reach afterwards (losses, parameters, gradients, buffers, optimizer states) must be the same, bit for bit.
"""

from __future__ import annotations

import hashlib
import random
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from IPython.utils.capture import capture_output

from inplace_magic.report import Report

ALARMS = ("error", "silent", "warning")
LEVELS = ("calls", "ops")
WAYS = ("cell", "cells", "function")
"""One ``%%inplace_watch`` cell; cells between ``%inplace_watch on`` and ``off``; a function under ``watch()``."""

_PROGRAM = re.compile(r"^## (\w+)\n\n```python\n(.*?)```$", re.MULTILINE | re.DOTALL)
FUNCTION = """\
def main():
{body}
    return {{name: kept for name, kept in locals().items() if isinstance(kept, (torch.nn.Module, list))}}

{watched}
    left = main()
"""


@dataclass(frozen=True)
class Outcome:
    """What a program left behind, and the report if it was watched."""

    facts: dict[str, str]
    """Digest of every tensor and number by its path from the program's names, e.g. ``model.weight.grad``."""
    report: Report | None = None

    @property
    def alarms(self) -> list[str]:
        """Findings above ``info`` and contained faults, one line each; empty for a healthy program."""
        if self.report is None:
            return ["no report was made"]
        found = [hazard for hazard in self.report.hazards if hazard.severity in ALARMS]
        return [f"{hazard.code} ({hazard.severity}): {hazard.message}" for hazard in found] + self.report.faults


def programs() -> dict[str, str]:
    """Return the text of each program of ``programs.md``, by name; they need nothing but torch."""
    return dict(_PROGRAM.findall(Path(__file__).with_name("programs.md").read_text(encoding="utf-8")))


def run(
    shell: Any, program: str, way: str = "cell", level: str | None = None, names: Mapping[str, Any] | None = None
) -> Outcome:
    """Runs a program in a new namespace, always from the same seeds.

    Args:
        shell: an IPython shell with the extension loaded.
        program: its text.
        way: one of ``WAYS``.
        level: the level of the watch; None runs the program unwatched.
        names: what the program finds in its namespace.

    Raises:
        Exception: whatever the program raised.
    """
    shell.reset(new_session=False)
    shell.user_ns.update(names or {})
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    with capture_output(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in cells(program, way, level):
            shell.run_cell(cell, store_history=True).raise_error()
    left = {name: value for name, value in shell.user_ns.items() if name not in shell.user_ns_hidden}
    report = left.pop("report", None)
    return Outcome(dict(facts("", left, set())), report)


def cells(program: str, way: str, level: str | None) -> list[str]:
    """The cells to run, in order."""
    if way == "function":
        watched = "if True:" if level is None else f"with inplace_magic.watch(level={level!r}) as watch:"
        main = FUNCTION.format(body=textwrap.indent(program, "    "), watched=watched)
        after = [] if level is None else ["report = watch.report\ndel watch"]
        return ["import inplace_magic, torch", main, *after]
    parts = program.split("# %%\n")
    if level is None:
        return ["".join(parts)] if way == "cell" else parts
    if way == "cell":
        return [f"%%inplace_watch --level {level} --out report\n" + "".join(parts)]
    return [f"%inplace_watch on --level {level} --out report", *parts, "%inplace_watch off"]


def facts(path: str, value: Any, seen: set[int]) -> Iterator[tuple[str, str]]:
    """Paths and digests of what is reached from a value through containers, modules and optimizers."""
    if isinstance(value, (bool, int, float, str)):
        yield path, repr(value)
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        content = value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
        yield path, f"{value.dtype} {tuple(value.shape)} {hashlib.sha256(content).hexdigest()}"
        if value.is_leaf and value.grad is not None:
            yield from facts(f"{path}.grad", value.grad, seen)
    elif isinstance(value, torch.nn.Module):
        for name, tensor in [*value.named_parameters(), *value.named_buffers()]:
            yield from facts(f"{path}.{name}", tensor, seen)
    elif isinstance(value, torch.optim.Optimizer):
        yield from facts(path, value.state_dict(), seen)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not str(key).startswith("_") and key not in ("In", "Out"):
                yield from facts(f"{path}.{key}" if path else str(key), item, seen)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from facts(f"{path}[{index}]", item, seen)


def changed(plain: Outcome, watched: Outcome) -> list[str]:
    """Paths whose tensors or numbers the watch changed, added or lost."""
    paths = plain.facts.keys() | watched.facts.keys()
    return sorted(path for path in paths if plain.facts.get(path) != watched.facts.get(path))
