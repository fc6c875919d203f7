"""The run of a function around a call: the same one for each of its calls, whoever asked before."""

from __future__ import annotations

import random

import pytest
from builders import made, site

from inplace_magic.analysis.runs import LONGEST, Runs
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

LOOP = ("for x in data:", "    clean(x)", "    other(x)")
CALLER = site(2, LOOP)
OTHER = site(3, LOOP)
INSIDE = site(1, ("x.mul_(2)",), function="clean", caller=CALLER)
DEEPER = site(1, ("y.add_(1)",), function="helper", caller=INSIDE)
BESIDE = site(1, ("x.sub_(1)",), function="scale", caller=OTHER)


def runs_of(*places: tuple[Callsite, int]) -> dict[int, CallEvent]:
    """Calls from each of some places, so many after each other."""
    where = [place for place, times in places for _ in range(times)]
    return {index: made(index, "Tensor.mul_", place) for index, place in enumerate(where)}


def test_a_run_goes_from_its_first_call_to_its_last_whichever_of_them_asks() -> None:
    calls = runs_of((BESIDE, 2), (INSIDE, 2), (DEEPER, 3), (INSIDE, 1), (BESIDE, 1), (INSIDE, 2))
    asked = [(index, (2, 7)) for index in range(2, 8)] + [(index, (9, 10)) for index in (9, 10)]
    random.Random(0).shuffle(asked)
    runs = Runs(calls)
    for index, run in asked:
        assert runs.around(index, CALLER, INSIDE) == run
    assert runs.around(8, OTHER, BESIDE) == (8, 8)


@pytest.mark.parametrize("order", ["forwards", "backwards", "shuffled"])
def test_a_run_of_more_calls_than_are_looked_at_is_none_for_each_of_them(order: str) -> None:
    calls = runs_of((BESIDE, 1), (INSIDE, LONGEST + 2), (BESIDE, 1), (INSIDE, LONGEST + 1))
    asked = [index for index, call in calls.items() if call.callsite == INSIDE]
    asked = asked[::-1] if order == "backwards" else asked
    if order == "shuffled":
        random.Random(0).shuffle(asked)
        asked = asked[:100]
    runs = Runs(calls)
    for index in asked:
        first = LONGEST + 4
        assert runs.around(index, CALLER, INSIDE) == ((first, first + LONGEST) if index >= first else None)
