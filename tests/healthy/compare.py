"""Runs a healthy program three ways and says what the watch changed and what it found: nothing, is the promise.

A program is the text of one or more notebook cells, parted by lines ``# %%``. It runs as cells of an IPython shell,
plainly or watched, or as the body of a function inside ``with inplace_magic.watch()``. Every tensor that its names
reach afterwards (losses, parameters, gradients, buffers, optimizer states) must have the same bytes.
"""

from __future__ import annotations

import hashlib
import random
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
WAYS = ("cell", "cells", "function")
"""One ``%%inplace_watch`` cell; cells between ``%inplace_watch on`` and ``off``; a function under ``watch()``."""


@dataclass(frozen=True)
class Outcome:
    """What a program left behind, and the report if it was watched."""

    facts: dict[str, str]
    """Digest of every tensor and number by the path from the program's names, e.g. ``model.weight.grad``."""
    report: Report | None = None

    @property
    def alarms(self) -> list[str]:
        """Findings above ``info`` and contained faults, one line each; empty for a healthy program."""
        if self.report is None:
            return ["no report was made"]
        found = [h for h in self.report.hazards if h.severity in ALARMS]
        return [f"{h.code} ({h.severity}): {h.message}" for h in found] + self.report.faults


def programs() -> dict[str, str]:
    """The torch-only programs beside this file, by name."""
    folder = Path(__file__).parent / "programs"
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}


def run(shell: Any, program: str, way: str = "cell", level: str | None = None, names: Mapping[str, Any] = {}) -> Outcome:  # noqa: B006  # read only
    """Runs a program in a new namespace from the same seeds.

    Args:
        shell: an IPython shell with the extension loaded.
        program: its text.
        way: one of ``WAYS``.
        level: the watch's level; None runs it unwatched.
        names: what the program finds in its namespace.

    Raises:
        Exception: whatever the program raised.
    """
    shell.reset(new_session=False)
    shell.user_ns.update(names)
    seed()
    with capture_output(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in cells(program, way, level):
            shell.run_cell(cell, store_history=True).raise_error()
    namespace = dict(shell.user_ns)
    report = namespace.pop("report", None)
    facts = namespace["facts"] if way == "function" else facts_of(namespace, shell.user_ns_hidden)
    return Outcome(facts, report)
