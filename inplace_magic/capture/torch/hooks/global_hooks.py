"""What the two hooks of PyTorch's own tell that a watch hangs, and no call does.

**Steps of optimizers that found no gradient** on any of their parameters, or, of the first step of each, on some: they
call nothing for those. PyTorch has a place for this
(https://docs.pytorch.org/docs/stable/generated/torch.optim.optimizer.register_optimizer_step_pre_hook.html): a hook
that every optimizer runs before it steps. Ours looks at all parameters before an optimizer's first step; later it looks
for the first one with a gradient, and is done with it in most steps. A step with a closure is left out: its gradients
are made inside it.

**Which parameter a module was given**, under which name, and what stood there before: an assignment to an attribute of
a module calls nothing. PyTorch has a place for this too
(``torch.nn.modules.module.register_module_parameter_registration_hook``): a hook that every module runs before it takes
a parameter. Ours notes the two by numbers, and gives nothing back, by which the parameter is taken as it is.

PyTorch numbers all hooks of a process in a row, and users meet these numbers: as ``handle.id``, as keys of a module's
hooks, and in what ``torch.save`` writes of a module. Ours take none of them.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from itertools import count
from typing import Any

import torch
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils.hooks import RemovableHandle

from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch import describe
from inplace_magic.record.autograd import IdleStep, Registration

_MOST_STEPS = 1_000
"""Kept of idle steps, and of optimizers that have stepped."""
_NUMBERS = count(-4, -4)
"""Below all of PyTorch's; two of four stay free for hooks that another thread registers meanwhile."""
_DICTS = (dict, OrderedDict)
"""What a module keeps its parameters in; the second in PyTorch 2.4."""


class GlobalHooks:
    """Notes what happens on this thread."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._thread = threading.get_ident()
        self._met: dict[int, weakref.ref[Any]] = {}
        """Each optimizer that has stepped since the hooks were hung, by its `id`, which one that is made when it is
        gone may have again. Not by its hash: that may be code of the user's."""
        self._owners: dict[int, weakref.ref[Any]] = {}
        """By ``id`` of a dict of parameters: the module that it was first seen in."""

    def hang(self, handles: list[RemovableHandle]) -> None:
        """Hangs both; their handles take them off."""
        self._met = {}
        theirs = RemovableHandle.next_id
        RemovableHandle.next_id = next(_NUMBERS)
        try:
            handles.append(register_optimizer_step_pre_hook(self._before_step))
            handles.append(register_module_parameter_registration_hook(self._before_parameter))
        finally:
            RemovableHandle.next_id = theirs

    def _before_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if len(args) > 1 or kwargs or threading.get_ident() != self._thread:
            return
        with torch._C.DisableTorchFunction():  # reading `.grad` is no call of the user's
            self._recorder.log.contained("looking at an optimizer's step", self._note_step, optimizer)

    def _before_parameter(self, module: Any, name: str, parameter: Any) -> None:
        if threading.get_ident() != self._thread or self._recorder.log.registrations_full:
            return
        with torch._C.DisableTorchFunction():
            self._recorder.log.contained(
                "looking at a module's parameter", self._note_parameter, module, name, parameter
            )

    def _note_step(self, optimizer: Any) -> None:
        recorder = self._recorder
        left_out: list[Any] = []
        met = self._met.get(id(optimizer))
        moved, is_first = 0, met is None or met() is not optimizer
        if is_first and len(self._met) < _MOST_STEPS:
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
        if not (known if moved else left_out) or len(recorder.log.idle_steps) >= _MOST_STEPS:
            return
        step = IdleStep(recorder.log.begun, None, type(optimizer).__name__, held=known, moved=moved)
        recorder.log.idle_steps.append((recorder.sites.note(sys._getframe(3)), step))

    def _note_parameter(self, module: Any, name: str, parameter: Any) -> None:
        held = vars(module).get("_parameters")
        if type(held) not in _DICTS or type(name) is not str or type(parameter) not in describe.PLAIN_TYPES:
            return
        recorder, before = self._recorder, held.get(name)
        if before is parameter:
            return
        shared = self._is_shared(module, held)
        replaces = before is not None and type(before) in describe.PLAIN_TYPES
        identity = recorder.identity
        record = identity.register(parameter) if replaces else identity.known(parameter)
        storage = record.storage if record is not None else identity.known_storage_of(parameter)
        if record is None and storage is None:
            return  # nobody has met it, nor what it lies on: its number is given when a call meets it
        known = identity.register(before) if before is not None and replaces else None
        given = Registration(
            call=recorder.log.begun,
            callsite=None,
            name=name,
            tensor=None if record is None else record.serial,
            storage=None if storage is None else storage.serial,
            replaced=None if known is None else known.serial,
            shared=shared,
        )
        recorder.log.registrations.append((recorder.sites.note(sys._getframe(3)), given))

    def _is_shared(self, module: Any, held: dict[str, Any]) -> bool:
        """True if another living module has the same dict of parameters."""
        known = self._owners.get(id(held))
        owner = known() if known is not None else None
        if owner is not None and vars(owner).get("_parameters") is held:
            return owner is not module
        self._owners[id(held)] = weakref.ref(module)
        return False


def parameters_held(optimizer: Any) -> Iterator[Any]:
    """What an optimizer moves, read without running anybody's code."""
    groups = vars(optimizer).get("param_groups")
    for group in groups if type(groups) is list else ():
        if type(group) is dict and type(group.get("params")) is list:
            yield from group["params"]
