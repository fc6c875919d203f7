"""Entries by what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Entry = TypeVar("Entry")
Key = TypeVar("Key", bound=Hashable)


def grouped(pairs: Iterable[tuple[Key, Entry]]) -> dict[Key, list[Entry]]:
    """Return the entries of each key, in their order: ``grouped((call.line, call) for call in calls)``."""
    found: dict[Key, list[Entry]] = {}
    for key, entry in pairs:
        found.setdefault(key, []).append(entry)
    return found


def grouped_by(key: Callable[[Entry], Key], entries: Iterable[Entry]) -> dict[Key, list[Entry]]:
    """Return the entries of each key, in their order: ``grouped_by(attrgetter("call"), trace.holdings)``."""
    return grouped((key(entry), entry) for entry in entries)
