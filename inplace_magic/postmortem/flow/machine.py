"""The state of a run through the text: memory, events, objects, and how far it came."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType
from typing import Any, ClassVar

import torch

from inplace_magic.postmortem.failure import Texts
from inplace_magic.postmortem.flow.values import (
    NO_MEMORY,
    UNKNOWN,
    Constant,
    Env,
    Event,
    Failing,
    Frame,
    Function,
    Instance,
    Items,
    Live,
    Snapshot,
    Stop,
    Tensors,
    Value,
    Where,
    memories_in,
    tensors_in,
)
from inplace_magic.postmortem.flow.vocabulary import KEEP_NOTHING
from inplace_magic.postmortem.graph import Memory, memory_of
from inplace_magic.postmortem.reading import is_a, unwrapped
from inplace_magic.source.expressions import set_later

MOST_STEPS = 20_000
"""Expressions and statements that are followed."""
MOST_DEPTH = 24
"""Functions inside each other."""
PLAIN = (type(None), bool, int, float, complex, str, bytes)


class Machine:
    """Follows the text. What it does with statements, expressions and calls stands in the files beside.

    Args:
        texts: of the user's code.
        failing: where it raised.
        locals_by_code: the variables of the traceback's functions, by file and first line.
    """

    # what the files beside do, which call each other in turn: methods from there on where `run` is loaded
    execute: ClassVar[Callable[[Machine, list[ast.stmt]], str | None]]
    evaluate: ClassVar[Callable[[Machine, ast.expr], Value]]
    call_method: ClassVar[Callable[[Machine, Value, str, list[Value], dict[str, Value], Any], Value]]
    apply: ClassVar[Callable[[Machine, Value, list[Value], dict[str, Value], Any], Value]]
    item: ClassVar[Callable[[Machine, Value, Any, Value, Any], Value]]

    def __init__(
        self, texts: Texts, failing: Failing | None, locals_by_code: Mapping[tuple[str, int], Mapping[str, object]]
    ) -> None:
        self.texts = texts
        self.failing = failing
        self.doubted: Failing | None = None
        """The line that raised, while an earlier run of its cell is followed: it can have raised there as well."""
        self.locals_by_code = locals_by_code
        self.events: list[Event] = []
        self.heap: dict[tuple[int, object], Value] = {}
        """Attributes and entries that the text set, by the ``id`` of their owner."""
        self.owners: dict[int, Any] = {}
        self.containers: dict[int, Items] = {}
        self.memory: list[Memory | None] = []
        """By number: of a tensor that exists still, where it is."""
        self.children: dict[tuple[int, object], Tensors] = {}
        self.snapshot: Snapshot | None = None
        self.recorded = True
        self.once = True
        self.sure = True
        self.loops = 0
        self.backward_hooks: list[Value] = []
        """What runs during backward."""
        self.steps = 0
        self.cut = False
        self.frames: list[Frame] = []
        self._numbers: dict[Memory, int] = {}
        self._globals: dict[int, Env] = {}
        self._envs: list[Env] = []
        self._set_later: dict[str, frozenset[str] | None] = {}
        self.clock = 0

    @property
    def frame(self) -> Frame:
        """The function that is followed now."""
        return self.frames[-1]

    def tick(self) -> None:
        """One step further.

        Raises:
            Stop: it was the last.
        """
        self.steps += 1
        if self.steps > MOST_STEPS:
            self.cut = True
            raise Stop

    def env(self, parent: Env | None, live: Mapping[str, object] | None = None) -> Env:
        """Return a new set of names."""
        made = Env(parent, {}, live)
        self._envs.append(made)
        return made

    def module_env(self, names: Mapping[str, object]) -> Env:
        """Return the names of a module that is loaded."""
        if id(names) not in self._globals:
            self._globals[id(names)] = self.env(None, names)
        return self._globals[id(names)]

    def fresh(self) -> Tensors:
        """New memory."""
        self.memory.append(None)
        return Tensors(frozenset((len(self.memory) - 1,)))

    def live(self, tensor: Any, through: str = "") -> Tensors:
        """Return the memory of a tensor that exists."""
        memory = memory_of(tensor)
        if memory is None:
            return self.fresh()
        if memory not in self._numbers:
            self._numbers[memory] = len(self.memory)
            self.memory.append(memory)
        return Tensors(frozenset((self._numbers[memory],)), through)

    def value_of(self, thing: Any) -> Value:
        """Return the value that stands for an object."""
        kind = type(thing)
        if kind in PLAIN:
            return Constant(thing)
        if issubclass(kind, torch.Tensor):
            return self.live(thing)
        if kind is FunctionType:
            return self.function_of(thing) or Live(thing)
        return Live(thing)

    def function_of(self, thing: FunctionType) -> Function | None:
        """Return a function of the user's that exists; None for a library's."""
        inner, recorded = unwrapped(thing, self.texts.is_users)
        found = self.texts.function(inner.__code__)
        if found is None:
            return None
        env = self.module_env(inner.__globals__)
        if inner.__closure__:
            held: dict[str, object] = {}
            for name, cell in zip(inner.__code__.co_freevars, inner.__closure__, strict=True):
                try:
                    held[name] = cell.cell_contents
                except ValueError:
                    continue
            env = self.env(env, MappingProxyType(held))
        code = inner.__code__
        names, given = code.co_varnames[: code.co_argcount], inner.__defaults__ or ()
        defaults = {**dict(zip(reversed(names), reversed(given), strict=False)), **(inner.__kwdefaults__ or {})}
        values = {name: self.value_of(each) for name, each in defaults.items()}
        return Function(found.node, code.co_filename, found.name, env, values, recorded=recorded)

    def items_of(self, value: Value) -> Items | None:
        """Return the entries of a list, tuple or dict that exists, or that the text made."""
        if isinstance(value, Items):
            return value
        thing: Any = value.thing if isinstance(value, Live) else None
        kind = type(thing)
        if id(thing) in self.containers:
            return self.containers[id(thing)]
        if kind in (list, tuple):
            made = Items([self.value_of(each) for each in thing[:200]])
        elif is_a(thing, dict):
            pairs = list(dict.items(thing))[:200]
            keys = [key if type(key) in PLAIN else object() for key, _ in pairs]
            made = Items([self.value_of(each) for _, each in pairs], keys)
        else:
            fields = type.__getattribute__(kind, "__dict__").get("_fields") if is_a(thing, tuple) else None
            if type(fields) is not tuple:
                return None
            made = Items([self.value_of(each) for each in tuple.__iter__(thing)], list(fields))
        self.owners[id(thing)] = thing
        self.containers[id(thing)] = made
        return made

    def pairs_of(self, value: Value) -> list[tuple[object, Value]]:
        """Return the keys and entries of a dict; none of anything else."""
        items = self.items_of(value)
        return list(zip(items.keys or (), items.entries, strict=False)) if items is not None else []

    def _event(self, node: ast.expr | ast.stmt, nodes: frozenset[str] | None) -> Event:
        self.clock += 1
        where = Where(self.frame.filename, node, self.frame.function, self.frame.caller)
        return Event(self.clock, where, nodes, recorded=self.recorded, once=self.once, sure=self.sure)

    def operation(
        self, node: ast.expr | ast.stmt, nodes: frozenset[str] | None, *read: Value, into: Value | None = None
    ) -> Tensors:
        """Return an operation that reads tensors and makes one, on new memory unless `into` is what it writes."""
        event = self._event(node, nodes)
        event.reads = memories_in(*read)
        made = into if isinstance(into, Tensors) else self.fresh()
        event.makes |= made.memories
        self.events.append(event)
        return made

    def in_place(
        self,
        node: ast.expr | ast.stmt,
        nodes: frozenset[str] | None,
        written: Value,
        *read: Value,
        bumps: int | None = 1,
        known: bool = True,
        recorded: bool = True,
    ) -> None:
        """An operation in place: it keeps what it reads before it writes, and its result afterwards."""
        first = len(self.events)
        self.operation(node, nodes, written, *read, into=Tensors(NO_MEMORY))
        self.write(node, nodes, written, bumps=bumps, known=known, recorded=recorded)
        if isinstance(written, Tensors):
            self.operation(node, nodes, into=written)
        of_view = any(each.through == "view" for each in tensors_in(written))
        for event in self.events[first:]:
            if not event.writes:
                event.recorded = event.recorded and recorded
                event.hidden = of_view and (nodes is None or not nodes <= KEEP_NOTHING)

    def write(
        self,
        node: ast.expr | ast.stmt,
        nodes: frozenset[str] | None,
        *written: Value,
        bumps: int | None = 1,
        known: bool = True,
        recorded: bool = True,
    ) -> None:
        """A write of tensors, each with an event of its own where autograd or the counter differ."""
        for value in written:
            for tensors in tensors_in(value):
                if tensors.through == "data" or not tensors.memories:
                    continue
                event = self._event(node, nodes)
                event.writes = tensors.memories
                event.bumps, event.known = bumps, known
                event.recorded = event.recorded and recorded and tensors.through != "detached"
                if tensors.through == "view" and nodes is not None:
                    event.nodes = nodes | {"CopySlices"}
                self.events.append(event)

    def step(self, node: ast.expr | ast.stmt, memories: frozenset[int]) -> None:
        """An optimizer's step, which writes all that it holds."""
        event = self._event(node, None)
        event.writes, event.each, event.bumps, event.recorded = memories, True, None, False
        self.events.append(event)

    def child(self, owner: Tensors, key: object) -> Tensors:
        """Return an attribute or entry of something that nobody knows: the same one each time it is read."""
        if len(owner.memories) != 1:
            return self.fresh()
        place = next(iter(owner.memories)), key
        if place not in self.children:
            self.children[place] = self.fresh()
        return self.children[place]

    def remember(self) -> None:
        """The program failed here, as far as anybody knows."""
        self.clock += 1
        chain: list[Env] = []
        for each in self.frames:
            env: Env | None = each.env
            while env is not None:
                if env.live is not None and all(env is not known for known in chain):
                    chain.append(env)
                env = env.parent
        names = [(env.live, dict(env.names)) for env in chain if env.live is not None]
        self.snapshot = Snapshot(names, dict(self.heap), self.clock)

    def close(self) -> None:
        """Lets go of all objects: functions and their names hold each other."""
        for env in self._envs:
            env.names.clear()
            env.live = env.parent = None
        for table in (self.heap, self.owners, self.containers, self.children, self._globals):
            table.clear()
        self.frames.clear()
        self.backward_hooks.clear()
        self.snapshot = None

    def may_have_changed(self, name: str) -> bool:
        """True if a number or flag that an object or a module holds now can have been another one before: the text sets
        an attribute or global name of that name outside of ``__init__``."""
        filename = self.frame.filename
        if filename not in self._set_later:
            text = self.texts.text(filename)
            self._set_later[filename] = set_later(text.tree) if text is not None and text.tree is not None else None
        names = self._set_later[filename]
        return names is None or name in names or name == "training"

    def find(self, name: str) -> Value:
        """What a name stands for."""
        env: Env | None = self.frame.env
        while env is not None:
            if name in env.names:
                return env.names[name]
            if env.live is not None and name in env.live:
                value = self.value_of(env.live[name])
                changed = isinstance(value, Constant) and self.may_have_changed(name)
                return UNKNOWN if changed else value
            env = env.parent
        found = vars(builtins).get(name, UNKNOWN)
        return found if isinstance(found, Value) else Live(found)


def key_of(value: Value) -> int | None:
    """What tells an object with attributes apart."""
    if isinstance(value, Live):
        return id(value.thing)
    return id(value) if isinstance(value, Instance) else None
