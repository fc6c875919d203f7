"""Each field of a saved report, and who reads it: what a renderer does not read cannot change what it gives."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from no_harm.hostile import Path, alone, one_path_per_field, replaced

from inplace_magic.report import Report

Renderers = dict[str, Callable[[Report], Any]]


@dataclasses.dataclass(frozen=True)
class Field:
    """One of the fields of the format, and two reports that lack its value."""

    path: Path
    among: tuple[str, str]
    """The text before the value and behind it, where all other fields are filled."""
    alone: tuple[str, str]
    """The same where every list is empty that need not have an entry."""
    renderers: Renderers
    """Those that read it, and those for which that is not known."""


def fields_of(report: Report, renderers: Renderers) -> list[Field]:
    """All fields of a report, each once."""
    saved = report.to_json()
    data = json.loads(saved)
    read = {name: fields_read(Report.from_json(saved), render) for name, render in renderers.items()}

    def readers(path: Path) -> Renderers:
        field = field_at(path)
        return {name: render for name, render in renderers.items() if field is None or field in read[name]}

    return [
        Field(path, _around(data, path), _around(alone(data, path), path), readers(path))
        for path in one_path_per_field(data)
    ]


def _around(data: Any, path: Path) -> tuple[str, str]:
    """The text of a JSON tree before what stands at a path, and behind it."""
    mark = "what stands in the place of a field"
    before, behind = json.dumps(replaced(data, path, mark)).split(json.dumps(mark))
    return before, behind


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
