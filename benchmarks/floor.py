"""What the facts alone cost in Python: a mode that asks for them in one block of code, and does nothing with them.

    python benchmarks/floor.py [--only tiny dqn] [--repeats 15]

For each call it asks what a watch at level ``calls`` must know, and puts it into one tuple: the chain of callers,
versions before and after, and of a new tensor two weak references, layout, address, storage; of a new autograd node
a weak reference, name, number, edges and what it saved, with a digest. There is no function of ours but the one that
torch calls, no judgement, no name of a variable, no warning in the user's name, no containment of a fault, nothing for
what is not a plain tensor and nothing during backward. So no watch in Python can cost less. Given are ratios to the
plain run, least processor times, variants in turn.
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
from empty_modes import EmptyFunctionMode
from torch.overrides import TorchFunctionMode
from workloads import WORKLOADS

import inplace_magic
from inplace_magic.capture.torch.functions import FACTS, facts_of
from inplace_magic.capture.torch.layouts import memory_of

PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
NOTHING: dict[str, Any] = {}


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


@contextmanager
def _watched() -> Iterator[None]:
    watch = inplace_magic.watch()
    watch.start()
    try:
        yield
    finally:
        watch.leave()


VARIANTS: dict[str, Callable[[], Any]] = {
    "plain": nullcontext,
    "empty mode": EmptyFunctionMode,
    "facts alone": FactsAlone,
    "watch": _watched,
}


def main() -> None:
    """Prints a row for each workload."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="*", choices=list(WORKLOADS), default=["tiny", "dqn", "lstm", "messages", "func"]
    )
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'':10}" + "".join(f"{name:>14}" for name in list(VARIANTS)[1:]))
    for name in options.only:
        workload = WORKLOADS[name]()
        taken: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
        for turn in range(options.repeats + 1):
            for variant, context in VARIANTS.items():
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
