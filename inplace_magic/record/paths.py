"""How the record writes what holds a tensor, such as ``self.frames["warmth"]``: its steps, and what the last one is."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FIRST_STEP = re.compile(r"([^.\[]+)(.*)", re.DOTALL)
_LAST_STEP = re.compile(r"(.+)(\.\w+|\[[^\[\]]*\])")
_ENTRY = re.compile(r"\[[^\]]*\]")
_PLAIN_ENTRY = re.compile(r'\[("[^"]*"|-?\d+)\]')


def before_first_step(path: str) -> tuple[str, str]:
    """``("self", '.frames["warmth"]')``; a path without a step is followed by nothing."""
    match = _FIRST_STEP.fullmatch(path)
    return (match[1], match[2]) if match is not None else (path, "")


def before_last_step(path: str) -> tuple[str, str]:
    """``("self.frames", '["warmth"]')``; a path without a step is followed by nothing."""
    match = _LAST_STEP.fullmatch(path)
    return (match[1], match[2]) if match is not None else (path, "")


def entries_in(path: str) -> Iterator[tuple[str, str]]:
    """What holds each entry that a path goes through, and what follows it: ``("grid", "[1]")`` and ``("grid[0]", "")``
    of ``grid[0][1]``."""
    for step in _ENTRY.finditer(path):
        yield path[: step.start()], path[step.end() :]


def without_keys(path: str) -> str:
    """Return the same for ``grid[i][1]`` and ``grid[0][1]``: ``grid[][]``."""
    return _ENTRY.sub("[]", path)


def has_plain_keys(path: str) -> bool:
    """True if each entry that it goes through stands under a number or a text, and none under a name."""
    return all(_PLAIN_ENTRY.fullmatch(step) for step in _ENTRY.findall(path))


def is_entry(path: str) -> bool:
    """True if it is an entry of a container: ``kept["pre"]``, ``kept[0]``, ``kept[]``."""
    return path.endswith("]")


def is_entry_of_text(path: str) -> bool:
    """True if it is an entry under a key that is text: ``kept["pre"]``."""
    return path.endswith('"]')


def is_some_entry(path: str) -> bool:
    """True if it is an entry without a plain key: ``kept[]``."""
    return path.endswith("[]")


def is_gradient(path: str) -> bool:
    """True if it is where a backward puts a gradient: ``net.weight.grad``."""
    return path.endswith(".grad")
