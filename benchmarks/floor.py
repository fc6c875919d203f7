"""What the facts alone cost in Python: modes that ask for them in one block of code, and do nothing with them.

    python benchmarks/floor.py [--only tiny dqn] [--repeats 15] [--levels calls ops]

For each call it asks what a watch at level ``calls`` must know, and puts it into one tuple: the chain of callers,
versions before and after, and of a new tensor two weak references, layout, address, storage; of a new autograd node
a weak reference, name, number, edges and what it saved, with a digest. There is no function of ours but the one that
torch calls, no judgement, no name of a variable, no warning in the user's name, no containment of a fault, nothing for
what is not a plain tensor and nothing during backward. So no watch in Python can cost less. At level ``ops`` a second
mode adds, for each operator, its schema's facts, the identities of what it read, wrote and gave, and of a new tensor
again two weak references and the size of its storage; what the first mode would ask again of such a tensor it does not.
Given are ratios to the plain run, least processor times, variants in turn.
"""

from __future__ import annotations

import argparse
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from empty_modes import EmptyDispatchMode, EmptyFunctionMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from workloads import WORKLOADS

import inplace_magic
from inplace_magic.capture.torch.functions import FACTS, facts_of
from inplace_magic.capture.torch.layouts import memory_of
from inplace_magic.capture.torch.ops import op_facts_of

PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
NOTHING: dict[str, Any] = {}
NO_CONTEXT = nullcontext()
SEVERAL = frozenset((tuple, list))


class Reference(weakref.ref[Any]):
    """A weak reference that knows the ``id`` of what it stands for."""

    __slots__ = ("key",)
    key: int


class Mark:
    """Lives in a node's metadata."""

    __slots__ = ("__weakref__",)


class FactsAlone(TorchFunctionMode):
    """Asks, and keeps a tuple for each call."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Any] = []
        self.places: dict[Any, int] = {}
        self.known: dict[int, Any] = {}
        self.saved: dict[type, list[str]] = {}
        self.dead: deque[Any] = deque()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        facts = FACTS.get(func) or facts_of(func)
        if facts.is_look:
            return func(*args, **(kwargs or NOTHING))
        known, dead, died = self.known, self.dead, self.dead.append
        path = []
        frame: Any = sys._getframe(1)
        while frame is not None:
            path += (id(frame.f_code), frame.f_lasti)
            frame = frame.f_back
        tensors = [value for value in args if type(value) in PLAIN]
        before = [tensor._version for tensor in tensors]
        result = func(*args, **(kwargs or NOTHING))
        after = [tensor._version for tensor in tensors]
        while dead:
            known.pop(dead.popleft().key, None)
        seen: list[Any] = []
        for tensor in [result] if type(result) in PLAIN else ():
            try:
                storage = tensor.untyped_storage()
            except NotImplementedError:  # a wrapper of functorch's has none
                seen += (tensor._version, tensor.shape, tensor.dtype, tensor.requires_grad)
                storage = None
            if id(tensor) not in known:
                for each in (tensor, storage) if storage is not None else (tensor,):
                    known[id(each)] = reference = Reference(each, died)
                    reference.key = id(each)
            if storage is None:
                continue
            facts_read = (tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, tensor.device)
            seen += (tensor._version, facts_read, tensor._is_view(), tensor.data_ptr(), tensor.requires_grad)
            seen += (storage.nbytes(), storage.device, storage.resizable())
            todo = [] if tensor.grad_fn is None else [tensor.grad_fn]
            while todo:
                node = todo.pop()
                if "floor" in node.metadata:
                    continue
                mark = node.metadata["floor"] = Mark()
                reference = Reference(mark, died)
                reference.key = id(mark)
                seen += (reference, type(node).__name__, node._sequence_nr())
                slots = self.saved.get(type(node))
                if slots is None:
                    slots = self.saved[type(node)] = [name for name in dir(node) if name.startswith("_raw_saved_")]
                for slot in slots:
                    raw = getattr(node, slot)
                    if type(raw) is torch._C._autograd.SavedTensor and (data := raw.data) is not None:
                        held = data.untyped_storage()
                        small = held.nbytes() <= 4096
                        seen += (slot, raw.unpack_hook, data._version, id(held))
                        seen.append(hash(memory_of(held.nbytes())(held.data_ptr()).raw) if small else None)
                todo += [behind for behind, _ in node.next_functions if behind is not None]
        place = self.places.setdefault(tuple(path), len(self.places))
        self.rows.append((facts, place, before, after, torch.is_grad_enabled(), seen))
        return result


class OpFactsAlone(TorchDispatchMode):
    """Asks below a :class:`FactsAlone`, and keeps a tuple for each operator."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # as for the probe of a watch

    def __init__(self, calls: FactsAlone) -> None:
        super().__init__()
        self.rows: list[Any] = []
        self.known, self.dead = calls.known, calls.dead

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or NOTHING))
        known, dead, died = self.known, self.dead, self.dead.append
        while dead:
            known.pop(dead.popleft().key, None)
        facts = op_facts_of(func)
        row = [facts, len(args)]
        with torch._C.DisableTorchFunction() if torch._C._len_torch_function_stack() else NO_CONTEXT:
            for tensor in (*args, *(result if type(result) in SEVERAL else (result,))):
                if type(tensor) in PLAIN:
                    row.append(id(tensor))
                    if id(tensor) not in known:
                        storage = tensor.untyped_storage()
                        row.append(storage.nbytes())
                        for each in (tensor, storage):
                            known[id(each)] = reference = Reference(each, died)
                            reference.key = id(each)
        self.rows.append(tuple(row))
        return result


@contextmanager
def _facts_of_both() -> Iterator[None]:
    calls = FactsAlone()
    with OpFactsAlone(calls), calls:
        yield


@contextmanager
def _both_empty() -> Iterator[None]:
    with EmptyDispatchMode(), EmptyFunctionMode():
        yield


@contextmanager
def _watched(level: str) -> Iterator[None]:
    watch = inplace_magic.watch(level=level)
    watch.start()
    try:
        yield
    finally:
        watch.leave()


VARIANTS: dict[str, dict[str, Callable[[], Any]]] = {
    "calls": {"empty mode": EmptyFunctionMode, "facts alone": FactsAlone, "watch": lambda: _watched("calls")},
    "ops": {"empty modes": _both_empty, "facts of both": _facts_of_both, "watch, ops": lambda: _watched("ops")},
}
"""By level; of each level the first is what torch takes."""


def main() -> None:
    """Prints a row for each workload."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--levels", nargs="*", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(1)
    variants: dict[str, Callable[[], Any]] = {"plain": nullcontext}
    for level in options.levels:
        variants |= VARIANTS[level]
    print(f"{'':10}" + "".join(f"{name:>14}" for name in list(variants)[1:]))
    for name in options.only:
        workload = WORKLOADS[name]()
        taken: dict[str, list[float]] = {variant: [] for variant in variants}
        for turn in range(options.repeats + 1):
            for variant, context in variants.items():
                with context():
                    began = time.process_time()
                    workload.step()
                    seconds = time.process_time() - began
                if turn:
                    taken[variant].append(seconds)
        plain = min(taken["plain"])
        print(f"{name:10}" + "".join(f"{min(had) / plain:14.2f}" for had in list(taken.values())[1:]), flush=True)


if __name__ == "__main__":
    main()
