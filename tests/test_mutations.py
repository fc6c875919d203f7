"""The mistakes that `benchmarks/mutations.py` makes can still be made."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_each_line_that_is_mutated_stands_once_in_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from mutations import MUTATIONS

    files = {each: (ROOT / "inplace_magic" / each.file).read_text(encoding="utf-8") for each in MUTATIONS}

    assert [each.before for each, text in files.items() if text.count(each.before) != 1] == []
