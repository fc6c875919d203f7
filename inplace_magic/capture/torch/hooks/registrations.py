"""Which parameter a module was given, under which name, and what stood there before. No call tells: an assignment to
an attribute of a module calls nothing.

PyTorch has a place for this (``torch.nn.modules.module.register_module_parameter_registration_hook``): a hook that
every module runs before it takes a parameter. While a watch runs, ours notes the two by numbers, and gives nothing
back, by which the parameter is taken as it is.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections import OrderedDict
from typing import Any

import torch
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.utils.hooks import RemovableHandle

from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.hooks.numbers import unnumbered
from inplace_magic.record.autograd import Registration

_DICTS = (dict, OrderedDict)
"""What a module keeps its parameters in; the second in PyTorch 2.4."""


class Registrations:
    """Notes what modules take on this thread."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._thread = threading.get_ident()
        self._owners: dict[int, weakref.ref[Any]] = {}
        """By ``id`` of a dict of parameters: the module that it was first seen in."""

    def registered(self) -> RemovableHandle:
        """The hook is on; its handle takes it off."""
        return unnumbered(register_module_parameter_registration_hook, self._before)

    def _before(self, module: Any, name: str, parameter: Any) -> None:
        if threading.get_ident() != self._thread or self._recorder.log.registrations_full:
            return
        try:
            with torch._C.DisableTorchFunction():
                self._note(module, name, parameter)
        except Exception as fault:  # containment: whatever fails in here, the module takes its parameter
            self._recorder.fault("looking at a module's parameter", fault)

    def _note(self, module: Any, name: str, parameter: Any) -> None:
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
        recorder.log.registrations.append((recorder.sites.note(sys._getframe(2)), given))

    def _is_shared(self, module: Any, held: dict[str, Any]) -> bool:
        """True if another living module has the same dict of parameters."""
        known = self._owners.get(id(held))
        owner = known() if known is not None else None
        if owner is not None and vars(owner).get("_parameters") is held:
            return owner is not module
        self._owners[id(held)] = weakref.ref(module)
        return False
