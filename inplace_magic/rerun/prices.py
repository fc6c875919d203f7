"""What a run costs: the memory of the tensors that it makes, and its time."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.rerun.run import Runner

_TIMES = 3


def price_of(runner: Runner) -> tuple[int, float]:
    """Bytes of all tensors with memory of their own that a run makes, and the seconds of the fastest of three.

    Raises:
        CompareError: the program cannot be run, or raises.
    """
    return _made(runner), min(runner.seconds() for _time in range(_TIMES))


def _made(runner: Runner) -> int:
    made = _Made()
    with runner.stage() as copies, made:
        runner.program.run(copies.roots)
    return made.nbytes


class _Made(TorchFunctionMode):
    """Adds up what torch functions give that is in no memory of what they got."""

    def __init__(self) -> None:
        super().__init__()
        self.nbytes = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        known = {_address(each) for each in _tensors((args, kwargs))}
        for each in _tensors(result):
            address = _address(each)
            if address and address not in known:
                known.add(address)
                self.nbytes += describe.storage(each).nbytes()
        return result


def _address(tensor: torch.Tensor) -> int | None:
    return describe_memory.storage_address(describe.storage(tensor))


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [each for part in value for each in _tensors(part)] if isinstance(value, (list, tuple)) else []
