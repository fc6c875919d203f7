"""The facts of a watch, asked for and kept in one block of code by modes that do nothing else; for ``floor.py``.

At level ``calls``: the chain of callers; a record of each new tensor, of its storage and its version counter, with two
weak references, their burial, layout, address and flags; the versions before and after of what was given, so that
writes are found; of each new autograd node a record that dies with it, its name, number and edges, and what it saved,
with a digest and, after a write, the version before it; a row for each call; and no fault that gets out. At level
``ops`` a second mode adds the same for each operator.

There is no function of ours but the one that torch calls, no name of a variable, no value of a written tensor, no
warning in the user's name, nothing of who holds what, nothing for what is not a plain tensor, nothing that keeps deep
graphs safe, no bytes in the place of objects, and nothing during backward.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from inplace_magic.capture.torch.functions import FACTS, facts_of
from inplace_magic.capture.torch.layouts import memory_of
from inplace_magic.capture.torch.ops import op_facts_of

PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
NOTHING: dict[str, Any] = {}
NO_CONTEXT = nullcontext()
SEVERAL = frozenset((tuple, list))


class Mark:
    """Lives in a node's metadata."""

    __slots__ = ("__weakref__", "record")
    record: Kept


class Kept(weakref.ref[Any]):
    """A tensor's, a storage's or a node's record; a weak reference to it."""

    __slots__ = ("counter", "ended", "facts", "key", "layout", "number", "storage", "version")
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    key: int
    number: int
    ended: int | None
    facts: Any
    version: int | None
    layout: Any
    storage: Kept | None
    counter: list[Any]


class FactsKept(TorchFunctionMode):
    """Asks for the facts of each call, and keeps what a later call is compared with and what the end is told from."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Any] = []
        self.faults: list[Exception] = []
        self.places: dict[Any, int] = {}
        self.layouts: dict[Any, Any] = {}
        self.tensors: dict[int, Kept] = {}
        self.storages: dict[int, Kept] = {}
        self.nodes: list[Kept] = []
        self.memory: list[Kept] = []
        self.digested: dict[Kept, None] = {}
        self.slots: dict[type, list[tuple[str, str]]] = {}
        self.dead: deque[Kept] = deque()
        self.serial = 0

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        facts = FACTS.get(func) or facts_of(func)
        if facts.is_look:
            return func(*args, **(kwargs or NOTHING))
        rows, tensors, storages, dead = self.rows, self.tensors, self.storages, self.dead
        died, layouts, now = dead.append, self.layouts, len(rows)
        given: list[Any] = []
        row: list[Any] = []
        try:
            while dead:  # what died since the last call is buried, before anything is looked up by its ``id``
                record = dead.popleft()
                record.ended = now
                if tensors.get(record.key) is record:
                    del tensors[record.key]
                elif storages.get(record.key) is record:
                    del storages[record.key]
                else:
                    self.digested.pop(record, None)
            path = []
            frame: Any = sys._getframe(1)
            while frame is not None:
                path += (id(frame.f_code), frame.f_lasti)
                frame = frame.f_back
            place = self.places.setdefault(tuple(path), len(self.places))
            for value in (*args, *kwargs.values()) if kwargs else args:
                if type(value) in PLAIN:
                    given.append(value)
                elif type(value) in SEVERAL:
                    given += [each for each in value if type(each) in PLAIN]
            row += (facts, place, torch.is_grad_enabled(), len(given))
            for tensor in given:
                version = tensor._version
                record = tensors.get(id(tensor))
                if record is None:
                    try:
                        storage = tensor.untyped_storage()
                    except NotImplementedError:  # a wrapper of functorch's has none
                        storage = memory = None
                    else:
                        memory = storages.get(id(storage))
                    if memory is None and storage is not None:
                        memory = storages[id(storage)] = Kept(storage, died)
                        memory.key, memory.ended, memory.number = id(storage), None, len(self.memory)
                        memory.facts = storage.nbytes(), storage.device, storage.resizable(), None
                        self.memory.append(memory)
                    record = tensors[id(tensor)] = Kept(tensor, died)
                    self.serial += 1
                    record.key, record.ended, record.number = id(tensor), None, self.serial
                    record.version, record.storage, record.counter = version, memory, [version, None]
                    record.layout = () if memory is None else None
                if record.layout is None:
                    seen = (tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, tensor.device)
                    record.layout = layouts.setdefault(seen, seen)
                    record.facts = tensor._is_view(), tensor.data_ptr(), tensor.requires_grad
                if version != record.version:
                    row += ("unseen", record.version)
                    record.version = record.counter[0] = version
                row += (record, version)
                record.counter[1] = place
        except Exception as fault:  # containment
            self.faults.append(fault)
        result = func(*args, **(kwargs or NOTHING))
        try:
            while dead:
                record = dead.popleft()
                record.ended = now
                if tensors.get(record.key) is record:
                    del tensors[record.key]
                elif storages.get(record.key) is record:
                    del storages[record.key]
                else:
                    self.digested.pop(record, None)
            moved: dict[Any, Any] = NOTHING
            for tensor in given:
                version, record = tensor._version, tensors[id(tensor)]
                if version != record.version:
                    moved = {**moved, record.storage: record.version}
                    row += ("written", record, record.version)
                    record.version = record.counter[0] = version
            kind = type(result)
            produced = [result] if kind in PLAIN else result if kind in SEVERAL else ()
            for tensor in produced:
                if type(tensor) not in PLAIN:
                    continue
                version, requires_grad = tensor._version, tensor.requires_grad
                record = tensors.get(id(tensor))
                if record is None:
                    try:
                        storage = tensor.untyped_storage()
                    except NotImplementedError:  # a wrapper of functorch's has none
                        storage = memory = None
                    else:
                        memory = storages.get(id(storage))
                    if memory is None and storage is not None:
                        memory = storages[id(storage)] = Kept(storage, died)
                        memory.key, memory.ended, memory.number = id(storage), None, len(self.memory)
                        memory.facts = storage.nbytes(), storage.device, storage.resizable(), now
                        self.memory.append(memory)
                    record = tensors[id(tensor)] = Kept(tensor, died)
                    self.serial += 1
                    record.key, record.ended, record.number = id(tensor), None, self.serial
                    record.version, record.storage, record.counter = version, memory, [version, place]
                    base = tensor._base
                    if base is not None and id(base) in tensors:
                        record.counter = tensors[id(base)].counter
                    record.layout = () if memory is None else None
                if record.layout is None:
                    seen = (tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, tensor.device)
                    record.layout = layouts.setdefault(seen, seen)
                    record.facts = tensor._is_view(), tensor.data_ptr(), requires_grad
                number = None
                followed = requires_grad and record.storage is not None and tensor.grad_fn is not None
                todo = [tensor.grad_fn] if followed else []
                while todo:
                    node = todo.pop()
                    metadata = node.metadata
                    if "floor" in metadata:
                        number = metadata["floor"].record.number if number is None else number
                        continue
                    mark = metadata["floor"] = Mark()
                    mark.record = made = Kept(mark, died)
                    made.key, made.ended, made.number = 0, None, len(self.nodes)
                    number = made.number if number is None else number
                    self.nodes.append(made)
                    slots = self.slots.get(type(node))
                    if slots is None:
                        prefix = "_raw_saved_"
                        slots = [(name, name[len(prefix) :]) for name in dir(node) if name.startswith(prefix)]
                        self.slots[type(node)] = slots
                    saved: list[Any] = [type(node).__name__, node._sequence_nr(), now]
                    for slot, name in slots:
                        raw = getattr(node, slot)
                        if type(raw) is torch._C._autograd.SavedTensor and (data := raw.data) is not None:
                            known = tensors.get(id(data))
                            held = data.untyped_storage()
                            if known is None or known.layout is None:
                                memory = storages.get(id(held))
                                if memory is None:
                                    memory = storages[id(held)] = Kept(held, died)
                                    memory.key, memory.ended, memory.number = id(held), None, len(self.memory)
                                    memory.facts = held.nbytes(), held.device, held.resizable(), now
                                    self.memory.append(memory)
                                layout = (data.shape, data.stride(), data.storage_offset(), data.dtype, data.device)
                                layout = layouts.setdefault(layout, layout)
                            else:
                                memory, layout = known.storage, known.layout
                            digest, nbytes = None, held.nbytes()
                            if nbytes <= 4096:
                                digest = hash(memory_of(nbytes)(held.data_ptr()).raw)
                                self.digested[made] = None
                            saved += (name, raw.unpack_hook, moved.get(memory, data._version), memory, layout, digest)
                    behind = [after for after, _ in node.next_functions]
                    made.facts = saved, [id(after) for after in behind]
                    todo += [after for after in behind if after is not None]
                row += (record, version, requires_grad, number)
            rows.append(tuple(row))
        except Exception as fault:  # containment
            self.faults.append(fault)
        return result


class OpFactsKept(TorchDispatchMode):
    """The same of each operator, below a :class:`FactsKept`."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # as for the probe of a watch

    def __init__(self, calls: FactsKept) -> None:
        super().__init__()
        self.calls = calls
        self.rows: list[Any] = []

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or NOTHING))
        calls = self.calls
        tensors, storages, dead, died = calls.tensors, calls.storages, calls.dead, calls.dead.append
        now = len(calls.rows)
        try:
            while dead:
                record = dead.popleft()
                record.ended = now
                if tensors.get(record.key) is record:
                    del tensors[record.key]
                elif storages.get(record.key) is record:
                    del storages[record.key]
                else:
                    calls.digested.pop(record, None)
            facts = op_facts_of(func)
            row = [facts, now, len(args)]
            with torch._C.DisableTorchFunction() if torch._C._len_torch_function_stack() else NO_CONTEXT:
                for value in (*args, *kwargs.values(), result) if kwargs else (*args, result):
                    for tensor in value if type(value) in SEVERAL else (value,):
                        if type(tensor) not in PLAIN:
                            continue
                        record = tensors.get(id(tensor))
                        if record is None:
                            storage = tensor.untyped_storage()
                            memory = storages.get(id(storage))
                            if memory is None:
                                memory = storages[id(storage)] = Kept(storage, died)
                                memory.key, memory.ended, memory.number = id(storage), None, len(calls.memory)
                                memory.facts = storage.nbytes(), storage.device, storage.resizable(), now
                                calls.memory.append(memory)
                            record = tensors[id(tensor)] = Kept(tensor, died)
                            calls.serial += 1
                            record.key, record.ended, record.number = id(tensor), None, calls.serial
                            record.version, record.storage, record.counter = tensor._version, memory, [0, None]
                            record.layout = None  # which the call asks for that gives it
                        row.append(record.number)
            self.rows.append(tuple(row))
        except Exception as fault:  # containment
            calls.faults.append(fault)
        return result
