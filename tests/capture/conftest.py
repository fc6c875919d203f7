"""What a watch finds by the garbage collector is part of what is tested here, and that passes over what is frozen."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(autouse=True, scope="module")
def _imported_objects_are_not_walked_again() -> None:
    """They are, here; see the fixture of that name in ``tests/conftest.py``."""
    gc.unfreeze()
