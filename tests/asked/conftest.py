"""Every question is asked at both levels: the cheap one must answer it, the deep one must agree."""

from __future__ import annotations

from typing import Any

import pytest
from asked.asking import Asker


@pytest.fixture(params=["calls", "ops"])
def ask(request: pytest.FixtureRequest, loaded_shell: Any) -> Asker:
    """Runs a program plainly and watched, and gives its report to be asked."""
    return Asker(loaded_shell, request.param)
