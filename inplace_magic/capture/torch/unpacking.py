"""What an autograd node saved, where PyTorch shows it by unpacking alone.

``SavedTensor.data``, by which :func:`describe_nodes.saved_values` reads without unpacking, is younger than the oldest
PyTorch supported (2.4 lacks it, 2.12 has it). Before it there is ``node._saved_self``, and unpacking is the user's
business: it raises after a write, and it runs the unpack hook, which under a checkpoint is the user's function. Right
after the call that made a node, nothing has written yet; and while no hooks are on, nobody packed. Only then is it
read; else it stays unknown.
"""

from __future__ import annotations

from typing import Any

import torch

NEEDED = not hasattr(torch._C._autograd.SavedTensor, "data")
"""Whether this is such a PyTorch."""

_PREFIX = "_raw_saved_"
_NAMES: dict[type, tuple[str, ...]] = {}


def saved_values(node: Any) -> list[tuple[str, Any, bool]]:
    """What a node keeps that was made by the call which just returned: as :func:`describe_nodes.saved_values`.

    Of a custom ``Function`` nothing, since its node is met only later. Under hooks of somebody one entry that says so:
    which of the attributes are in use cannot be known then.
    """
    names = _names(type(node))
    if not names:
        return []
    if _hooks_are_on():
        return [("tensors", None, True)]
    found: list[tuple[str, Any, bool]] = []
    # A subclass's, or level `ops`'s, `__torch_dispatch__` would see the alias that unpacking makes.
    with torch._C.DisableTorchFunctionSubclass(), torch._C._DisableTorchDispatch():
        for name in names:
            try:
                value = getattr(node, f"_saved_{name}")
            except Exception:  # an in-place call overwrote its own input, as PyTorch will say in backward
                continue
            several = isinstance(value, tuple)
            for i, tensor in enumerate(value if several else (value,)):
                if isinstance(tensor, torch.Tensor):
                    found.append((f"{name}[{i}]" if several else name, tensor, False))
    return found


def still_saves(node: Any) -> bool:
    """True if a node that was read by :func:`saved_values`, without hooks, still keeps what it saved."""
    with torch._C.DisableTorchFunctionSubclass(), torch._C._DisableTorchDispatch():
        for name in _names(type(node)):
            try:
                value = getattr(node, f"_saved_{name}")
            except RuntimeError as error:
                return "freed" not in str(error)  # else it was overwritten, and is there all the same
            if value is not None:
                return True
    return False


def _names(kind: type) -> tuple[str, ...]:
    if issubclass(kind, torch._C._FunctionBase):
        return ()
    if kind not in _NAMES:
        _NAMES[kind] = tuple(name.removeprefix(_PREFIX) for name in dir(kind) if name.startswith(_PREFIX))
    return _NAMES[kind]


def _hooks_are_on() -> bool:
    """True if tensors that are saved now would go through somebody's hooks. PyTorch tells it by refusing to switch
    them off (https://docs.pytorch.org/docs/stable/autograd.html, ``disable_saved_tensors_hooks``)."""
    try:
        with torch.autograd.graph.disable_saved_tensors_hooks("a watch looks whether hooks are on"):
            return False
    except RuntimeError:
        return True
