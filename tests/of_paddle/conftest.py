"""Tests on real Paddle tensors: ``make paddle`` runs them, in an environment that has paddlepaddle.

Elsewhere all of them are skipped, and nothing here imports paddle into a process that tests PyTorch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from operator import is_
from typing import Any

import pytest

if find_spec("paddle") is None:
    collect_ignore_glob = ["test_*.py"]

os.environ.setdefault("GLOG_minloglevel", "3")  # Paddle says on stderr which node raised


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """After each test every attribute of Paddle's that a watch replaces is the old object."""
    from inplace_magic.capture.paddle.spots import spots

    before, stood = spots(), standing(spots())
    yield
    if spots() is before and all(map(is_, standing(before), stood)):
        return
    old = {(id(spot.holder), spot.name): value for spot, value in zip(before, stood, strict=True)}
    for spot in spots():
        key = id(spot.holder), spot.name
        if key in old:
            assert vars(spot.holder).get(spot.name) is old[key], f"{spot.name} of {spot.holder} is another object"


def standing(found: tuple[Any, ...]) -> list[Any]:
    """What stands in these spots."""
    return [vars(spot.holder).get(spot.name) for spot in found]
