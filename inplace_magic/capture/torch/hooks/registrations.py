"""Which parameter each module was given, under which name, and what stood there before. No call tells: an assignment to
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

from inplace_magic.capture.log import RawRegistration
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch import describe

_DICTS = (dict, OrderedDict)
"""What a module keeps its parameters in; the second in PyTorch 2.4."""


class Registrations:
    """Notes what modules take on this thread."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._thread = threading.get_ident()
        self._owners: dict[int, tuple[weakref.ref[Any], int]] = {}
        """By ``id`` of a dict of parameters: the module that it was first seen in, and a number for it."""
        self._count = 0

    def registered(self) -> RemovableHandle:
        """The hook is on; its handle takes it off."""
        return register_module_parameter_registration_hook(self._before)

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
        number, shared = self._owner(module, held)
        replaces = before is not None and type(before) in describe.PLAIN_TYPES
        identity = recorder.identity
        record = identity.register(parameter) if replaces else identity.known(parameter)
        storage = record.storage if record is not None else identity.known_storage_of(parameter)
        if record is None and storage is None:
            return  # nobody has met it, nor what it lies on: its number is given when a call meets it
        known = identity.register(before) if before is not None and replaces else None
        recorder.log.registrations.append(
            RawRegistration(
                call=recorder.log.begun,
                site=recorder.sites.note(sys._getframe(2)),
                module=number,
                name=name,
                tensor=None if record is None else record.serial,
                storage=None if storage is None else storage.serial,
                replaced=None if known is None else known.serial,
                shared=shared,
            )
        )

    def _owner(self, module: Any, held: dict[str, Any]) -> tuple[int, bool]:
        """Return the number of a dict of parameters, and whether another living module has it as well."""
        known = self._owners.get(id(held))
        owner = known[0]() if known is not None else None
        if known is not None and owner is not None and vars(owner).get("_parameters") is held:
            return known[1], owner is not module
        self._count += 1
        self._owners[id(held)] = weakref.ref(module), self._count
        return self._count, False
