"""Frozen dataclasses to JSON's plain types and back, strictly: a saved report is data from a stranger.

Reading builds only the dataclasses named by the type hints, and only from values of the hinted types. Nothing is
imported, evaluated or unpickled on the way. How a type is read is worked out once, as a function of the value.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from functools import cache, partial
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
    """Return what reads a value of a type: a function below with all but the value."""
    origin, options = get_origin(hint), get_args(hint)
    if dataclasses.is_dataclass(hint):
        return partial(_read_object, hint)
    if origin is tuple:
        return partial(_read_list, options[0])
    if origin in (Union, types.UnionType):
        plain = {option: _reader(option) for option in options if option in _PLAIN}
        return partial(_read_one_of, plain, [option for option in options if option not in _PLAIN], options)
    return partial(_read_word, options) if origin is Literal else partial(_read_plain, hint)


def _read_list(item: Any, value: Any) -> Any:
    if not isinstance(value, list):
        raise _mismatch("a list", value)
    if not value:
        return ()
    words = get_args(item) if get_origin(item) is Literal else None
    if words is not None:  # a newer version may know more words
        value = [entry for entry in value if not isinstance(entry, str) or entry in words]
    read, found = _reader(item), []
    try:
        for entry in value:
            found.append(read(entry))
    except _Damage as damage:
        damage.steps.append(f"[{len(found)}]")
        raise
    return tuple(found) if words is None else _one(tuple(found))


def _read_word(words: tuple[Any, ...], value: Any) -> Any:
    if not isinstance(value, str) or value not in words:
        raise _mismatch("one of " + ", ".join(words[:_FEW]) + (", …" if len(words) > _FEW else ""), value)
    return value


def _read_plain(hint: Any, value: Any) -> Any:
    if isinstance(value, int) and not INT64_MIN <= value <= UINT64_MAX:
        raise _Damage(_("The saved report is damaged at {place}: the number does not fit into 64 bits."))
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return value
    if (hint is int and isinstance(value, bool)) or not isinstance(value, hint):
        raise _mismatch(hint.__name__, value)
    return value


@cache
def _fields_of(kind: Any) -> tuple[tuple[str, _Reader, frozenset[type]], ...]:
    """Return name and reader of each field, and the types of JSON of which its hint allows every value, if it is a
    number that fits: most of what a report holds, and no reader is asked."""
    fields = []
    for name, hint in get_type_hints(kind).items():
        options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        fields.append((name, _reader(hint), _PLAIN.intersection(options)))
    return tuple(fields)


def _read_object(kind: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        raise _mismatch("an object", value)
    known, at = {}, ""
    try:
        for at, read, taken in _fields_of(kind):
            if at in value:
                found = value[at]
                fits = type(found) in taken and (type(found) is not int or INT64_MIN <= found <= UINT64_MAX)
                known[at] = found if fits else read(found)
    except _Damage as damage:
        damage.steps.append(f".{at}")
        raise
    try:
        return kind(**known) if kind is not Callsite else _one(kind(**known))
    except TypeError as error:
        raise _Damage(_("The saved report is damaged at {place}: {error}."), error=error) from None


def _read_one_of(plain: dict[Any, _Reader], others: list[Any], options: tuple[Any, ...], value: Any) -> Any:
    if type(value) in plain:
        return plain[type(value)](value)
    for option in others:
        if get_origin(option) is Literal and isinstance(value, str):
            return value if value in get_args(option) else None  # unknown here, though a newer version may know it
        if isinstance(value, (dict, list)):
            return _reader(option)(value)
    raise _mismatch(" or ".join(getattr(option, "__name__", str(option)) for option in options), value)


def _mismatch(wanted: str, value: Any) -> _Damage:
    text = _("The saved report is damaged at {place}: expected {wanted}, found {found}.")
    return _Damage(text, wanted=wanted, found=type(value).__name__)
