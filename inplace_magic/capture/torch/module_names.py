"""The modules around the tensors that the user's namespace names; looked up once, when the watch ends.

A call says which classes' ``forward`` ran, and not whose: of two blocks of one class that follow each other the
parameters tell. Their names and these modules together say ``layer1[0]`` is a ``BasicBlock``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import torch

from inplace_magic.capture.frames import class_in
from inplace_magic.record.names import ModuleName, TensorName

_LAST_STEP = re.compile(r"(?:\.[^.\[\]]+|\[[^\[\]]*\])$")


def module_names(modules: Iterable[tuple[str, torch.nn.Module]], names: Iterable[TensorName]) -> tuple[ModuleName, ...]:
    """Return those modules of a namespace that have one of the named tensors.

    Args:
        modules: every module within reach, by its path.
    """
    around: set[str] = set()
    for entry in names:
        path = _LAST_STEP.sub("", entry.name)
        while path not in around:
            around.add(path)
            path = _LAST_STEP.sub("", path)
    return tuple(named(path, module) for path, module in dict(modules).items() if path in around)


def named(path: str, module: torch.nn.Module) -> ModuleName:
    """Return a module as the record has it."""
    return ModuleName(path, type(module).__name__, defining_class(module) if _runs(module) else "")


def defining_class(module: torch.nn.Module) -> str:
    """Name of the class that defines its ``forward``; ``Module`` where Python does not tell it."""
    return class_in(str(getattr(type(module).forward, "__qualname__", "forward")))


def _runs(module: torch.nn.Module) -> bool:
    return type(module).forward is not torch.nn.Module.forward
