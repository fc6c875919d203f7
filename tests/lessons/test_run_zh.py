"""Every lesson of notebooks/zh, run in one kernel of this environment. Its code is that of notebooks/en, of which each
lesson has a fresh kernel (``test_run_en.py``, and ``test_texts.py`` holds the two together)."""

from __future__ import annotations

from lessons.running import code_cells, lessons_in, promises_of_run_all
from lessons.texts import BUILD, named


def test_every_lesson_runs_from_top_to_bottom_where_another_ran_before() -> None:
    texts = lessons_in("zh")
    for text, (content, failure, _seconds) in zip(texts, BUILD.built_in_one_kernel(texts), strict=True):
        assert failure == "", named(text)
        cells = code_cells(content)
        promises_of_run_all(cells)
        counts = [cell.execution_count for cell in cells]
        assert counts == list(range(1, len(cells) + 1)), "the kernel is as good as new"
