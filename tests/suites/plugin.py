"""A pytest plugin that runs the body of every test in one mode and streams what became of it to a log.

``python -m pytest -p suites.plugin --suite-mode calls --suite-log calls.jsonl tests/`` with ``tests/`` of this project
on the path. ``run.py`` does that for you, once for each mode, and survives a process that dies.
"""

from __future__ import annotations

import gc
import inspect
import os
import zlib
from collections.abc import Callable, Generator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from suites.body import Notes, run_body
from suites.records import MODES, Log, Mode, Result, masked, read_names

from inplace_magic.testing.watched import Bodies

OUTPUT_KEPT = 2_000


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("suites", "other people's suites, watched")
    group.addoption("--suite-mode", choices=MODES, default="plain", help="what lies around the body of every test")
    group.addoption("--suite-log", type=Path, help="the file to write to; without it nothing is done")
    group.addoption("--suite-skip", type=Path, help="a list of tests that are not run")
    group.addoption("--suite-only", type=Path, help="a list of tests; no other is run")
    group.addoption("--suite-part", type=int, default=1, help="run one test in N, the same ones each time")
    group.addoption("--suite-report-every", type=int, default=1, help="make the report of one test in N")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--suite-log") is not None:
        config.pluginmanager.register(Suite(config), "suites-bodies")


def pytest_collection_finish() -> None:
    """What the suite imported stays to the end: no round of the garbage collector walks through it in any mode."""
    gc.collect()
    gc.freeze()


def name_of(item: pytest.Item) -> str:
    """The test's name, the same in every process."""
    return masked(item.nodeid)


def chosen(name: str, part: int) -> bool:
    """One name in `part`, whichever other tests there are."""
    return part <= 1 or zlib.crc32(name.encode()) % part == 0


class Suite(Bodies):
    """The plugin at work: one test at a time, from the first line of its record to the last."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(self._run)
        self.mode: Mode = config.getoption("--suite-mode")
        self.log = Log(config.getoption("--suite-log"))
        self.report_every: int = config.getoption("--suite-report-every")
        self._config = config
        self._parent = os.getppid()
        self._item: pytest.Item | None = None
        self._notes = Notes()
        self._outcome = ""
        self._warnings: list[str] = []
        self._output: list[str] = []

    # -- which tests ---------------------------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        skip, only = (self._names(option) for option in ("--suite-skip", "--suite-only"))
        part: int = self._config.getoption("--suite-part")
        seen: set[str] = set()
        kept = []
        for item in items:
            name = name_of(item)
            new = name not in seen  # two tests of one name, once masked, cannot be told apart
            seen.add(name)
            if new and chosen(name, part) and name not in (skip or ()) and (only is None or name in only):
                kept.append(item)
        items[:] = kept

    def _names(self, option: str) -> frozenset[str] | None:
        path: Path | None = self._config.getoption(option)
        return None if path is None else read_names(path)

    # -- one test, from outside to inside -------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        # Around everything else, because pytest hands the warnings of a test out after the rest of it.
        self._item, self._notes, self._outcome = item, Notes(), ""
        self._warnings, self._output = [], []
        name = name_of(item)
        if os.getppid() != self._parent:
            item.session.shouldstop = "the driver is gone"
        self.log.began(name)
        try:
            with self.of(item):
                return (yield)
        finally:
            self._item = None
            self.log.ended(
                Result(
                    test=name,
                    outcome=self._outcome or "setup failed",
                    warnings=tuple(self._warnings),
                    output="\n".join(self._output)[:OUTPUT_KEPT],
                    **asdict(self._notes),
                )
            )

    def _run(self, item: pytest.Item, body: Callable[[], Any], function: Callable[..., Any]) -> Any:
        name = name_of(item)
        return run_body(
            body,
            self.mode,
            self._notes,
            namespace=getattr(inspect.unwrap(function), "__globals__", {}),
            report=chosen(f"report of {name}", self.report_every),  # other ones than those of --suite-part
            left=lambda: self.log.left(name),
        )

    # -- what pytest says of it -----------------------------------------------------------------------------------

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "setup" and report.outcome != "passed":
            self._outcome = "skipped" if report.skipped else "setup failed"
        elif report.when == "call":
            self._outcome = report.outcome
            if hasattr(report, "wasxfail"):
                self._outcome = "xfailed" if report.skipped else "xpassed"
            self._output = [masked(text) for title, text in report.sections if "call" in title]

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str) -> None:
        if when == "runtest" and self._item is not None and nodeid == self._item.nodeid:
            self._warnings.append(masked(f"{warning_message.category.__name__}: {warning_message.message}"))
