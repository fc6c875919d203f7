"""Where a path of the user's text is parted."""

from __future__ import annotations

import pytest

from inplace_magic.source.paths import before_first_step, before_last_step


@pytest.mark.parametrize(
    ("path", "first", "last"),
    [
        ("h", ("h", ""), ("h", "")),
        ("self.memory", ("self", ".memory"), ("self", ".memory")),
        ('self.frames["warmth"]', ("self", '.frames["warmth"]'), ("self.frames", '["warmth"]')),
        ('kept["a.b"].values', ("kept", '["a.b"].values'), ('kept["a.b"]', ".values")),
        ("", ("", ""), ("", "")),
    ],
)
def test_a_path_is_parted_at_its_first_and_at_its_last_step(
    path: str, first: tuple[str, str], last: tuple[str, str]
) -> None:
    assert before_first_step(path) == first
    assert before_last_step(path) == last
