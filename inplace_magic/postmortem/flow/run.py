"""A run through the text, from the first cell to the line that raised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from inplace_magic.postmortem.failure import Failure, UserFrame
from inplace_magic.postmortem.flow.calls import call_method
from inplace_magic.postmortem.flow.expressions import evaluate, item
from inplace_magic.postmortem.flow.machine import Event, Failing, Frame, Machine, Snapshot, Stop
from inplace_magic.postmortem.flow.statements import execute
from inplace_magic.postmortem.flow.values import Function, Items, Tensors, Value
from inplace_magic.postmortem.memory import Memory, memory_of
from inplace_magic.source.text import first_line_of


@dataclass(frozen=True)
class Flow:
    """What the text did until the program failed; facts alone."""

    events: tuple[Event, ...]
    is_it: Mapping[int, bool]
    """By number of a memory: whether it is the one in question; those that no name tells of are left out."""
    reached: bool
    """Whether the line that raised was reached."""
    cut: bool
    """Whether the run ended at its bound."""


def follow(failure: Failure, raised: UserFrame | None, memory: Memory | None) -> Flow:
    """Return the events of the user's text up to the line that raised.

    Args:
        failure: what is left of the program.
        raised: the frame that called backward.
        memory: that of the tensor which was written.
    """
    failing = None
    if raised is not None:
        failing = Failing(raised.code.co_filename, raised.place.line, raised.place.function)
    frames = {(f.code.co_filename, f.code.co_firstlineno): f.names for f in failure.frames if f.names}
    machine = Machine(failure.texts, failing, frames)
    machine.execute, machine.evaluate = execute, evaluate
    machine.call_method, machine.item = call_method, item
    try:
        _programs(machine, failure)
        last = machine.snapshot
        events = [e for e in machine.events if last is None or e.at <= last.at]
        return Flow(tuple(events), _identified(machine, last, memory), last is not None, machine.cut)
    finally:
        machine.close()


def _programs(machine: Machine, failure: Failure) -> None:
    top = machine.module_env(failure.namespace)
    outermost = next((f for f in failure.frames if f.globals is failure.namespace and not f.names), None)
    try:
        for filename, tree in failure.texts.programs(outermost.code.co_filename if outermost is not None else None):
            frame = Frame(filename, "<module>", top, None)
            machine.frames[:] = [frame]
            execute(machine, tree.body, frame)
        if machine.snapshot is None:
            _from_the_frames(machine, failure)
    except Stop:
        return


def _from_the_frames(machine: Machine, failure: Failure) -> None:
    """Follows the functions of the traceback themselves, where what called them is not known."""
    for each in failure.frames:
        found = failure.texts.function(each.code) if each.names else None
        if found is None:
            continue
        env = machine.env(machine.module_env(each.globals), each.names)
        frame = Frame(each.code.co_filename, found.name, env, None)
        arguments = found.node.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if argument.arg in each.names and not _is_bound(found.node, argument.arg):
                env.names[argument.arg] = machine.value_of(each.names[argument.arg])
        machine.frames[:] = [frame]
        execute(machine, found.node.body, frame)
        if machine.snapshot is not None:
            return


def _is_bound(node: Any, name: str) -> bool:
    """Whether a function gives a parameter another value."""
    from inplace_magic.source.variables import variables_bound

    return name in variables_bound(node)


def _identified(machine: Machine, snapshot: Snapshot | None, memory: Memory | None) -> dict[int, bool]:
    """Which numbers are the memory in question, told by the names and attributes that lead to tensors now."""
    said: dict[int, set[bool]] = {}
    if memory is None:
        return {}
    for number, known in enumerate(machine.memory):
        if known is not None:
            said[number] = {known == memory}
    for live, names in snapshot.names if snapshot is not None else ():
        for name, value in names.items():
            if name in live:
                _compare(machine, value, live[name], memory, said, 3)
    for (owner, key), value in snapshot.heap.items() if snapshot is not None else ():
        thing = machine.owners.get(owner)
        if thing is not None and isinstance(key, str) and not key.startswith("<"):
            from inplace_magic.postmortem.reading import Missing, lookup

            found = lookup(thing, key)
            if found is not Missing:
                _compare(machine, value, found, memory, said, 2)
    return {number: next(iter(each)) for number, each in said.items() if len(each) == 1}


def _compare(
    machine: Machine, value: Value, thing: Any, memory: Memory, said: dict[int, set[bool]], depth: int
) -> None:
    import torch

    if isinstance(value, Tensors):
        if len(value.memories) == 1 and issubclass(type(thing), torch.Tensor):
            here = memory_of(thing)
            if here is not None and value.through != "data":
                said.setdefault(next(iter(value.memories)), set()).add(here == memory)
    elif isinstance(value, Items) and depth:
        if type(thing) in (list, tuple) and len(thing) == len(value.entries):
            for entry, each in zip(value.entries, thing, strict=True):
                _compare(machine, entry, each, memory, said, depth - 1)
        elif type(thing) is dict and value.keys is not None:
            for key, entry in zip(value.keys, value.entries, strict=False):
                if isinstance(key, (str, int)) and key in thing:
                    _compare(machine, entry, thing[key], memory, said, depth - 1)


__all__ = ["Flow", "Function", "first_line_of", "follow", "replace"]
