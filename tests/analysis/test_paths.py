"""Where a path of the user's text is parted."""

from __future__ import annotations

import pytest

from inplace_magic.record.paths import (
    before_first_step,
    before_last_step,
    is_entry,
    is_entry_of_text,
    is_gradient,
    is_some_entry,
)


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


@pytest.mark.parametrize(
    ("path", "is_one", "of_text", "without_key"),
    [
        ('kept["pre"]', True, True, False),
        ("kept[0]", True, False, False),
        ("kept[]", True, False, True),
        ("kept", False, False, False),
        ('kept["pre"].values', False, False, False),
    ],
)
def test_an_entry_of_a_container_is_told_from_its_path(
    path: str, is_one: bool, of_text: bool, without_key: bool
) -> None:
    assert (is_entry(path), is_entry_of_text(path), is_some_entry(path)) == (is_one, of_text, without_key)


def test_a_gradient_is_told_from_what_it_is_the_gradient_of() -> None:
    assert [path for path in ("net.weight.grad", "net.weight", "grad", "grad.sum") if is_gradient(path)] == [
        "net.weight.grad"
    ]
