"""The part that pytest loads: options, marker and fixture; nothing else until one of them is used.

::

    pytest --inplace-watch                          a failed test shows its finding as a section
    pytest --inplace-watch=ops --inplace-fail-on=silent
    pytest --inplace-watch --inplace-annotate       findings beside their lines, in GitHub Actions
    @pytest.mark.inplace_watch(fail_on="silent")    one test, whatever the options
    pytest --inplace-answer                         no watch: a test that fails by an autograd error shows its cause
    def test_step(inplace_watch): ...; assert not inplace_watch.report.hazards
"""

from __future__ import annotations

import os
from collections.abc import Generator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from inplace_magic import flags
from inplace_magic.record.options import LEVELS

if TYPE_CHECKING:
    from inplace_magic.testing.watched import Watched

MARKER = "inplace_watch"
TITLE = "inplace_magic"
"""Title of a test's section, of the summary's, and of the options in the help."""
FAIL_ON = {"silent": ("silent",), "warning": ("silent", "warning")}
"""Values of ``--inplace-fail-on``, and the severities that then fail a passing test."""
PASSED_ON = ("check_values", "full", "max_events", "lang")
"""Option fields with the same flag here, prefixed ``inplace-``."""
OPTION = "--inplace-watch"
AT_WORK = "inplace_magic at work"
ANSWERING = "inplace_magic answering"
"""Registered names of the plugin and of its parts."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup(TITLE, "in-place writes")
    level_help = "watch the body of every test, at level calls (default) or ops; a failed test shows what was found"
    fail_help = "fail tests that pass with a wrong result (silent), or with a warning too (warning)"
    group.addoption(OPTION, nargs="?", const="calls", metavar="LEVEL", help=level_help)
    answer_help = "watch nothing; a test that fails by an autograd error shows what caused it"
    group.addoption("--inplace-answer", action="store_true", default=False, help=answer_help)
    group.addoption("--inplace-fail-on", metavar=flags.one_of(*FAIL_ON), help=fail_help)
    annotate_help = "print each finding as an annotation of GitHub Actions, which stands beside its line"
    group.addoption("--inplace-annotate", action="store_true", default=False, help=annotate_help)
    for field in PASSED_ON:
        (flag,), told = flags.settings(field)
        group.addoption(f"--inplace-{flag[2:]}", **{**told, "dest": f"inplace_{field}", "default": None})
    parser.addini("inplace_watch", "as --inplace-watch, e.g. `inplace_watch = calls`", default="")
    parser.addini("inplace_answer", "as --inplace-answer", type="bool", default=False)
    parser.addini("inplace_fail_on", "as --inplace-fail-on", default="")
    parser.addini("inplace_annotate", "as --inplace-annotate", type="bool", default=False)


def pytest_load_initial_conftests(args: list[str]) -> None:
    """Read ``--inplace-watch test_step.py`` as option and file: pytest would take the file for the level."""
    for at, (option, word) in enumerate(pairwise(args)):
        if option == OPTION and word not in LEVELS and os.path.exists(word.partition("::")[0]):
            args[at] = f"{OPTION}={LEVELS[0]}"


def pytest_configure(config: pytest.Config) -> None:
    text = (
        f"{MARKER}(level='calls', fail_on=None): watch the body of this test, as --inplace-watch does for all of them"
    )
    config.addinivalue_line("markers", text)
    if config.getoption("inplace_answer") or config.getini("inplace_answer"):
        config.pluginmanager.register(Answering(), ANSWERING)
    if config.getoption("inplace_watch") or config.getini("inplace_watch"):
        _set_to_work(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if any(item.get_closest_marker(MARKER) or MARKER in getattr(item, "fixturenames", ()) for item in items):
        _set_to_work(config)


def _set_to_work(config: pytest.Config) -> None:
    if config.pluginmanager.has_plugin(AT_WORK):
        return
    from inplace_magic.testing.watched import Watching

    config.pluginmanager.register(Watching(config), AT_WORK)


class Answering:
    """Adds the answer to the error of an unwatched test that failed, as a section."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # behind all others: a watched test has its section already
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
        from inplace_magic.answering.asked import answer_of
        from inplace_magic.render.deliver import has_note

        made: pytest.TestReport = yield
        error = call.excinfo.value if call.excinfo is not None else None
        told = any(title == TITLE for title, _text in made.sections)
        if made.failed and error is not None and not told and not has_note(error):
            found = answer_of(error)
            if found is not None:
                made.sections.append((TITLE, str(found)))
        return made


@pytest.fixture
def inplace_watch(request: pytest.FixtureRequest) -> Watched:
    """Return the watch of this test: ``inplace_watch.report`` is the report of its body so far."""
    at_work: Any = request.config.pluginmanager.get_plugin(AT_WORK)
    watched: Watched = at_work.watched(request.node)
    return watched
