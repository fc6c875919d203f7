"""A shell whose cells are one story."""

from __future__ import annotations

from typing import Any

import pytest
from magics.stories import run


@pytest.fixture
def ip(loaded_shell: Any) -> Any:
    """A shell with the extension and torch, switched on in In[2]; the next cell is In[3]."""
    run(loaded_shell, "import torch")
    run(loaded_shell, "%inplace_watch on")
    return loaded_shell
