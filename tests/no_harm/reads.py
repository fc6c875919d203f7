"""Which fields of a report somebody reads: what a renderer does not read cannot change what it gives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from inplace_magic.report import Report

Path = tuple[str | int, ...]


def fields_read(report: Report, reader: Callable[[Report], Any]) -> frozenset[Path]:
    """The fields that `reader` reads, as :func:`field_at` names them.

    The report must be one that nobody has read from yet: what is kept of an earlier look would not be read again.
    """
    paths = {id(record): path for path, record in _records(report)}
    found: set[Path] = set()

    def noting(record: Any, name: str) -> Any:
        if id(record) in paths:
            found.add((*paths[id(record)], name))
        return object.__getattribute__(record, name)

    with pytest.MonkeyPatch.context() as patch:
        for kind in {type(record) for _, record in _records(report)}:
            patch.setattr(kind, "__getattribute__", noting)
        reader(report)
    return frozenset(found)


def field_at(path: Path) -> Path | None:
    """The field of a record that holds, or lists, what stands at a path of a saved report; None where that is no part
    of a record."""
    if path[0] in ("calls", "blindness"):  # of the trace, though they are saved beside it
        path = ("trace", *path)
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path if len(path) > 1 else None


def _records(report: Report) -> Iterator[tuple[Path, Any]]:
    yield from _within(report.trace, ("trace",))
    yield from _within(report.findings, ("hazards",))


def _within(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _within(item, (*path, index))
    elif dataclasses.is_dataclass(value):
        yield path, value
        for field in dataclasses.fields(value):
            yield from _within(getattr(value, field.name), (*path, field.name))
