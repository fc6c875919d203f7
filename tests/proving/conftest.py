"""A shell in which fixes are tried."""

from __future__ import annotations

from typing import Any

import pytest
from cells import run_cell


@pytest.fixture
def ip(loaded_shell: Any) -> Any:
    """A shell with the extension, torch and a leaf."""
    run_cell(loaded_shell, "import torch\ntorch.manual_seed(0)\nx = torch.randn(4, requires_grad=True)")
    return loaded_shell
