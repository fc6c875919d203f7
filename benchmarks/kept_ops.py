"""The facts of each operator, for ``floor.py``: what ``kept.py`` keeps of calls, one level below."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import torch
from kept import NOTHING, PLAIN, SEVERAL, FactsKept, Kept
from torch.utils._python_dispatch import TorchDispatchMode

from inplace_magic.capture.torch.ops import op_facts_of

NO_CONTEXT = nullcontext()


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
                                memory.key, memory.ended, memory.serial = id(storage), None, len(calls.memory)
                                memory.facts = storage.nbytes(), storage.device, storage.resizable(), now
                                calls.memory.append(memory)
                            record = tensors[id(tensor)] = Kept(tensor, died)
                            calls.made += 1
                            record.key, record.ended, record.serial = id(tensor), None, calls.made
                            record.version, record.storage, record.counter = tensor._version, memory, [0, None]
                            record.layout = None  # which the call asks for that gives it
                        row.append(record.serial)
            self.rows.append(tuple(row))
        except Exception as fault:  # containment
            calls.faults.append(fault)
        return result
