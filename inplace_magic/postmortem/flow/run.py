"""A run through the text, from the first cell to the line that raised."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from inplace_magic.postmortem.failure import Failure
from inplace_magic.postmortem.flow.calls import apply, call_method
from inplace_magic.postmortem.flow.expressions import evaluate, item
from inplace_magic.postmortem.flow.machine import Machine
from inplace_magic.postmortem.flow.statements import execute
from inplace_magic.postmortem.flow.values import Env, Event, Failing, Frame, Items, Snapshot, Stop, Tensors, Value
from inplace_magic.postmortem.graph import Memory, memory_of
from inplace_magic.postmortem.reading import MISSING, lookup
from inplace_magic.source.expressions import variables_bound

Machine.execute, Machine.evaluate = execute, evaluate
Machine.apply, Machine.call_method, Machine.item = apply, call_method, item


@dataclass(frozen=True)
class Flow:
    """What the text did until the program failed; facts alone."""

    events: tuple[Event, ...]
    memory: tuple[Memory | None, ...]
    """By number: of a tensor that existed before the text made any, where it is."""
    now: Mapping[int, frozenset[Memory]]
    """By number: where the names and attributes lead that stand for it in the end; those without are left out."""
    reached: bool
    """Whether the line that raised was reached."""
    cut: bool
    """Whether the run ended at its bound."""

    def identified(self, memory: Memory | None) -> dict[int, bool]:
        """By number: whether it is this memory, for those that some name tells of."""
        if memory is None:
            return {}
        return {number: memory in led for number, led in self.now.items() if len(led) == 1}

    def numbers(self, memories: Iterable[Memory]) -> frozenset[int]:
        """Return the numbers of memory that exists."""
        wanted = frozenset(memories)
        return frozenset(number for number, known in enumerate(self.memory) if known in wanted)


def follow(failure: Failure) -> Flow:
    """Return the events of the user's text up to the line that raised."""
    failing, raised = None, failure.raised
    if raised is not None:
        filename = raised.code.co_filename
        failing = Failing(filename, *failure.texts.position(filename, raised.place), raised.place.function)
    frames = {(f.code.co_filename, f.code.co_firstlineno): f.names for f in failure.frames if f.names}
    machine = Machine(failure.texts, failing, frames)
    try:
        _programs(machine, failure)
        last = machine.snapshot
        events = [e for e in machine.events if last is None or e.at <= last.at]
        led = _led(machine, last)
        return Flow(tuple(events), tuple(machine.memory), led, last is not None, machine.cut)
    finally:
        machine.close()


def _programs(machine: Machine, failure: Failure) -> None:
    top = machine.module_env(failure.namespace)
    outermost = next((f for f in failure.frames if f.globals is failure.namespace and not f.names), None)
    try:
        ran = list(failure.texts.programs(outermost.code.co_filename if outermost is not None else None))
        failing = machine.failing
        for number, (filename, tree) in enumerate(ran, 1):
            machine.failing = failing if number == len(ran) else None
            machine.doubted = failing if number < len(ran) else None
            _module(machine, filename, tree, top)
        machine.failing = failing
        if machine.snapshot is None:
            _from_the_frames(machine, failure)
    except Stop:
        return


def _from_the_frames(machine: Machine, failure: Failure) -> None:
    """Follows the functions and modules of the traceback themselves, where what called them is not known: a library
    that imports or runs a file, for example."""
    for each in failure.frames:
        if not each.code.co_flags & inspect.CO_OPTIMIZED:
            text = failure.texts.text(each.code.co_filename)
            if each.globals is not failure.namespace and text is not None and text.tree is not None:
                _module(machine, each.code.co_filename, text.tree, machine.module_env(each.globals))
        elif (found := failure.texts.function(each.code)) is not None:
            env = machine.env(machine.module_env(each.globals), each.names or None)
            arguments, given_anew = found.node.args, variables_bound(found.node)
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                known = argument.arg in each.names and argument.arg not in given_anew
                env.names[argument.arg] = machine.value_of(each.names[argument.arg]) if known else machine.fresh()
            machine.frames[:] = [Frame(each.code.co_filename, found.name, env, None)]
            execute(machine, found.node.body)
        if machine.snapshot is not None:
            return


def _module(machine: Machine, filename: str, tree: ast.Module, names: Env) -> None:
    machine.once = machine.sure = True
    machine.frames[:] = [Frame(filename, "<module>", names, None)]
    execute(machine, tree.body)


def _led(machine: Machine, snapshot: Snapshot | None) -> dict[int, frozenset[Memory]]:
    """Where the names and attributes lead now that stood for each memory as the program failed."""
    led: dict[int, set[Memory]] = {}
    for number, known in enumerate(machine.memory):
        if known is not None:
            led[number] = {known}
    for live, names in snapshot.names if snapshot is not None else ():
        for name, value in names.items():
            if name in live:
                _compare(value, live[name], led, 3)
    for (owner, key), value in snapshot.heap.items() if snapshot is not None else ():
        thing = machine.owners.get(owner)
        if thing is not None and isinstance(key, str) and not key.startswith("<"):
            found = lookup(thing, key)
            if found is not MISSING:
                _compare(value, found, led, 2)
    return {number: frozenset(each) for number, each in led.items()}


def _compare(value: Value, thing: Any, led: dict[int, set[Memory]], depth: int) -> None:
    if isinstance(value, Tensors):
        if len(value.memories) == 1 and value.through != "data" and issubclass(type(thing), torch.Tensor):
            here = memory_of(thing)
            if here is not None:
                led.setdefault(next(iter(value.memories)), set()).add(here)
    elif isinstance(value, Items) and depth:
        if type(thing) in (list, tuple) and len(thing) == len(value.entries):
            for entry, each in zip(value.entries, thing, strict=True):
                _compare(entry, each, led, depth - 1)
        elif type(thing) is dict and value.keys is not None:
            for key, entry in zip(value.keys, value.entries, strict=False):
                if isinstance(key, (str, int)) and key in thing:
                    _compare(entry, thing[key], led, depth - 1)
