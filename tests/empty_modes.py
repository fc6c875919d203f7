"""Two modes that do nothing: what PyTorch itself takes, and changes, for showing its calls to Python.

They are the yardstick: of the checks that a watch changes nothing, and of what a watch costs.
"""

from __future__ import annotations

from typing import Any

from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


class EmptyFunctionMode(TorchFunctionMode):
    """The yardstick for level ``calls``."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class EmptyDispatchMode(TorchDispatchMode):
    """The yardstick for level ``ops``."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))
