"""Reports from a stranger: every field filled, every field replaced by something that it should not hold.

Everything is found by walking the dataclasses and the JSON, so a field that is added tomorrow is attacked tomorrow.
"""

from __future__ import annotations

import copy
import dataclasses
import types
from collections.abc import Callable, Iterator
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from inplace_magic.hazards import Hazard
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report

Path = tuple[str | int, ...]

SCRIPTS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title></style></textarea><svg onload=alert(1)>",
    "--></code></td></table><iframe src=javascript:alert(1)>",
    "javascript:alert(1)",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= 1 %>",
    "]]><!ENTITY x SYSTEM 'file:///etc/passwd'>&x;",
    "<b>bold</b> <<table><tr><td href='x'>c</td></tr></table>>",
    "<<b>html label</b>>",
    "{record|<port> field|{nested}} \\N \\G \\E \\l \\r \\",
    '"]; evil [label="x", URL="http://example.invalid/", image="/etc/passwd"]; x [y="',
    "one\ntwo\r\nFinding 1: Error (forged)\n\n✓ Nothing wrong found",
    "nul\x00 escape\x1b[2J\x1b]0;title\x07 backspace\x08 c1\x9b31m",
    "\u202ertl\u202c \u200f \u2066isolate\u2069 \ufeff",
    "half a pair \ud800 and \udfff",
    "`odd backtick",
    "=cmd|' /C calc'!A0",
    "&lt;script&gt;&#60;script&#62;\\u003cscript\\u003e",
)
"""What a text could try to be, in HTML, in SVG, in DOT, in a terminal, in a spreadsheet."""

ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    7,
    2**31,
    2**53 + 1,
    -(2**63),
    2**63,
    2**64,
    10**30,
    -(10**30),
    10**400,
    0.5,
    -0.0,
    float("nan"),
    float("inf"),
    float("-inf"),
    1e308,
    "",
    "x",
    "x" * 200_000,
    "x" + "[0]" * 3000,
    "x" + ".a" * 900,
    "(" * 3000,
    "\n" * 5000,
    "`" * 5001,
    "\\" * 999,
    [],
    {},
    [[]],
    [None],
    [0],
    [-1, 0, 10**9],
    [{}],
    {"line": 1},
    {"__class__": "os.system", "__reduce__": ["echo"]},
)
"""Values of every JSON type, at and past the edges of what a field can mean."""


def full_report() -> Report:
    """A report in which no field of any record is empty, two entries in every list."""
    return Report(_sample(Trace, 0, 0), (_sample(Hazard, 0, 0), _sample(Hazard, 1, 0)))


def _sample(hint: Any, turn: int, depth: int) -> Any:
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint)
        made = {f.name: _sample(hints[f.name], turn, depth + 1) for f in dataclasses.fields(hint)}
        return hint(**made)  # type: ignore[operator]  # a class, not a record
    origin = get_origin(hint)
    if origin is tuple:
        return tuple(_sample(get_args(hint)[0], i, depth + 1) for i in (1, 2))
    if origin in (Union, types.UnionType):
        options = get_args(hint)
        if float in options:
            return 1.5 * turn
        wanted = next(option for option in options if option is not type(None))
        if dataclasses.is_dataclass(wanted) and depth > 6:  # a place's caller's caller's …
            return None
        return _sample(wanted, turn, depth + 1)
    if origin is Literal:
        choices = get_args(hint)
        return choices[turn % len(choices)]
    return {int: turn + 1, bool: bool(turn % 2), str: f"word{turn}", float: turn + 0.5}[hint]


def leaves(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value in a JSON tree with its path: the lists and objects too."""
    yield path, data
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from leaves(value, (*path, index))


def one_path_per_field(data: Any) -> list[Path]:
    """One path for every field of the format, whichever entry of a list and whichever caller of a place it is in."""
    found: dict[Path, Path] = {}
    for path, _ in leaves(data):
        field = tuple("*" if isinstance(step, int) else step for step in path)
        shape = tuple(step for i, step in enumerate(field) if step != "caller" or i == len(field) - 1)
        found.setdefault(shape, path)
    return [path for path in found.values() if path]


def alone(data: Any, path: Path) -> Any:
    """A copy of a JSON tree in which no list has anything but what leads to a path."""
    if isinstance(data, dict):
        return {key: alone(value, path[1:] if path[:1] == (key,) else ()) for key, value in data.items()}
    if isinstance(data, list):
        return [alone(value, path[1:]) for index, value in enumerate(data) if path[:1] == (index,)]
    return data


def replaced(data: Any, path: Path, value: Any) -> Any:
    """A copy of a JSON tree with one value replaced."""
    result = copy.copy(data)
    result[path[0]] = value if len(path) == 1 else replaced(data[path[0]], path[1:], value)
    return result


def replaced_everywhere(data: Any, change: Callable[[str, Any], Any], name: str = "") -> Any:
    """A copy of a JSON tree in which every scalar is what `change` makes of its field's name and itself."""
    if isinstance(data, dict):
        return {key: replaced_everywhere(value, change, key) for key, value in data.items()}
    if isinstance(data, list):
        return [replaced_everywhere(value, change, name) for value in data]
    return change(name, data)


def infected(value: Any, text: str) -> Any:
    """A record with every free string field, in every record inside it, replaced by `text`; words of ours stay."""
    if isinstance(value, str):
        return text
    if isinstance(value, tuple):
        return tuple(infected(item, text) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        hints = get_type_hints(type(value))
        changes = {
            f.name: infected(getattr(value, f.name), text)
            for f in dataclasses.fields(value)
            if get_origin(hints[f.name]) is not Literal
        }
        return dataclasses.replace(value, **changes)
    return value
