"""What a function or method of PyTorch's does with the memory that it is given, by its name."""

from __future__ import annotations

import ast
from functools import lru_cache
from types import FunctionType
from typing import Any

import torch

from inplace_magic.postmortem.flow import vocabulary
from inplace_magic.postmortem.flow.machine import Machine
from inplace_magic.postmortem.flow.values import UNKNOWN, Constant, Tensors, Value, either, tensors_in

_SEVERAL = frozenset(
    ("topk", "max", "min", "sort", "median", "mode", "kthvalue", "cummax", "cummin", "svd", "qr", "eigh")
)
"""Functions that give several tensors, each on memory of its own."""


def operation(
    machine: Machine, name: str, given: list[Value], named: dict[str, Value], node: ast.expr, library: Any = None
) -> Value:
    """Notes what a call reads and writes, and gives its result."""
    first = given[0] if given else next(iter(named.values()), UNKNOWN)
    nodes: frozenset[str] | None = vocabulary.nodes_of(name)
    is_native = type(library) is not FunctionType or _is_native(name)
    if nodes is not None and not (nodes & node_kinds() and (is_native or name.strip("_") in vocabulary.NODES)):
        nodes = None
    if _is_factory(name, first, library):
        nodes = frozenset()
    if "out" in named:
        machine.operation(node, nodes, *given)
        machine.write(node, nodes, named["out"], recorded=False)
        return named["out"]
    if name.startswith(("clip_grad", "unscale_")):  # which write no parameter
        return UNKNOWN
    if name in _BACKWARD_HOOKS and len(given) > 1:
        machine.backward_hooks.append(given[1])
        return UNKNOWN
    if name == "backward":
        run_backward_hooks(machine, node)
    if _in_place(name, given, named, library):
        initial = name in _INITIAL or name.startswith(("xavier", "kaiming"))
        several = name.startswith("_foreach")
        for written in () if name in vocabulary.UNCOUNTED else tensors_in(first) if several else (first,):
            machine.in_place(
                node,
                nodes,
                written,
                *given[1:],
                *named.values(),
                bumps=None if initial else 1,
                known=is_native or initial,
                recorded=not initial,
            )
        return first
    if name in vocabulary.QUERIES:
        return UNKNOWN
    if name in vocabulary.SAME:
        return first
    if name in ("detach", "detach_"):
        return either(*(Tensors(each.memories, "detached") for each in tensors_in(first)))
    if name in vocabulary.VIEWS or name in vocabulary.MAYBE_VIEWS:
        seen = [Tensors(each.memories, each.through or "view") for each in tensors_in(first)]
        if name in vocabulary.VIEWS and seen:
            return either(*seen)
        made = machine.operation(node, frozenset(), *given)  # whose node keeps no tensor
        # the same tensor, a view or a copy
        return either(Tensors(made.memories | {m for each in seen for m in each.memories}, "view"))
    if _renormalizes(name, given, named):
        machine.write(node, None, *(named["weight"],) if "weight" in named else given[1:2], recorded=False)
    made = machine.operation(node, nodes, *given, *named.values())
    several = name in _SEVERAL and ("dim" in named or name in ("topk", "sort", "svd", "qr", "eigh") or len(given) > 1)
    return Tensors(made.memories, several=several)


def _is_factory(name: str, first: Value, library: Any) -> bool:
    """True for ``torch.zeros(3)`` and ``x.new_zeros(3)``, not for a function of these names from somewhere else."""
    if name.removeprefix("new_").removesuffix("_like") not in vocabulary.FACTORIES:
        return False
    return isinstance(first, Tensors) if name.startswith("new") else library is getattr(torch, name, None) is not None


def _is_native(name: str) -> bool:
    """True if a Python function of ``torch.nn.functional`` calls the operator of its own name."""
    return hasattr(torch._C._VariableFunctions, name) or hasattr(torch._C._nn, name)


@lru_cache(maxsize=1)
def node_kinds() -> frozenset[str]:
    """All nodes of PyTorch's, without ``Backward0``. If ``_functions`` vanishes: no function is known by its name."""
    return frozenset(map(vocabulary.bare_node, dir(getattr(torch._C, "_functions", None))))


_BACKWARD_HOOKS = frozenset(("register_hook", "register_post_accumulate_grad_hook"))


def run_backward_hooks(machine: Machine, node: ast.expr) -> None:
    """Follows the hooks that the text registered, each of which this backward can have run."""
    once, sure = machine.once, machine.sure
    machine.once = machine.sure = False
    for hook in machine.backward_hooks[:_MOST_HOOKS]:
        machine.apply(hook, [machine.fresh(), machine.fresh(), machine.fresh()], {}, node)
    machine.once, machine.sure = once, sure


_MOST_HOOKS = 64


def _in_place(name: str, given: list[Value], named: dict[str, Value], library: Any) -> bool:
    if name.endswith("_") and not name.endswith("__"):
        return True
    flag = named.get("inplace")
    if flag is None and type(library) is FunctionType:
        names = library.__code__.co_varnames[: library.__code__.co_argcount]
        if "inplace" in names and names.index("inplace") < len(given):
            flag = given[names.index("inplace")]
    elif flag is None and name in vocabulary.IN_PLACE_SECOND and len(given) > 1:
        flag = given[1]
    return isinstance(flag, Constant) and (bool(flag.value) if flag.known else False)


_INITIAL = frozenset(("normal_", "uniform_", "constant_", "zeros_", "ones_", "trunc_normal_", "orthogonal_", "eye_"))
"""Methods and functions of ``torch.nn.init``: these do not record."""


def _renormalizes(name: str, given: list[Value], named: dict[str, Value]) -> bool:
    """``F.embedding(…, max_norm=…)`` writes the weight."""
    norm = named.get("max_norm", given[3] if len(given) > 3 else None)
    return name in ("embedding", "embedding_bag") and norm is not None and getattr(norm, "value", 0) is not None
