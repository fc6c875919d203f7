"""Every lesson of notebooks/zh, run in one kernel of this environment. Its code is that of notebooks/en, of which each
lesson has a fresh kernel (``test_run_en.py``, and ``test_texts.py`` holds the two together)."""

from __future__ import annotations

from lessons.running import code_cells, lessons_in, promises_of_run_all
from lessons.texts import BUILD, named


def test_every_lesson_runs_from_top_to_bottom_where_another_ran_before() -> None:
    texts = lessons_in("zh")
    for text, (content, failure, _seconds) in zip(texts, BUILD.built_in_one_kernel(texts), strict=True):
        assert failure == "", named(text)
        promises_of_run_all(content)
        cells = code_cells(content)
        results = [(cell, out) for cell in cells for out in cell.outputs if out.output_type == "execute_result"]
        counts = [(out.execution_count, cell.execution_count) for cell, out in results]
        assert counts
        assert [told for told, own in counts if told != own] == [], "the kernel counts on where another lesson ended"
