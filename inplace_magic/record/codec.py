"""Frozen dataclasses to JSON's plain types and back, strictly: a saved report is data from a stranger.

Reading builds only the dataclasses named by the type hints, and only from values of the hinted types. Nothing is
imported, evaluated or unpickled on the way.
"""

from __future__ import annotations

import dataclasses
import types
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from inplace_magic.errors import ReportFormatError
from inplace_magic.language import _

T = TypeVar("T")
_FEW = 10
"""Words of a choice that an error lists."""
INT64_MIN, UINT64_MAX = -(2**63), 2**64 - 1
"""No size, address, serial number or tensor element lies outside; what does would overflow wherever it is shown."""


def to_plain(value: Any) -> Any:
    """Dataclasses become dicts, tuples lists; numbers, strings and None stay."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [to_plain(item) for item in value]
    return value


def from_plain(hint: type[T], value: Any, where: str = "report") -> T:
    """The inverse of :func:`to_plain`. Unknown keys, and unknown words where there may be several or none, are ignored,
    so that an older reader opens a newer minor format.

    Raises:
        ReportFormatError: a value of another type than hinted; the text names the place.
    """
    result: T = _read(hint, value, where)
    return result


def _read(hint: Any, value: Any, where: str) -> Any:
    origin = get_origin(hint)
    if dataclasses.is_dataclass(hint):
        return _read_dataclass(hint, value, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise _mismatch("a list", value, where)
        item = get_args(hint)[0]
        if get_origin(item) is Literal:  # a newer version may know more words
            value = [entry for entry in value if not isinstance(entry, str) or entry in get_args(item)]
        return tuple(_read(item, entry, f"{where}[{i}]") for i, entry in enumerate(value))
    if origin in (Union, types.UnionType):
        return _read_union(get_args(hint), value, where)
    if origin is Literal:
        if not isinstance(value, str) or value not in get_args(hint):
            words = get_args(hint)
            raise _mismatch("one of " + ", ".join(words[:_FEW]) + (", …" if len(words) > _FEW else ""), value, where)
        return value
    if isinstance(value, int) and not INT64_MIN <= value <= UINT64_MAX:
        raise ReportFormatError(
            _("The saved report is damaged at {place}: the number does not fit into 64 bits.").format(place=where)
        )
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return value
    if (hint is int and isinstance(value, bool)) or not isinstance(value, hint):
        raise _mismatch(hint.__name__, value, where)
    return value


def _read_dataclass(hint: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise _mismatch("an object", value, where)
    known = {
        name: _read(field_hint, value[name], f"{where}.{name}") for name, field_hint in _hints(hint) if name in value
    }
    try:
        return hint(**known)
    except TypeError as error:
        raise ReportFormatError(
            _("The saved report is damaged at {place}: {error}.").format(place=where, error=error)
        ) from None


def _read_union(options: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in options:
        return None
    for option in options:
        if option is type(None):
            continue
        if get_origin(option) is Literal and isinstance(value, str):
            return value if value in get_args(option) else None  # unknown here, though a newer version may know it
        plain = option in (bool, int, float, str)
        if (plain and type(value) is option) or (not plain and isinstance(value, (dict, list))):
            return _read(option, value, where)
    raise _mismatch(" or ".join(getattr(option, "__name__", str(option)) for option in options), value, where)


@cache
def _hints(hint: type) -> tuple[tuple[str, Any], ...]:
    return tuple(get_type_hints(hint).items())


def _mismatch(wanted: str, value: Any, where: str) -> ReportFormatError:
    return ReportFormatError(
        _("The saved report is damaged at {place}: expected {wanted}, found {found}.").format(
            place=where, wanted=wanted, found=type(value).__name__
        )
    )
