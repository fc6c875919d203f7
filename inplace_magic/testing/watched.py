"""The plugin with a watch: the body of a test runs inside it, and pytest shows the finding with the test."""

from __future__ import annotations

import inspect
import sys
import unittest
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any

import pytest

from inplace_magic.errors import InplaceMagicError, OptionError
from inplace_magic.flags import Options
from inplace_magic.hazards import Hazard
from inplace_magic.language import _, sentences, use_language
from inplace_magic.record.options import LEVELS, WatchOptions
from inplace_magic.render.deliver import complain
from inplace_magic.report import Report
from inplace_magic.testing.plugin import FAIL_ON, MARKER, PASSED_ON, TITLE
from inplace_magic.watching.api import watch, without_detours

Run = Callable[[pytest.Item, Callable[[], Any], Callable[..., Any]], Any]
"""Takes the test, its body and the body's function; returns the body's result."""


class Bodies:
    """A plugin part that runs the body of every test by `run`."""

    def __init__(self, run: Run) -> None:
        self._run_body = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> object | None:
        function = pyfuncitem.obj
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            return None  # whoever runs those does it in its own way
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        self._run_body(pyfuncitem, partial(function, **arguments), function)
        return True

    @contextmanager
    def of(self, item: pytest.Item) -> Iterator[None]:
        """Return the wrapper for a ``unittest`` method, whose body pytest does not call itself."""
        kind = getattr(item, "cls", None)
        is_unittest = inspect.isclass(kind) and issubclass(kind, unittest.TestCase)
        owners: tuple[Any, ...] = (unittest.IsolatedAsyncioTestCase, unittest.TestCase) if is_unittest else ()
        with pytest.MonkeyPatch.context() as patch:
            for owner in owners:
                patch.setattr(owner, "_callTestMethod", self._replacement(item, owner._callTestMethod))
            yield

    def _replacement(self, item: pytest.Item, original: Callable[..., Any]) -> Callable[..., Any]:
        def _callTestMethod(case: unittest.TestCase, method: Callable[[], Any]) -> Any:
            if case is not getattr(item, "instance", None):  # a suite may hold suites that its tests run
                return original(case, method)
            return self._run_body(item, partial(original, case, method), method)

        return _callTestMethod


KEY = pytest.StashKey["Watched"]()


@dataclass(eq=False)
class Watched:
    """The watch of one test, the value of the fixture ``inplace_watch``."""

    options: Options
    fail_on: tuple[str, ...]
    _watch: watch | None = None
    _frame: FrameType | None = None
    _namespace: Mapping[str, Any] = field(default_factory=dict)
    _report: Report | None = None

    @property
    def report(self) -> Report:
        """The report of the test's body so far; the watch goes on.

        Raises:
            InplaceMagicError: the body has not begun, as in another fixture.
        """
        if self._report is not None:
            return self._report
        if self._watch is None or self._frame is None:
            raise InplaceMagicError(_("The body of this test has not begun: there is nothing to report."))
        report = self._watch.peek(namespace=sys._getframe(1))
        self._watch.start(frame=self._frame, gives_way=True)
        return report

    def run(self, body: Callable[[], Any], namespace: Mapping[str, Any]) -> Any:
        """Run the body and return its result or raise its error; then :attr:`report` covers all of it."""
        watching, self._frame = watch(self.options.watch), sys._getframe()
        raised: BaseException | None = None
        try:
            watching.start(frame=self._frame, gives_way=True)
        except Exception as fault:  # containment: a test is run, whatever becomes of its watch
            complain(_("this test runs unwatched, because the watch could not start"), fault)
            return body()
        self._watch = watching
        try:
            return body()
        except BaseException as error:
            raised = error
            raise
        finally:
            watching.leave()
            if raised is not None:
                without_detours(raised)
            self._report = watching.stop(namespace=namespace, error=raised)
            self._frame = self._watch = None
            del raised  # it holds this frame through its traceback


class Watching(Bodies):
    """Runs bodies inside watches and reports the findings."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(self._run)
        self._config = config
        self._every = config.getoption("inplace_watch") or config.getini("inplace_watch")
        self._fail_on = config.getoption("inplace_fail_on") or config.getini("inplace_fail_on") or None
        options = {name: config.getoption(f"inplace_{name}") for name in PASSED_ON}
        self._annotates = config.getoption("inplace_annotate") or config.getini("inplace_annotate")
        self._given = {name: value for name, value in options.items() if value is not None}
        self._asked({}, "--inplace-watch")  # what cannot be done is said before anything is collected

    def watched(self, item: pytest.Item) -> Watched:
        """Return the watch of a test by its marker and options."""
        if KEY not in item.stash:
            marker = item.get_closest_marker(MARKER)
            item.stash[KEY] = self._asked(marker.kwargs if marker is not None else {}, f"@pytest.mark.{MARKER}")
        return item.stash[KEY]

    def _asked(self, marked: Mapping[str, Any], by: str) -> Watched:
        fail_on = marked.get("fail_on", self._fail_on)
        unknown = sorted(set(marked) - {"fail_on"} - set(WatchOptions.__dataclass_fields__))
        try:
            if unknown:
                raise OptionError(_("there is no option {name!r}.").format(name=unknown[0]))
            if fail_on is not None and fail_on not in FAIL_ON:
                text = _("fail-on {name!r} does not exist; choose one of {choices}.")
                raise OptionError(text.format(name=fail_on, choices=", ".join(FAIL_ON)))
            options = Options.of({"level": self._every or "calls", **self._given, **marked})
        except OptionError as error:
            hint = _("Write `--inplace-watch=LEVEL`, or put the option behind the tests.")
            taken = self._every and self._every not in LEVELS  # the word behind the option, which may be a file
            raise pytest.UsageError(sentences(f"{by}: {error}", hint if taken else "")) from None
        return Watched(options, FAIL_ON.get(fail_on or "", ()))

    def _wants(self, item: pytest.Item) -> bool:
        asked = item.get_closest_marker(MARKER) is not None or MARKER in getattr(item, "fixturenames", ())
        return bool(self._every) or asked

    def _run(self, item: pytest.Item, body: Callable[[], Any], function: Callable[..., Any]) -> Any:
        watched = self.watched(item)
        given = watched.run(body, getattr(inspect.unwrap(function), "__globals__", {}))
        if watched._report is None:
            return given
        found = [finding for finding in watched.report.findings if finding.severity in watched.fail_on]
        if found:
            pytest.fail(_text(watched.report, found), pytrace=False)
        return given

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> object | None:
        return super().pytest_pyfunc_call(pyfuncitem) if self._wants(pyfuncitem) else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        if not self._wants(item):
            return (yield)
        with self.of(item):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
        made: pytest.TestReport = yield
        watched = item.stash.get(KEY, None) if call.when == "call" else None
        if watched is not None and watched._report is not None:
            found = [finding for finding in watched.report.findings if finding.severity != "info"]
            told = watched.fail_on and any(finding.severity in watched.fail_on for finding in found)
            if self._annotates:
                from inplace_magic.render.machines.sarif import annotation_of

                with use_language(watched.report.language, watched.report.framework):
                    vars(made)["inplace_annotations"] = list(map(annotation_of, found))
            if found and not (told and made.failed):
                made.sections.append((TITLE, _text(watched.report, found)))
            made.sections += [(f"{TITLE}: fault", fault) for fault in watched.report.faults]
        return made

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print passing tests with findings, whose sections pytest hides, and the annotations. Workers of xdist have no
        output, so it happens here."""
        reports = [
            made
            for outcome in ("failed", "passed", "xfailed", "xpassed")
            for made in terminalreporter.stats.get(outcome, ())
        ]
        for line in dict.fromkeys(line for made in reports for line in getattr(made, "inplace_annotations", ())):
            terminalreporter.write_line(line)
        lines = [
            f"{made.nodeid}\n{text}"
            for made in terminalreporter.stats.get("passed", ())
            for title, text in made.sections
            if title.startswith(TITLE)
        ]
        if lines:
            terminalreporter.write_sep("=", _("{name}: found in tests that passed").format(name=TITLE))
            terminalreporter.write_line("\n\n".join(lines))


def _text(report: Report, found: list[Hazard]) -> str:
    from inplace_magic.render.text import to_findings

    with use_language(report.language):
        return to_findings(report, found)
