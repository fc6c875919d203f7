"""Every lesson of notebooks/zh, run from a fresh kernel of this environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from lessons.running import lessons_in, promises_of_run_all, run
from lessons.texts import named


@pytest.mark.parametrize("text", lessons_in("zh"), ids=named)
def test_a_lesson_runs_from_top_to_bottom(text: Path) -> None:
    promises_of_run_all(run(text))
