"""What an aten operator's schema says, cached by operator, and the one thing that a dispatch mode must repair."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.capture.torch.arguments import tensors_in


class OpFacts:
    """The arguments that an operator writes, by its schema, and whether it may give them other memory."""

    def __init__(self, func: Any) -> None:
        self.name = str(func)
        if "_lazy_clone" in self.name:
            describe_memory.expect_copy_on_write()
        positions: set[int] = set()
        names: set[str] = set()
        lists: list[tuple[int, str]] = []
        foreach = self.name.startswith("aten._foreach_")
        for position, argument in enumerate(func._schema.arguments):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            positions.add(position)
            names.add(argument.name)
            if not isinstance(argument.type, torch.ListType) or not self.name.startswith("aten."):
                continue
            if foreach or argument.is_out:
                lists.append((position, argument.name))
        self.may_resize = "resize" in self.name or any([argument.is_out for argument in func._schema.arguments])
        self.views_below = _RESTORABLE and _has_kernel(func.name(), "ADInplaceOrView") is False
        """Whether views and writes are tied and counted by what the operator calls, and not by its own kernel."""
        self.is_composite = self.views_below and bool(_has_kernel(func.name(), "CompositeImplicitAutograd"))
        self.is_custom = bool(positions) and _RESTORABLE and func.name() in _custom_ops()
        """Whether it is a ``custom_op`` that writes: of Python's, whose own writes count."""
        self.written_positions = frozenset(positions)
        self.written_names = frozenset(names)
        self.written_lists = tuple(lists)


_NEEDED = ("_ForceDispatchKeyGuard", "_dispatch_tls_local_include_set", "_dispatch_tls_local_exclude_set")
_RESTORABLE = all([hasattr(torch._C, name) for name in (*_NEEDED, "_dispatch_has_kernel_for_dispatch_key")])
"""If one of them vanishes: see :func:`as_in_inference_mode`."""


def _has_kernel(name: str, key: str) -> bool | None:
    try:
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, key))
    except RuntimeError:  # one that the dispatcher does not have, such as ``prim::device``
        return None


def _custom_ops() -> Any:
    """Private; if it vanishes, what such an operator's own lines write is not counted under our mode."""
    module = sys.modules.get("torch._library.custom_ops")
    return getattr(module, "OPDEFS", ()) if hasattr(torch._C, "_after_ADInplaceOrView_keyset") else ()


def counting_its_writes(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What a ``custom_op`` gives, with the writes of its own lines counted as they are without a dispatch mode.

    Any dispatch mode switches that off below itself. It is switched on again, and the operator called below its own
    count, which was made before the mode was asked.
    """
    given = tensors_in((args, kwargs), [])
    if not given:
        return func(*args, **kwargs)
    keys = torch._C._dispatch_keys(given[0]) & torch._C._after_ADInplaceOrView_keyset
    with as_in_inference_mode():
        return func.redispatch(keys, *args, **kwargs)


def as_in_inference_mode() -> Any:
    """Return a context in which operators called from a dispatch mode tie and count views and writes as they do without
    one.

    Any dispatch mode switches that off below itself. Elsewhere autograd has split an operator such as ``view_as`` into
    its parts before the mode is asked, so that it does not matter; in inference mode nobody has, and a view of a normal
    tensor came out as no view at all: the error that its write must raise was gone.
    """
    key = torch._C.DispatchKey.ADInplaceOrView
    excluded = torch._C._dispatch_tls_local_exclude_set().remove(key)
    return torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), excluded)


VersionBefore = tuple[torch.Tensor, int]
"""A tensor, and its version before an operator ran."""
_FACTS: dict[Any, OpFacts] = {}


def op_facts_of(func: Any) -> OpFacts:
    """Return the facts of an operator, computed once."""
    facts = _FACTS.get(func)
    if facts is None:
        facts = _FACTS[func] = OpFacts(func)
    return facts


def versions_of_lists(facts: OpFacts, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[VersionBefore]:
    """Return the tensors that an operator writes as members of lists, with their versions; none for most operators."""
    return [
        (tensor, version)
        for position, name in facts.written_lists
        for tensor in (args[position] if len(args) > position else kwargs.get(name, ()))
        if isinstance(tensor, torch.Tensor) and (version := describe.version(tensor)) is not None
    ]


def restore_versions(before: Iterable[VersionBefore]) -> None:
    """Moves the versions that any dispatch mode, even an empty one, keeps operators on lists from moving; without this
    the version check would be lost for foreach optimizers.

    PyTorch moves those of what a ``_foreach_*`` operator writes and of every ``out``, by one. A kernel for the CPU, and
    the slow way of one for CUDA, leaves that to the operators that it calls for each tensor, which a mode keeps from
    counting; the fast way for CUDA counts by itself (``increment_version`` in ATen/native/cuda/Foreach*.cu), with a
    mode as without. So a version that has moved already stays. Other operators that write a list (``_fused_adam_``,
    ``_amp_foreach_non_finite_check_and_unscale_``) PyTorch does not count unwatched either; and one of somebody's
    library moves versions itself or not at all.
    """
    unmoved = [tensor for tensor, version in before if describe.version(tensor) == version]
    for tensor in unmoved:  # one that is in the list twice is counted twice
        torch.autograd.graph.increment_version(tensor)
