"""Which names lead to the modules that an optimizer moves when it steps.

``best = model`` calls nothing. PyTorch has a place for a hook of its own (``register_optimizer_step_pre_hook``); ours
reads names, and runs nothing of the user's. Looked at are the first steps, and of later ones a part: a loop of a
thousand steps costs a few dozen looks.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from itertools import islice
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils.hooks import RemovableHandle

from inplace_magic.capture.log import RawSighting
from inplace_magic.capture.names import TORCH_KINDS
from inplace_magic.capture.naming.holdings import names_of
from inplace_magic.capture.naming.numbered import Numbered
from inplace_magic.capture.naming.reach import entries_of
from inplace_magic.capture.naming.scope import was_executed
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.hooks.idle_steps import parameters_held

_EACH = 24
"""So many steps are looked at one by one."""
_ITEMS = 48
"""Names of a function, and entries of an object, that are looked at."""
_DEPTH = 2
_PARAMETERS = 8
"""Of a module, by which a call that runs it is known."""
_MOST = 2_000
"""Kept of one watch."""
_FRAMES = 6


class _Look(NamedTuple):
    """What was seen when a running function was last looked at."""

    told: set[tuple[str, int]]
    """(path, module) of what is noted."""
    paths: dict[str, int]
    """The numbers of modules, by the paths that led to them."""
    begun: int | None
    """How many calls had begun; None where this is the first look."""


class Steps:
    """Looks at steps on this thread."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._thread = threading.get_ident()
        self._count = 0
        self._number = Numbered().of
        """Of modules."""
        self._seen: dict[tuple[int, ...], _Look] = {}
        """By the place of a run, see :func:`_place_of`. Not by ``id`` of the frame, which the next frame may get: then
        one run would be taken for another by what else the process has freed."""

    def asked_at_steps(self) -> RemovableHandle:
        """The hook before each step is on; its handle takes it off."""
        return register_optimizer_step_pre_hook(self._before_step)

    def _before_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if threading.get_ident() != self._thread:
            return
        self._count += 1
        if self._count > _EACH and self._count % (self._count // _EACH + 1):
            return
        try:
            with torch._C.DisableTorchFunction():
                self._note_step(optimizer)
        except Exception as fault:  # containment: whatever fails in here, the user's optimizer steps
            self._recorder.fault("looking at what an optimizer moves", fault)

    def _note_step(self, optimizer: Any) -> None:
        held = [*parameters_held(optimizer)]
        plain = all([type(each) in describe.PLAIN_TYPES for each in held])  # of a subclass it is not known
        if plain and len(self._recorder.log.sightings) < _MOST:
            self._look(sys._getframe(2), frozenset(map(id, held)))

    def _look(self, frame: FrameType | None, held: frozenset[int]) -> None:
        """Goes through the names of the user's functions that run."""
        running: list[FrameType] = []
        while frame is not None:
            mine, is_last = self._recorder.sites.is_users(frame.f_code)
            if mine:
                running.append(frame)
            frame = None if is_last else frame.f_back
        for level, each in enumerate(running[:_FRAMES]):
            self._look_at(each, _place_of(running[level:]), held)

    def _look_at(self, frame: FrameType, run: tuple[int, ...], held: frozenset[int]) -> None:
        recorder, begun = self._recorder, self._recorder.log.begun
        found: dict[str, int] = {}
        moved: dict[str, tuple[str, Any]] = {}
        for path, holder, module in self._modules(frame):
            found[path] = self._number(module)[0]
            if any([id(each) in held for each in _parameters_of(module, 1)]):
                moved[path] = holder, module
        look = self._seen.get(run)
        if look is None or (look.paths and found.items().isdisjoint(look.paths.items())):  # all else: another run
            look = _Look(set(), {}, None)
        for path, (holder, module) in moved.items():
            number = found[path]
            if (path, number) in look.told or len(recorder.log.sightings) >= _MOST:
                continue
            look.told.add((path, number))
            met = [recorder.identity.known(each) for each in _parameters_of(module, _PARAMETERS)]
            recorder.log.sightings.append(
                RawSighting(
                    call=begun,
                    site=recorder.sites.note(frame),
                    path=path,
                    module=number,
                    cls=type(module).__name__,
                    holder=holder,
                    since=None if look.paths.get(path) == number else look.begun,
                    parameters=tuple(record.serial for record in met if record is not None),
                )
            )
        self._seen[run] = look._replace(paths=found, begun=begun)

    def _modules(self, frame: FrameType) -> Iterator[tuple[str, str, Any]]:
        """(path, class of the holder, module) of what the names of a frame lead to."""
        for name, value in islice(names_of(frame).items(), _ITEMS):
            if not was_executed(value):
                yield from _within(name, "", value, 0)


def _place_of(running: list[FrameType]) -> tuple[int, ...]:
    """Where a function runs: its code, and the instructions of the user's functions that called it. Two runs that one
    line begins, as in a loop, have one place.

    Args:
        running: the function and those, whose codes are kept by who says that they are the user's.
    """
    function, *callers = running
    return id(function.f_code), *(number for each in callers for number in (id(each.f_code), each.f_lasti))


def _within(path: str, holder: str, value: Any, depth: int) -> Iterator[tuple[str, str, Any]]:
    if issubclass(type(value), TORCH_KINDS.module):
        yield path, holder, value
    elif depth < _DEPTH:
        for step, item in islice(entries_of(value, TORCH_KINDS), _ITEMS):
            yield from _within(path + step, type(value).__name__, item, depth + 1)


def _parameters_of(module: Any, most: int) -> list[Any]:
    """The first parameters of a module, read without running anybody's code. A list: a generator that is left early
    drops an interrupt that strikes as it dies."""
    found: list[Any] = []
    met, ahead = {id(module)}, [module]
    while ahead and len(found) < most:
        state = vars(ahead.pop())
        found += [each for each in (state.get("_parameters") or {}).values() if each is not None]
        children = [each for each in (state.get("_modules") or {}).values() if each is not None and id(each) not in met]
        met.update(map(id, children))
        ahead += reversed(children)
    return found[:most]
