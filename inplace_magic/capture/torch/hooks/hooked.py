"""Where forward hooks keep what a layer gave, while another layer writes it in place.

Names tell it of a model that the user's namespace holds (:mod:`.names`); a model that is a local of a function is gone
when the watch ends, so it is asked while it lives. Asked is only where all of this is so, which costs other programs
nothing: a call in a layer wrote in place; a layer has just made what it wrote; and that layer, or one around it, ran
with hooks, which the function of ``nn.Module`` on the stack tells. Then the modules with forward hooks are
looked for among Python's own list of objects. That takes some milliseconds, so what was found is kept (weakly) and
the list is read a few times in a watch at most. Nothing of the modules runs: their tables and what the code of their
hooks can reach (:mod:`.held_by_hooks`) are read. Where a hook's container holds what is being written, that is noted
with the container's name.

Where ``torch`` runs hooked modules by a function of another name, nothing is found.
"""

from __future__ import annotations

import dis
import gc
import weakref
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from inplace_magic.capture.callsite import CallsiteTable
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import SITE, Log, RawCall, inputs_of, outputs_of
from inplace_magic.capture.records import RECORD, TensorRecord
from inplace_magic.capture.running import OpenCall
from inplace_magic.capture.torch.hooks.held_by_hooks import Held, function_of, held, literals
from inplace_magic.record.names import KeptByHook

_LOOK_BACK = 8
"""Calls before the write among which its maker is looked for: a hook may make some."""
_MOST_LISTINGS = 8
"""How often in a watch Python's objects are listed."""
_MOST_NOTED = 10_000


class HookedLayers:
    """Notes what stood in containers of forward hooks while it was written."""

    def __init__(self, sites: CallsiteTable, log: Log, identity: IdentityMap) -> None:
        self._sites = sites
        self._log = log
        self._identity = identity
        self._known: list[weakref.ref[torch.nn.Module]] = []
        self._listings = 0
        self._listed_at: int | None = None
        self._keepers: dict[tuple[int, int, int], tuple[int, list[weakref.ref[torch.nn.Module]]]] = {}
        """By the places of the making and the writing call and the serial number of the first parameter: how many hooks
        had been registered when it was asked, and the modules whose hooks then held what was written."""
        self._shared: dict[tuple[int, str, Any, bool], bool | None] = {}
        """What :meth:`_others` said, by hook, name, key, and whether a layer around the write has hooks."""

    def note(self, write: OpenCall) -> None:
        """Looks at a call that wrote in place, while its arguments are alive."""
        site = write.site
        if site is None or not self._sites.modules[site]:
            return
        for _, record, _ in write.written:
            for raw in self._log.calls[: -_LOOK_BACK - 1 : -1]:
                place = raw[SITE]
                if place is None or place not in self._sites.hooks:
                    continue
                if any([seen[RECORD] is record for seen in outputs_of(raw)]):
                    self._note_held(place, site, raw, write, record)
                    break

    def _note_held(self, place: int, site: int, made: RawCall, write: OpenCall, record: TensorRecord) -> None:
        """Notes where hooks keep what was made and written, at whatever lines."""
        hooks = RemovableHandle.next_id
        self._list(hooks)
        if hooks != self._listed_at:
            return
        parameter = _parameter_of(made)
        key = place, site, self._identity.register(parameter).serial if parameter is not None else 0
        asked_at, keepers = self._keepers.get(key, (-1, []))
        modules = _alive(keepers)
        found = [each for module in modules for each in self._held_by(module, record, site)]
        if not found and (asked_at != hooks or len(modules) < len(keepers)):
            found = [each for module in _alive(self._known) for each in self._held_by(module, record, site)]
            holding = {id(module): module for module, _, _ in found}  # whatever a module says of its hash
            self._keepers[key] = hooks, [weakref.ref(module) for module in holding.values()]
        for module, hook, entry in found:
            which = id(hook), entry.name, entry.key, site in self._sites.hooks
            if which not in self._shared:
                self._shared[which] = self._others(hook, entry, is_writer_hooked=which[-1])
            others = self._shared[which]
            if others is not None and len(self._log.kept) < _MOST_NOTED:
                self._log.kept.append(
                    KeptByHook(
                        write=write.index,
                        tensor=self._identity.tensors[id(entry.tensor)].serial,
                        layer=type(module).__name__,
                        name=entry.name,
                        key=None if entry.key is None else str(entry.key),
                        others=others,
                    )
                )

    def _held_by(
        self, module: torch.nn.Module, record: TensorRecord, site: int
    ) -> list[tuple[torch.nn.Module, Any, Held]]:
        """What the hooks of a module hold of the memory of a tensor; nothing where one of them is writing it."""
        running = self._sites.codes_of(site)
        found = []
        for hook in _hooks(module):
            function = function_of(hook)
            if function is None or function.__code__ in running:
                continue
            for entry in held(hook, module):
                known = self._identity.tensors.get(id(entry.tensor))
                same = known is not None and known() is entry.tensor and known.storage is record.storage
                if same and record.storage is not None and entry.name:
                    found.append((module, hook, entry))
        return found

    def _others(self, hook: Any, entry: Held, *, is_writer_hooked: bool) -> bool | None:
        """True if another hook can put the written tensor into the container of an entry too; None where one of them
        can fill that very entry anew, so that nobody can tell whose it is when it is read."""
        own, others = function_of(hook), False
        for module in _alive(self._known):
            for other in _hooks(module):
                function = function_of(other)
                if other is hook or function is None:
                    continue
                if any([each.holder == entry.holder for each in held(other, module)]):
                    others = others or is_writer_hooked or _may_be_given_it(module, other)
                    of_one_code = own is not None and function.__code__ is own.__code__
                    told_apart = of_one_code and entry.key in literals(hook) - literals(other)
                    if not told_apart and type(entry.key) is not int:
                        return None
        return others

    def _list(self, hooks: int) -> None:
        """Lists the hooked modules anew, where some may have been added and it was not done too often."""
        if hooks != self._listed_at and self._listings < _MOST_LISTINGS:
            self._listings += 1
            self._listed_at = hooks
            # Python lists its objects in an order that depends on what it has collected.
            self._known = [weakref.ref(module) for module in sorted(_hooked_modules(), key=_first_hook)]
            self._shared.clear()


def _alive(modules: list[weakref.ref[torch.nn.Module]]) -> list[torch.nn.Module]:
    return [module for ref in modules if (module := ref()) is not None]


def _parameter_of(made: RawCall) -> torch.nn.Parameter | None:
    for seen in inputs_of(made):
        tensor = seen[RECORD]()
        if isinstance(tensor, torch.nn.Parameter):
            return tensor
    return None


def _hooked_modules() -> Iterator[torch.nn.Module]:
    for item in gc.get_objects():
        if issubclass(type(item), torch.nn.Module) and _state(item).get("_forward_hooks"):
            yield item


def _first_hook(module: torch.nn.Module) -> int:
    """Return the number of the first hook that a module was given, which no other module has but copies of it."""
    return int(min(_state(module)["_forward_hooks"]))


def _may_be_given_it(module: torch.nn.Module, hook: Any) -> bool:
    """True if the hook of a layer after the write can have the written tensor: as the input, if its code reads that, or
    as the output of a layer without parameters, which may make no new tensor."""
    parameters = (_state(module).get("_parameters") or {}).values()
    function = function_of(hook)
    if function is None or type(hook) not in (FunctionType, MethodType) or all([each is None for each in parameters]):
        return True
    code = function.__code__
    place = 2 if type(hook) is MethodType else 1
    return code.co_argcount <= place or _reads(code, code.co_varnames[place])


def _reads(code: CodeType, name: str) -> bool:
    """True if a function reads one of its variables; several of an instruction (Python 3.13) count each."""
    for step in dis.get_instructions(code):
        names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        if name in names and not step.opname.startswith(("MAKE_CELL", "COPY_FREE")) and step.opname != "STORE_FAST":
            return True
    return False


def _state(module: torch.nn.Module) -> dict[str, Any]:
    found: dict[str, Any] = object.__getattribute__(module, "__dict__")  # whatever the user's class makes of that
    return found


def _hooks(module: torch.nn.Module) -> list[Any]:
    return list((_state(module).get("_forward_hooks") or {}).values())
