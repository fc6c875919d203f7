"""Reads no values of tensors, as if all of them were on a device: nothing that is saved is digested, no element read.

For any tests, as a plugin: ``python -m pytest -p imitation.values_unread tests/test_healthy_models.py``, with ``tests``
in ``PYTHONPATH``. What is reported otherwise with it is reported otherwise on a GPU.
"""

from __future__ import annotations

import pytest

from inplace_magic.capture import witness
from inplace_magic.capture.torch import describe_memory


def leave_values_unread(patch: pytest.MonkeyPatch) -> None:
    """Until the patch is undone."""
    patch.setattr(witness, "SAVED_LIMIT", 0)
    patch.setattr(describe_memory, "values", lambda *args, **options: None)


def pytest_configure(config: pytest.Config) -> None:
    """For the whole run."""
    leave_values_unread(pytest.MonkeyPatch())
