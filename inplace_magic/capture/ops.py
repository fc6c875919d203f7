"""What an aten operator's schema says, cached by operator, and the one thing that a dispatch mode must repair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from inplace_magic.capture import describe


class OpFacts:
    """The arguments that an operator writes, by its schema, and whether it may give them other memory."""

    __slots__ = ("may_resize", "name", "written_lists", "written_names", "written_positions")

    def __init__(self, func: Any) -> None:
        self.name = str(func)
        positions: set[int] = set()
        names: set[str] = set()
        lists: set[int] = set()
        for position, argument in enumerate(func._schema.arguments):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            positions.add(position)
            names.add(argument.name)
            if isinstance(argument.type, torch.ListType) and not self.name.startswith("aten._fused_"):
                lists.add(position)
        self.may_resize = "resize" in self.name or any(argument.is_out for argument in func._schema.arguments)
        self.written_positions = frozenset(positions)
        self.written_names = frozenset(names)
        self.written_lists = frozenset(lists)


_FACTS: dict[Any, OpFacts] = {}


def op_facts_of(func: Any) -> OpFacts:
    """The facts of an operator, computed once."""
    facts = _FACTS.get(func)
    if facts is None:
        facts = _FACTS[func] = OpFacts(func)
    return facts


def restore_versions(facts: OpFacts, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Moves the versions that any dispatch mode, even an empty one, keeps `_foreach_*` in-place operators from
    moving; without this the version check would be lost for foreach optimizers. Fused operators do not move versions
    unwatched either."""
    for position in facts.written_lists:
        for tensor in args[position] if len(args) > position else ():
            if isinstance(tensor, torch.Tensor) and describe.version(tensor) is not None:
                torch.autograd.graph.increment_version(tensor)
