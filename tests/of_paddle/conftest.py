"""Tests on real Paddle tensors: ``make paddle`` runs them, in an environment that has paddlepaddle.

Elsewhere all of them are skipped, and nothing here imports paddle into a process that tests PyTorch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

if find_spec("paddle") is None:
    collect_ignore_glob = ["test_*.py"]

os.environ.setdefault("GLOG_minloglevel", "3")  # Paddle says on stderr which node raised


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """After each test every attribute of Paddle's that a watch replaces is the old object."""
    from inplace_magic.capture.paddle.spots import spots

    before = {(id(spot.holder), spot.name): vars(spot.holder).get(spot.name) for spot in spots()}
    yield
    for spot in spots():
        key = id(spot.holder), spot.name
        if key in before:
            assert vars(spot.holder).get(spot.name) is before[key], f"{spot.name} of {spot.holder} is another object"
