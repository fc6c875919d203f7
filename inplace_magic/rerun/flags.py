"""The ``inplace`` flags of modules, set for one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook


@contextmanager
def inplace_flags(value: bool | None, modules: Iterable[torch.nn.Module] = ()) -> Iterator[dict[str, int]]:
    """While the block runs, every module with a boolean ``inplace`` has it set.

    Args:
        value: what the flags are set to; None leaves them alone.
        modules: modules to begin with. All others, such as those that the code makes itself, are set right before
            their ``forward``.

    Returns:
        How many modules of each class had such a flag, filled in while the block runs.
    """
    found: dict[str, int] = {}
    if value is None:
        yield found
        return
    own: dict[int, tuple[torch.nn.Module, bool]] = {}

    def set_flag(module: torch.nn.Module, _args: Any = None) -> None:
        flag = vars(module).get("inplace")
        if type(flag) is bool:
            if id(module) not in own:
                own[id(module)] = module, flag
                found[type(module).__name__] = found.get(type(module).__name__, 0) + 1
            vars(module)["inplace"] = value

    for module in modules:
        for each in module.modules():
            set_flag(each)
    hook = register_module_forward_pre_hook(set_flag)
    try:
        yield found
    finally:
        hook.remove()
        for module, flag in own.values():
            vars(module)["inplace"] = flag
