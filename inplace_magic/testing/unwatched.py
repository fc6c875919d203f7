"""The plugin without a watch: a failed test shows the answer to its error."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from inplace_magic.answering.asked import answer_of
from inplace_magic.render.deliver import has_note
from inplace_magic.testing.plugin import TITLE


class Answering:
    """Adds the answer as a section of an unwatched test."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # behind all others: a watched test has its section already
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
        made: pytest.TestReport = yield
        error = call.excinfo.value if call.excinfo is not None else None
        told = any(title == TITLE for title, _text in made.sections)
        if made.failed and error is not None and not told and not has_note(error):
            found = answer_of(error)
            if found is not None:
                made.sections.append((TITLE, str(found)))
        return made
