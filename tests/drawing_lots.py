"""Which slow tests are part of ``make test``: a smoke test of each kind in every run, and a tenth of the rest.

Which tenth depends on how many commits there are, so that any ten commits in a row run everything that can be drawn.
``make test-all`` runs all of it, but what is proven already (``proven.py``).
"""

from __future__ import annotations

import subprocess
from functools import cache
from hashlib import sha256
from pathlib import Path

SMOKE = (
    "tests/magics/test_kernel.py",  # a kernel, and what its notebook shows
    "tests/browser/test_report.py::test_a_saved_page_is_live",  # a browser
    "tests/no_harm/test_programs.py",  # the user's program stays the same bit for bit
    "tests/no_harm/test_operators.py::test_a_difference_would_be_seen",
    "tests/test_command_line.py::test_an_error_is_shown",  # processes
    "tests/test_command_line.py::test_a_format",
    "tests/testing/test_plugin.py::test_a_failed_test_shows",
    "tests/testing/test_plugin.py::test_each_finding_is_an_annotation",
    "tests/test_wheel.py",
    "tests/test_leaving_out.py",
    "tests/memory/test_oracle.py::test_the_rows_are",
    "tests/compare/test_real_programs.py",
)
"""Beginnings of the names of slow tests that are part of every run."""
ALL_OF_A_FILE = (
    "tests/suites",
    "tests/test_notebooks.py",
    "tests/test_startup.py",
    "tests/ranks",
)
"""Files that are drawn as one: their tests share a kernel, or processes that take longer than the tests."""
IN_TEST_ALL_ALONE = (
    "tests/test_docs_site.py",
    "tests/browser",
    "tests/lessons/test_run_oldest.py",
    "tests/suites/test_sample.py",
    "tests/test_demo.py",
)
"""Those that take a minute or more, each or together, and are never drawn."""
LOTS = 10


def is_drawn(name: str, commits: int) -> bool:
    """Return whether a slow test is part of ``make test`` at the commit of this number."""
    if name.startswith(SMOKE):
        return True
    if name.startswith(IN_TEST_ALL_ALONE):
        return False
    drawn = name.partition("::")[0] if name.startswith(ALL_OF_A_FILE) else name
    return (sha256(drawn.encode()).digest()[0] + commits) % LOTS == 0


@cache
def number_of_commits() -> int:
    """Return how many commits lead here; 0 where there is no repository."""
    git = ["git", "rev-list", "--count", "HEAD"]
    try:
        ran = subprocess.run(git, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(ran.stdout)
