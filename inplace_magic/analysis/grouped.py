"""Entries of the record by what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Entry = TypeVar("Entry")
Key = TypeVar("Key", bound=Hashable)


def grouped_by(key: Callable[[Entry], Key], entries: Iterable[Entry]) -> dict[Key, list[Entry]]:
    """The entries of each key, in their order: ``grouped_by(attrgetter("call"), trace.holdings)``."""
    found: dict[Key, list[Entry]] = {}
    for entry in entries:
        found.setdefault(key(entry), []).append(entry)
    return found
