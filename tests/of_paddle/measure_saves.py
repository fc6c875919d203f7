"""Measures what the nodes of Paddle's operations keep for backward: ``python tests/of_paddle/measure_saves.py``.

Runs every expression of ``expressions.txt`` under ``paddle.autograd.saved_tensors_hooks``, which tell each buffer that
a node keeps, and writes what the installed version keeps into ``inplace_magic/capture/paddle/saves.json``, beside what
others keep. With ``--check`` it writes nothing and fails on a difference from what a watch with this version goes by,
which is how a new version of Paddle is looked at.

Each runs with all inputs asking for gradients and with each of them alone. Where that makes a difference, as for
``x * y`` and ``x * 2.0``, an entry goes by the first two arguments (see :func:`.saves.form_of`); what was kept in some
calls of one form only is left out, since nothing follows from it. Once more they run on inputs that are not
contiguous, of which most operations keep a copy.
"""

from __future__ import annotations

import itertools
import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import paddle
import paddle.nn.functional as F

from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.functions import in_positions
from inplace_magic.capture.paddle.saves import TABLE, Entry, Table, form_of, table_of, tables
from inplace_magic.capture.paddle.spots import Spot, Wardrobe, put_on, spots, take_off, wardrobe_of

EXPRESSIONS = Path(__file__).with_name("expressions.txt").read_text(encoding="utf-8").splitlines()
"""Each is run with fresh inputs; what this version of Paddle does not have is left out."""


def inputs(asking: str | None, *, with_gaps: bool = False) -> dict[str, Any]:
    """Fresh inputs.

    Args:
        asking: the one that asks for a gradient; None: all that can.
        with_gaps: whether they are turned, so that they are not contiguous.
    """
    paddle.seed(0)

    def values(*shape: int) -> Any:
        made = paddle.rand(shape) * 0.8 + 0.1
        if not with_gaps or len(shape) < 2:
            return made
        turn = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        return made.transpose(turn).contiguous().transpose(turn)

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
        """By operation and form, in calls whose inputs were contiguous."""
        self.with_gaps: dict[str, list[tuple[str, set[str], frozenset[str]]]] = {}
        """By operation, of the other calls: the form, which inputs were not, and what was kept."""
        self._packed: list[Any] = []
        self._stand_ins: dict[int, Any] = {}

    def pack(self, tensor: Any) -> Any:
        """Called by Paddle for each buffer that a node keeps."""
        self._packed.append((tensor.data_ptr(), list(tensor.shape), list(tensor.strides)))
        return tensor

    def stand_in(self, spot: Spot) -> Any:
        """What stands in an operation's place while it is measured: the same for all expressions."""
        made = self._stand_ins.get(id(spot))
        if made is None:
            made = self._stand_ins[id(spot)] = self._measuring(spot)
        return made

    def _measuring(self, spot: Spot) -> Any:
        original, name = spot.original, spot.facts.operation

        def measured(*args: Any, **kwargs: Any) -> Any:
            if not paddle.in_dynamic_mode():
                return original(*args, **kwargs)
            before, self._packed = self._packed, []
            given = in_positions(spot.facts, args, kwargs)
            form = form_of(given)
            gaps = {slot for slot, tensor in _given(given) if not tensor.is_contiguous()}
            result = original(*args, **kwargs)
            packed, self._packed = self._packed, before
            produced = [] if result is None else describe.tensors_in((result,), [])
            if any(not tensor.stop_gradient for tensor in (*produced, *describe.tensors_in(given[:1], []))):
                kept = frozenset(_slots(given, produced, packed))
                if gaps:
                    self.with_gaps.setdefault(name, []).append((form, gaps, kept))
                else:
                    self.kept.setdefault(name, {}).setdefault(form, []).append(kept)
            return result

        return measured


def _given(args: tuple[Any, ...]) -> list[tuple[str, Any]]:
    return [(f"in{at}", tensor) for at, arg in enumerate(args) for tensor in describe.tensors_in((arg,), [])]


def _slots(args: tuple[Any, ...], produced: list[Any], packed: list[Any]) -> Iterator[str]:
    given = _given(args)
    made = [(f"out{at}", tensor) for at, tensor in enumerate(produced)]
    written = {id(tensor) for _, tensor in made}
    candidates = [*((slot, tensor) for slot, tensor in given if id(tensor) not in written), *made]
    if not made:  # an assignment to elements gives nothing; its first argument is what it wrote
        candidates = given
    for address, shape, strides in packed:
        same = [one for one in candidates if describe.pointer(one[1]) == address and address]
        exactly = [one for one in same if list(one[1].shape) == shape and list(one[1].strides) == strides]
        found = (exactly or same or [("hidden", None)])[0]
        if found in same:
            candidates = [one for one in candidates if one is not found]  # `x @ x.T` keeps one memory twice
        yield found[0]


def measure() -> Table:
    """The table of the version that is installed."""
    measured = Measured()
    found = wardrobe_of(tuple(spot for spot in spots() if spot.kind == "function" and not spot.facts.runs_backward))
    for expression in EXPRESSIONS:
        for asking in (None, "x", "y", "a", "w", "a3", "s"):
            if asking is None or asking in _names(expression):
                _run(expression, inputs(asking), found, measured)
        _run(expression, inputs(None, with_gaps=True), found, measured)
    for name, calls in measured.with_gaps.items():
        if name not in measured.kept:  # it was never called otherwise
            for form, _, kept in calls:
                measured.kept.setdefault(name, {}).setdefault(form, []).append(kept)
    saves = {name: _entry(measured.kept[name]) for name in sorted(measured.kept)}
    as_it_lies = set()
    for name, calls in measured.with_gaps.items():
        entry = saves[name]
        expected = [
            (gaps & set(entry.get(form, ()) if isinstance(entry, dict) else entry), kept) for form, gaps, kept in calls
        ]
        if any(slots for slots, _ in expected) and all(slots <= kept for slots, kept in expected):
            as_it_lies.add(name)
    return Table(saves, frozenset(as_it_lies))


def _run(expression: str, names: dict[str, Any], found: Wardrobe, measured: Measured) -> None:
    put_on(found, measured.stand_in)
    try:
        with paddle.autograd.saved_tensors_hooks(measured.pack, lambda tensor: tensor):
            eval(expression, names)
    except (AttributeError, RuntimeError, ValueError, TypeError, NotImplementedError, AssertionError) as error:
        if "--verbose" in sys.argv:
            print(expression, type(error).__name__, str(error)[:90], file=sys.stderr)
    finally:
        take_off(found)


def _entry(forms: dict[str, list[frozenset[str]]]) -> Entry:
    always = {form: tuple(sorted(frozenset.intersection(*calls))) for form, calls in sorted(forms.items())}
    different = set(always.values())
    return always if len(different) > 1 else different.pop()


def differences(measured: Table, known: Table) -> dict[str, tuple[Any, Any]]:
    """By operation, what is known and what was measured, where they differ."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in sorted({*measured.saves, *known.saves}):
        one = known.saves.get(name), measured.saves.get(name)
        if one[0] != one[1]:
            found[name] = one
        elif (name in known.as_it_lies) != (name in measured.as_it_lies):
            found[name] = tuple("as it lies" if name in table.as_it_lies else "a copy" for table in (known, measured))
    return found


def write(every: dict[str, Table]) -> None:
    """Stores the newest version whole, and of the others what is otherwise."""
    *older, newest = sorted(every, key=lambda version: tuple(map(int, version.split("."))))
    base = every[newest].saves
    parts = []
    for version in older:
        saves = every[version].saves
        others = {name: saves.get(name) for name in sorted({*base, *saves}) if saves.get(name) != base.get(name)}
        lies = json.dumps(sorted(every[version].as_it_lies))
        parts.append(f'  {json.dumps(version)}: {{\n   "as_it_lies": {lies},\n   "saves": {_lines(others, 4)}\n  }}')
    joined = ",\n".join(parts)
    TABLE.write_text(
        f'{{\n "measured_with": {json.dumps(newest)},\n "saves": {_lines(base, 2)},\n'
        f' "as_it_lies": {json.dumps(sorted(every[newest].as_it_lies))},\n'
        f' "older": {{\n{joined}\n }}\n}}\n',
        encoding="utf-8",
    )


def _lines(entries: Mapping[str, Any], indent: int) -> str:
    inner = ",\n".join(f"{' ' * indent}{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
    return f"{{\n{inner}\n{' ' * (indent - 1)}}}"


def _names(expression: str) -> set[str]:
    code = compile(expression, "<expression>", "eval")
    return set(itertools.chain(code.co_names, code.co_varnames))


def main() -> int:
    warnings.simplefilter("ignore")
    version, table = paddle.__version__, measure()
    if "--check" in sys.argv:
        found = differences(table, table_of(version))
        for name, (known, now) in found.items():
            print(f"{name}: stored {known}, measured {now} with Paddle {version}")
        print(f"{len(table.saves)} operations measured with Paddle {version}, {len(found)} differ from the table")
        return 1 if found else 0
    write({**tables(), version: table})
    print(f"{len(table.saves)} operations, {sum(isinstance(entry, dict) for entry in table.saves.values())} by form")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
