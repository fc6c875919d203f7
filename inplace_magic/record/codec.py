"""Frozen dataclasses to JSON's plain types and back, strictly: a saved report is data from a stranger.

Reading builds only the dataclasses named by the type hints, and only from values of the hinted types. Nothing is
imported, evaluated or unpickled on the way. How a type is read is worked out once, as a function of the value.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from inplace_magic.errors import ReportFormatError
from inplace_magic.language import _
from inplace_magic.record.places import Callsite

T = TypeVar("T")
_FEW = 10
"""Words of a choice that an error lists."""
INT64_MIN, UINT64_MAX = -(2**63), 2**64 - 1
"""No size, address, serial number or tensor element lies outside; what does would overflow wherever it is shown."""


def to_plain(value: Any) -> Any:
    """Dataclasses become dicts, tuples lists; numbers, strings and None stay."""
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    names = _names_of(kind)
    if names is not None:
        return {name: to_plain(getattr(value, name)) for name in names}
    if isinstance(value, (tuple, list)):
        return [to_plain(item) for item in value]
    return value


_PLAIN = frozenset((int, str, type(None), bool, float))


@cache
def _names_of(kind: Any) -> tuple[str, ...] | None:
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None


def from_plain(hint: type[T], value: Any, where: str = "report") -> T:
    """Return the inverse of :func:`to_plain`. Unknown keys, and unknown words where there may be several or none, are
    ignored, so that an older reader opens a newer minor format.

    Raises:
        ReportFormatError: a value of another type than hinted; the text names the place.
    """
    try:
        wanted: Any = hint
        result: T = _reader(wanted)(value)
    except _Damage as damage:
        place = where + "".join(reversed(damage.steps))
        raise ReportFormatError(damage.told.format(place=place, **damage.facts)) from None
    finally:
        _one.cache_clear()
    return result


@cache
def _one(value: Any) -> Any:
    """Return the first of equal values: the calls of a line share its place, and those of an operation its traits, as
    they did when they were recorded, and whoever asks each of them is answered once for all."""
    return value


class _Damage(Exception):
    """A value that is not as hinted."""

    def __init__(self, told: str, **facts: object) -> None:
        super().__init__(told)
        self.told, self.facts = told, facts
        self.steps: list[str] = []
        """The way to the value, its last step first."""


_Reader = Callable[[Any], Any]


@cache
def _reader(hint: Any) -> _Reader:
    origin = get_origin(hint)
    if dataclasses.is_dataclass(hint):
        return _dataclass_reader(hint)
    if origin is tuple:
        return _tuple_reader(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return _union_reader(get_args(hint))
    return _word_reader(get_args(hint)) if origin is Literal else _plain_reader(hint)


def _tuple_reader(item: Any) -> _Reader:
    words = get_args(item) if get_origin(item) is Literal else None

    def read(value: Any) -> Any:
        if not isinstance(value, list):
            raise _mismatch("a list", value)
        if not value:
            return ()
        if words is not None:  # a newer version may know more words
            value = [entry for entry in value if not isinstance(entry, str) or entry in words]
        read_item, found = _reader(item), []
        try:
            for entry in value:
                found.append(read_item(entry))
        except _Damage as damage:
            damage.steps.append(f"[{len(found)}]")
            raise
        return tuple(found) if words is None else _one(tuple(found))

    return read


def _word_reader(words: tuple[Any, ...]) -> _Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, str) or value not in words:
            raise _mismatch("one of " + ", ".join(words[:_FEW]) + (", …" if len(words) > _FEW else ""), value)
        return value

    return read


def _plain_reader(hint: Any) -> _Reader:
    def read(value: Any) -> Any:
        if isinstance(value, int) and not INT64_MIN <= value <= UINT64_MAX:
            raise _Damage(_("The saved report is damaged at {place}: the number does not fit into 64 bits."))
        if hint is float and isinstance(value, int) and not isinstance(value, bool):
            return value
        if (hint is int and isinstance(value, bool)) or not isinstance(value, hint):
            raise _mismatch(hint.__name__, value)
        return value

    return read


def _dataclass_reader(hint: Any) -> _Reader:
    fields: list[tuple[str, _Reader, frozenset[type]]] = []

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _mismatch("an object", value)
        if not fields:  # a class may hold others of its own kind
            fields.extend(
                (name, _reader(each), _taken_as_they_are(each)) for name, each in get_type_hints(hint).items()
            )
        known, at = {}, ""
        try:
            for at, read_field, taken in fields:
                if at in value:
                    found = value[at]
                    kind = type(found)
                    fits = kind in taken and (kind is not int or INT64_MIN <= found <= UINT64_MAX)
                    known[at] = found if fits else read_field(found)
        except _Damage as damage:
            damage.steps.append(f".{at}")
            raise
        try:
            return hint(**known) if hint is not Callsite else _one(hint(**known))
        except TypeError as error:
            raise _Damage(_("The saved report is damaged at {place}: {error}."), error=error) from None

    return read


def _taken_as_they_are(hint: Any) -> frozenset[type]:
    """Return the types of JSON of which a hint allows every value, if it is a number that fits: most of what a report
    holds, and no reader is asked."""
    options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return frozenset(option for option in options if option in _PLAIN)


def _union_reader(options: tuple[Any, ...]) -> _Reader:
    may_be_none = type(None) in options
    others = [option for option in options if option is not type(None)]
    plain = {option: _reader(option) for option in others if option in (bool, int, float, str)}

    def read(value: Any) -> Any:
        if value is None and may_be_none:
            return None
        known = plain.get(type(value))
        if known is not None:
            return known(value)
        for option in others:
            if get_origin(option) is Literal and isinstance(value, str):
                return value if value in get_args(option) else None  # unknown here, though a newer version may know it
            if option not in plain and isinstance(value, (dict, list)):
                return _reader(option)(value)
        raise _mismatch(" or ".join(getattr(option, "__name__", str(option)) for option in options), value)

    return read


def _mismatch(wanted: str, value: Any) -> _Damage:
    text = _("The saved report is damaged at {place}: expected {wanted}, found {found}.")
    return _Damage(text, wanted=wanted, found=type(value).__name__)
