"""Steps of optimizers that found no gradient on any of their parameters. They call nothing, so no call tells of them.

PyTorch has a place for this
(https://docs.pytorch.org/docs/stable/generated/torch.optim.optimizer.register_optimizer_step_pre_hook.html): a hook
that every optimizer runs before it steps. While a watch runs, ours looks for the first parameter with a gradient, and
is done with it in most steps. A step with a closure is left out: its gradients are made inside it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils.hooks import RemovableHandle

from inplace_magic.capture.log import RawIdleStep
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch import describe

_MOST_NOTED = 1_000


class IdleSteps:
    """Notes such steps on this thread."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._thread = threading.get_ident()

    def registered(self) -> RemovableHandle:
        """The hook is on; its handle takes it off."""
        return register_optimizer_step_pre_hook(self._before_step)

    def _before_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if len(args) > 1 or kwargs or threading.get_ident() != self._thread:
            return
        try:
            with torch._C.DisableTorchFunction():  # reading `.grad` is no call of the user's
                self._note(optimizer)
        except Exception as fault:  # containment: whatever fails in here, the user's optimizer steps
            self._recorder.fault("looking at an optimizer's step", fault)

    def _note(self, optimizer: Any) -> None:
        recorder, held = self._recorder, []
        for tensor in [*parameters_held(optimizer)]:
            if type(tensor) not in describe.PLAIN_TYPES or describe.gradient(tensor) is not None:
                return  # of a subclass it is not known
            held.append(tensor)
        if not held or len(recorder.log.idle_steps) >= _MOST_NOTED:
            return
        known = (recorder.identity.known(tensor) for tensor in held)
        recorder.log.idle_steps.append(
            RawIdleStep(
                call=recorder.log.begun,
                site=recorder.sites.note(sys._getframe(2)),
                optimizer=type(optimizer).__name__,
                parameters=len(held),
                held=tuple(record.serial for record in known if record is not None),
            )
        )


def parameters_held(optimizer: Any) -> Iterator[Any]:
    """What an optimizer moves, read without running anybody's code."""
    groups = vars(optimizer).get("param_groups")
    for group in groups if type(groups) is list else ():
        if type(group) is dict and type(group.get("params")) is list:
            yield from group["params"]
