"""The facts of a watch, asked for and kept in one block of code by modes that do nothing else; for ``floor.py``.

At level ``calls``: the chain of callers; a record of each new tensor, of its storage and its version counter, with two
weak references, their burial, layout, address and flags; the versions before and after of what was given, so that
writes are found; of each new autograd node a record that dies with it, its name, number and edges, and what it saved,
with a digest and, after a write, the version before it; a row for each call; and no fault that gets out. At level
``ops`` a second mode adds the same for each operator.

There is no function of ours but the one that torch calls, nothing for what is not a plain tensor, nothing that keeps
deep graphs safe, and no bytes in the place of objects. With ``told.py`` there is the rest of a watch, too: names,
values of written tensors, warnings in the user's name, who holds what, and all that backward needs.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import torch
from told import ASKED, MOST_VALUES, Told
from torch.overrides import TorchFunctionMode

from inplace_magic.capture.torch.functions import FACTS, facts_of, without_override_check
from inplace_magic.capture.torch.layouts import memory_of

PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
NOTHING: dict[str, Any] = {}
SEVERAL = frozenset((tuple, list))


class Mark:
    """Lives in a node's metadata."""

    __slots__ = ("__weakref__", "record")
    record: Kept


class Kept(weakref.ref[Any]):
    """A tensor's, a storage's or a node's record; a weak reference to it."""

    __slots__ = ("counter", "ended", "facts", "key", "layout", "serial", "storage", "version")
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    key: int
    serial: int
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
        self.made = 0
        self.told: Told | None = None
        """With all that is left out otherwise."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        facts = FACTS.get(func) or facts_of(func)
        if facts.is_look:
            return func(*args, **(kwargs or NOTHING))
        rows, tensors, storages, dead = self.rows, self.tensors, self.storages, self.dead
        died, layouts, now = dead.append, self.layouts, len(rows)
        told, pass_on, backward = self.told, None, facts.runs_backward
        given: list[Any] = []
        small: list[Any] = []
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
            frame = caller = sys._getframe(1)
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
                        memory.key, memory.ended, memory.serial = id(storage), None, len(self.memory)
                        memory.facts = storage.nbytes(), storage.device, storage.resizable(), None
                        self.memory.append(memory)
                    record = tensors[id(tensor)] = Kept(tensor, died)
                    self.made += 1
                    record.key, record.ended, record.serial = id(tensor), None, self.made
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
            if told is not None:
                site, pass_on = told.met.get(place) or told.meet(place, caller, facts, now)
                if facts.may_write or kwargs:
                    announced = facts.announced_writes(args, kwargs or NOTHING)
                    if announced:
                        passed = told.passes[site] = told.passes.get(site, 0) + 1
                        if passed <= ASKED:
                            told.written(caller, now, site, announced)
                        for tensor in announced:
                            record = tensors.get(id(tensor))
                            if record is not None and record.storage and tensor.numel() <= MOST_VALUES:
                                memory = tensor.untyped_storage()
                                nbytes, begin = tensor.nbytes, tensor.data_ptr()
                                if memory.data_ptr() <= begin and tensor.is_cpu:
                                    small.append((nbytes, begin))
                                    row += ("before", record, memory_of(nbytes)(begin).raw)
                if backward:
                    told.compare(self.digested, now)
                    row += told.gradients()
        except Exception as fault:  # containment
            self.faults.append(fault)
        if pass_on is None:
            result = func(*args, **(kwargs or NOTHING))
        elif not backward:
            result = pass_on(func, args, kwargs or NOTHING)
        else:
            with self:
                result = pass_on(without_override_check(func), args, kwargs or NOTHING)
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
            if told is not None:
                for nbytes, begin in small:
                    row += ("after", memory_of(nbytes)(begin).raw)
                if backward:
                    row += told.gradients()
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
                        memory.key, memory.ended, memory.serial = id(storage), None, len(self.memory)
                        memory.facts = storage.nbytes(), storage.device, storage.resizable(), now
                        self.memory.append(memory)
                    record = tensors[id(tensor)] = Kept(tensor, died)
                    self.made += 1
                    record.key, record.ended, record.serial = id(tensor), None, self.made
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
                        number = metadata["floor"].record.serial if number is None else number
                        continue
                    mark = metadata["floor"] = Mark()
                    mark.record = made = Kept(mark, died)
                    made.key, made.ended, made.serial = 0, None, len(self.nodes)
                    number = made.serial if number is None else number
                    self.nodes.append(made)
                    slots = self.slots.get(type(node))
                    if slots is None:
                        prefix = "_raw_saved_"
                        slots = [(name, name[len(prefix) :]) for name in dir(node) if name.startswith(prefix)]
                        self.slots[type(node)] = slots
                    if told is not None and type(node).__name__ == "AccumulateGrad":
                        leaf = tensors.get(id(node.variable))
                        if leaf is not None:
                            told.leaves[leaf.serial] = leaf
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
                                    memory.key, memory.ended, memory.serial = id(held), None, len(self.memory)
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
