"""What the nodes of Paddle's operations keep for backward: a table, since Python cannot ask a node.

``saves.json`` was measured by ``python tests/of_paddle/measure_saves.py`` with seven releases of Paddle, under
``paddle.autograd.saved_tensors_hooks``, which tells each buffer that a node keeps. A watch cannot do that: these hooks
switch Paddle's own version check off. It holds the newest release whole, and of the older ones what is otherwise
there; null is an operation of which nothing was measured.

An entry is the list of what is kept: ``in0`` the first positional argument of the C++ operation (all tensors of a
list), ``out0`` its first result, ``hidden`` memory that no tensor of the user's stands for, such as the clone that
``square_`` makes of its input before it writes.

Most operations keep a copy of an input whose elements lie with gaps or in another order, as those of ``x.T`` do, and
who writes ``x`` afterwards changes nothing of what was kept. Those that keep it ``as_it_lies`` are listed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import paddle

from inplace_magic.capture.paddle import describe

TABLE = Path(__file__).with_name("saves.json")

Entry = tuple[str, ...] | dict[str, tuple[str, ...]]
"""What is kept in any call; or in calls of each form."""


class Table(NamedTuple):
    """What was measured with one version."""

    saves: Mapping[str, Entry]
    """By the name of the operation."""
    as_it_lies: frozenset[str]
    """Operations that keep an input itself also where it is not contiguous."""


def tables() -> dict[str, Table]:
    """Return all that were measured, by the version of Paddle, oldest first."""
    stored: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    newest: dict[str, Any] = stored["saves"]
    found = {
        version: _table({**newest, **older["saves"]}, older["as_it_lies"]) for version, older in stored["older"].items()
    }
    found[stored["measured_with"]] = _table(newest, stored["as_it_lies"])
    return found


def _table(saves: dict[str, Any], as_it_lies: list[str]) -> Table:
    return Table(
        {
            name: {form: tuple(slots) for form, slots in entry.items()} if isinstance(entry, dict) else tuple(entry)
            for name, entry in saves.items()
            if entry is not None
        },
        frozenset(as_it_lies),
    )


def table_of(version: str) -> Table:
    """That of the newest version measured that is not newer than this one; of a build from source, which calls itself
    0.0.0, the newest.

    Args:
        version: as ``paddle.__version__``.
    """
    measured = tables()
    numbers = _numbers(version)
    fitting = [known for known in measured if not any(numbers) or _numbers(known) <= numbers]
    return measured[max(fitting, key=_numbers) if fitting else min(measured, key=_numbers)]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


SAVES, AS_IT_LIES = table_of(paddle.__version__)
"""Those of the version that is installed."""


def form_of(arguments: tuple[Any, ...]) -> str:
    """What the first two arguments are: ``T`` a tensor that asks for a gradient, ``t`` another one, ``-`` none."""
    return "".join(map(_letter, arguments[:2]))


def _letter(argument: Any) -> str:
    found = describe.tensors_in((argument,), [])
    return "-" if not found else "t" if all([tensor.stop_gradient for tensor in found]) else "T"


def kept_in(entry: Entry | None, arguments: tuple[Any, ...]) -> tuple[str, ...] | None:
    """What a call with these arguments keeps; None where that is not known."""
    return entry.get(form_of(arguments)) if isinstance(entry, dict) else entry
