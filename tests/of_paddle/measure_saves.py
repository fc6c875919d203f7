"""Measures what the nodes of Paddle's operations keep for backward: ``python tests/of_paddle/measure_saves.py``.

Runs every expression of ``expressions.txt`` under ``paddle.autograd.saved_tensors_hooks``, which tell each buffer that
a node keeps, and writes ``inplace_magic/capture/paddle/saves.json``. With ``--check`` it writes nothing and fails on a
difference, which is how a new version of Paddle is looked at.

Each runs with all inputs asking for gradients and with each of them alone. Where that makes a difference, as for
``x * y`` and ``x * 2.0``, an entry goes by the first two arguments (see :func:`.saves.form_of`); what was kept in some
calls of one form only is left out, since nothing follows from it.
"""

from __future__ import annotations

import itertools
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paddle
import paddle.nn.functional as F

from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.saves import TABLE, form_of
from inplace_magic.capture.paddle.spots import Spot, put_on, spots, take_off

EXPRESSIONS = Path(__file__).with_name("expressions.txt").read_text(encoding="utf-8").splitlines()
"""Each is run with fresh inputs; what this version of Paddle does not have is left out."""


def inputs(asking: str | None) -> dict[str, Any]:
    """Fresh inputs.

    Args:
        asking: the one that asks for a gradient; None: all that can.
    """
    paddle.seed(0)

    def values(*shape: int) -> Any:
        return paddle.rand(shape) * 0.8 + 0.1

    names = {
        "x": values(4, 4),
        "y": values(4, 4),
        "a": values(1, 2, 5, 5),
        "w": values(3, 2, 2, 2),
        "g": values(2, 1, 2, 2),
        "v": values(2, 3, 2, 2),
        "b": values(3),
        "b2": values(2),
        "b3": values(2),
        "h": values(1, 4, 2, 2),
        "a3": values(2, 3, 4),
        "s": values(1, 3, 2, 4),
        "s2": values(1, 3, 2, 4),
        "s3": values(1, 3, 2, 4),
        "z": values(1, 3, 3, 2),
    }
    for name, tensor in names.items():
        tensor.stop_gradient = asking is not None and name != asking
    return {
        **names,
        "m": names["y"].detach() > 0.5,
        "i": paddle.to_tensor([0, 2]),
        "j": paddle.to_tensor([[0, 1, 2, 3]]),
        "k": paddle.to_tensor([0, 1, 2, 3]),
        "u": values(4, 4),
        "e": paddle.eye(4) * 3,
        "p": paddle.zeros([2]),
        "q": paddle.ones([2]),
        "paddle": paddle,
        "F": F,
        "setitem": _setitem,
    }


def _setitem(tensor: Any, index: Any, value: Any) -> Any:
    tensor[index] = value
    return tensor


class Measured:
    """What each operation kept in each of its calls."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, list[frozenset[str]]]] = {}
        """By operation and form."""
        self._packed: list[Any] = []

    def pack(self, tensor: Any) -> Any:
        """Called by Paddle for each buffer that a node keeps."""
        self._packed.append((tensor.data_ptr(), list(tensor.shape)))
        return tensor

    def stand_in(self, spot: Spot) -> Any:
        """What stands in an operation's place while it is measured."""
        original, name = spot.original, spot.facts.operation

        def measured(*args: Any, **kwargs: Any) -> Any:
            if not paddle.in_dynamic_mode():
                return original(*args, **kwargs)
            before, self._packed = self._packed, []
            form = form_of(args)
            result = original(*args, **kwargs)
            packed, self._packed = self._packed, before
            produced = [] if result is None else describe.tensors_in((result,), [])
            if any(not tensor.stop_gradient for tensor in (*produced, *describe.tensors_in(args[:1], []))):
                calls = self.kept.setdefault(name, {}).setdefault(form, [])
                calls.append(frozenset(_slots(args, produced, packed)))
            return result

        return measured


def _slots(args: tuple[Any, ...], produced: list[Any], packed: list[Any]) -> Iterator[str]:
    given = [(f"in{at}", tensor) for at, arg in enumerate(args) for tensor in describe.tensors_in((arg,), [])]
    made = [(f"out{at}", tensor) for at, tensor in enumerate(produced)]
    written = {id(tensor) for _, tensor in made}
    candidates = [*((slot, tensor) for slot, tensor in given if id(tensor) not in written), *made]
    if not made:  # an assignment to elements gives nothing; its first argument is what it wrote
        candidates = given
    for address, shape in packed:
        same = [one for one in candidates if describe.pointer(one[1]) == address and address]
        exactly = [one for one in same if list(one[1].shape) == shape]
        found = (exactly or same or [("hidden", None)])[0]
        if found in same:
            candidates = [one for one in candidates if one is not found]  # `x @ x.T` keeps one memory twice
        yield found[0]


def measure() -> dict[str, Any]:
    """The table."""
    measured = Measured()
    found = tuple(spot for spot in spots() if spot.kind == "function" and not spot.facts.runs_backward)
    for expression in EXPRESSIONS:
        for asking in (None, "x", "y", "a", "w", "a3", "s"):
            names = inputs(asking)
            if asking is not None and asking not in _names(expression):
                continue
            put_on(found, measured.stand_in)
            try:
                with paddle.autograd.saved_tensors_hooks(measured.pack, lambda tensor: tensor):
                    eval(expression, names)
            except (AttributeError, RuntimeError, ValueError, TypeError, NotImplementedError, AssertionError) as error:
                if "--verbose" in sys.argv:
                    print(expression, type(error).__name__, str(error)[:90], file=sys.stderr)
            finally:
                take_off(found)
    return {name: _entry(measured.kept[name]) for name in sorted(measured.kept)}


def _entry(forms: dict[str, list[frozenset[str]]]) -> Any:
    always = {form: sorted(frozenset.intersection(*calls)) for form, calls in forms.items()}
    different = {tuple(slots) for slots in always.values()}
    return always if len(different) > 1 else list(different.pop())


def _names(expression: str) -> set[str]:
    code = compile(expression, "<expression>", "eval")
    return set(itertools.chain(code.co_names, code.co_varnames))


def main() -> int:
    warnings.simplefilter("ignore")
    table = measure()
    if "--check" in sys.argv:
        stored = json.loads(TABLE.read_text(encoding="utf-8"))["saves"]
        differing = sorted(name for name in table if name in stored and table[name] != stored[name])
        for name in differing:
            print(f"{name}: stored {stored[name]}, measured {table[name]} with Paddle {paddle.__version__}")
        print(f"{len(table)} operations measured, {len(differing)} differ from the table")
        return 1 if differing else 0
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in table.items())
    head = f'{{\n "measured_with": {json.dumps(paddle.__version__)},\n "saves": {{\n'
    TABLE.write_text(f"{head}{lines}\n }}\n}}\n", encoding="utf-8")
    print(f"{len(table)} operations, {sum(isinstance(entry, dict) for entry in table.values())} of them by form")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
