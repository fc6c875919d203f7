"""Steps of optimizers that found no gradient on any of their parameters, or, of the first step of each, on some. They
call nothing for those, so no call tells of them.

PyTorch has a place for this
(https://docs.pytorch.org/docs/stable/generated/torch.optim.optimizer.register_optimizer_step_pre_hook.html): a hook
that every optimizer runs before it steps. While a watch runs, ours looks at all parameters before an optimizer's first
step; later it looks for the first one with a gradient, and is done with it in most steps. A step with a closure is left
out: its gradients are made inside it.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils.hooks import RemovableHandle

from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.hooks.numbers import unnumbered
from inplace_magic.record.autograd import IdleStep

_MOST_NOTED = 1_000


class IdleSteps:
    """Notes such steps on this thread."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._thread = threading.get_ident()
        self._met: dict[int, weakref.ref[Any]] = {}
        """Each optimizer that has stepped, by its `id`, which one that is made when it is gone may have again. Not by
        its hash: that may be code of the user's."""

    def registered(self) -> RemovableHandle:
        """The hook is on; its handle takes it off."""
        return unnumbered(register_optimizer_step_pre_hook, self._before_step)

    def _before_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if len(args) > 1 or kwargs or threading.get_ident() != self._thread:
            return
        try:
            with torch._C.DisableTorchFunction():  # reading `.grad` is no call of the user's
                self._note(optimizer)
        except Exception as fault:  # containment: whatever fails in here, the user's optimizer steps
            self._recorder.fault("looking at an optimizer's step", fault)

    def _note(self, optimizer: Any) -> None:
        recorder = self._recorder
        left_out: list[Any] = []
        met = self._met.get(id(optimizer))
        moved, is_first = 0, met is None or met() is not optimizer
        if is_first and len(self._met) < _MOST_NOTED:
            self._met[id(optimizer)] = weakref.ref(optimizer)
        for tensor in [*parameters_held(optimizer)]:
            if type(tensor) not in describe.PLAIN_TYPES:
                return  # of a subclass it is not known
            if describe.gradient(tensor) is None:
                left_out.append(tensor)
            elif is_first:
                moved += 1
            else:
                return
        known = tuple(
            record.serial
            for each in left_out
            if describe.requires_grad(each) and (record := recorder.identity.known(each)) is not None
        )
        if not (known if moved else left_out) or len(recorder.log.idle_steps) >= _MOST_NOTED:
            return
        step = IdleStep(recorder.log.begun, None, type(optimizer).__name__, held=known, moved=moved)
        recorder.log.idle_steps.append((recorder.sites.note(sys._getframe(2)), step))


def parameters_held(optimizer: Any) -> Iterator[Any]:
    """What an optimizer moves, read without running anybody's code."""
    groups = vars(optimizer).get("param_groups")
    for group in groups if type(groups) is list else ():
        if type(group) is dict and type(group.get("params")) is list:
            yield from group["params"]
