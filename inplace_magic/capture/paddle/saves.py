"""What the nodes of Paddle's operations keep for backward: a table, since Python cannot ask a node.

``saves.json`` was measured by ``python tests/paddle/measure_saves.py``, under ``paddle.autograd.saved_tensors_hooks``,
which tells each buffer that a node keeps. A watch cannot do that: these hooks switch Paddle's own version check off.

An entry is the list of what is kept: ``in0`` the first positional argument of the C++ operation (all tensors of a
list), ``out0`` its first result, ``hidden`` memory that no tensor of the user's stands for, such as the clone that
``square_`` makes of its input before it writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inplace_magic.capture.paddle import describe

TABLE = Path(__file__).with_name("saves.json")


Entry = tuple[str, ...] | dict[str, tuple[str, ...]]
"""What is kept in any call; or in calls of each form."""


def _read() -> dict[str, Entry]:
    plain: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))["saves"]
    return {
        name: {form: tuple(slots) for form, slots in entry.items()} if isinstance(entry, dict) else tuple(entry)
        for name, entry in plain.items()
    }


SAVES: dict[str, Entry] = _read()
"""By the name of the operation."""


def form_of(arguments: tuple[Any, ...]) -> str:
    """What the first two arguments are: ``T`` a tensor that asks for a gradient, ``t`` another one, ``-`` none."""
    return "".join(map(_letter, arguments[:2]))


def _letter(argument: Any) -> str:
    found = describe.tensors_in((argument,), [])
    return "-" if not found else "t" if all(tensor.stop_gradient for tensor in found) else "T"


def kept_in(entry: Entry | None, arguments: tuple[Any, ...]) -> tuple[str, ...] | None:
    """What a call with these arguments keeps; None where that is not known."""
    return entry.get(form_of(arguments)) if isinstance(entry, dict) else entry
