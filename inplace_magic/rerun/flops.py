"""MACs and element operations of a run, by module and operator.

Matrix products and convolutions are counted by PyTorch's own ``torch.utils.flop_counter``. It knows no in-place
products, no attention and no LSTM of the CPU, and it counts every elementwise operator as nothing, so two variants
that differ in those would get wrong figures: the formulas it lacks are added through its ``custom_mapping``, and
elements are counted here, in a column of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from inplace_magic.capture.torch import describe
from inplace_magic.record.outcomes import Cost
from inplace_magic.rerun.op_costs import FORMULAS, element_operations


@dataclass(slots=True)
class Counts:
    """What a counted run left."""

    costs: dict[tuple[str, str, str, bool], list[int]] = field(default_factory=dict)
    uncounted: dict[str, int] = field(default_factory=dict)
    parameter_count: int = 0
    """Elements of the parameters of all modules that ran, each counted once; known when the block has ended."""

    def rows(self) -> tuple[Cost, ...]:
        """The costs, in the order in which they first came up."""
        return tuple(Cost(*key, *values) for key, values in self.costs.items() if values[1] or values[2])


@contextmanager
def counting() -> Iterator[Counts]:
    """Counts what runs in the block, on this thread."""
    counts = Counts()
    modules: list[tuple[torch.nn.Module, str]] = []

    def enter(module: torch.nn.Module, _args: Any) -> None:
        outer = modules[-1] if modules else None
        own = "" if outer is None else next((n for n, child in outer[0].named_modules() if child is module), "")
        cls = type(module).__name__
        modules.append((module, cls if outer is None else f"{outer[1]}.{own or cls}"))
        held.update((id(parameter), parameter) for parameter in module.parameters())

    def leave(module: torch.nn.Module, _args: Any, _out: Any) -> None:
        while modules and modules.pop()[0] is not module:
            pass

    hooks = (register_module_forward_pre_hook(enter), register_module_forward_hook(leave, always_call=True))
    held: dict[int, torch.nn.Parameter] = {}
    try:
        with _Tally(counts, modules):
            yield counts
    finally:
        counts.parameter_count = sum(parameter.numel() for parameter in held.values())
        for hook in hooks:
            hook.remove()


def _formulas() -> dict[Any, Any]:
    """PyTorch's formulas and ours, by operator.

    The counter itself is not entered: it follows modules by hooks on their inputs' gradients, which raise where the
    code calls ``torch.autograd.grad`` (seen with a gradient penalty, torch 2.13).
    """
    packets = {getattr(torch.ops.aten, name, None): formula for name, formula in FORMULAS.items()}
    known = {packet: formula for packet, formula in packets.items() if packet is not None}
    return FlopCounterMode(display=False, custom_mapping=known).flop_registry


class _Tally(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves __init_subclass__ untyped
    """Bills what each operator computed to the module whose forward runs."""

    def __init__(self, counts: Counts, modules: list[tuple[torch.nn.Module, str]]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._counts = counts
        self._formulas = _formulas()
        self._modules = modules

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):
            return func(*args, **kwargs)
        with self:  # in inference mode composite operators come here whole
            parts = func.decompose(*args, **kwargs)
        if parts is not NotImplemented:
            return parts
        out = func(*args, **kwargs)
        formula = self._formulas.get(func._overloadpacket)
        self._bill(func, args, out, formula(*args, **kwargs, out_val=out) // 2 if formula is not None else 0)
        return out

    def _bill(self, func: Any, args: Any, out: Any, macs: int) -> None:
        name = func._schema.name.removeprefix("aten::")
        name = name if name.startswith("__") else name.rstrip("_")
        elements = element_operations(func, name, args, out)
        if elements is None and not macs:
            self._counts.uncounted[name] = self._counts.uncounted.get(name, 0) + 1
            return
        backward = describe.in_backward()
        module, path = self._modules[-1] if self._modules and not backward else (None, "")
        key = (path, "" if module is None else type(module).__name__, name, backward)
        row = self._counts.costs.setdefault(key, [0, 0, 0])
        row[0] += 1
        row[1] += macs
        row[2] += elements or 0
