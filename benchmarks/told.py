"""What ``kept.py`` leaves out of a watch at level ``calls``, for ``floor.py``'s *all kept*.

The names that lead to tensors, who holds and whose method writes what, as often as a watch asks and by its own code;
the stand-in by which a warning falls on the user's line; values of small tensors before and after they are written;
around a backward the digests of what was saved, once more, and the gradients; and the user's code that it runs is seen.
Still left out: what is not a plain tensor, what keeps deep graphs safe, regions, hooks that keep outputs, and bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from inplace_magic.capture.callsite import CallsiteTable
from inplace_magic.capture.names import TORCH_KINDS
from inplace_magic.capture.naming.holdings import Holdings
from inplace_magic.capture.naming.passing_names import PassingNames
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.callers import TORCH_FRAMES, Callers, PassOn
from inplace_magic.capture.torch.functions import FunctionFacts
from inplace_magic.capture.torch.layouts import memory_of
from inplace_magic.record.options import WatchOptions

MOST_VALUES = WatchOptions().max_values
ASKED = 64
"""Passes of a place of which it is asked whose method writes; fewer, who holds what."""


class Told:
    """The part that runs once for a place, in its first passes or around a backward; what runs at each call stands in
    the block of ``kept.py``.

    Args:
        tensors: the records of the live tensors, by ``id``.
        root: the frame that holds the watched block.
    """

    def __init__(self, tensors: dict[int, Any], root: FrameType) -> None:
        self.tensors = tensors
        self.sites = CallsiteTable(TORCH_FRAMES)
        self.sites.begin_at(root)
        self.sites._is_user[str(Path(__file__).with_name("kept.py"))] = False  # its block is no function of the user's
        self.names = PassingNames(self, self.sites.is_users, TORCH_KINDS)
        self.holdings = Holdings(self.sites.is_users, self.known, TORCH_KINDS, describe.base)
        self.callers = Callers()
        self.met: dict[int, tuple[int | None, PassOn]] = {}
        """By place of ``kept.py``, which tells the library's lines apart, too: the user's place, and the stand-in."""
        self.passes: dict[int | None, int] = {}
        self.leaves: dict[int, Any] = {}
        self.changed: list[Any] = []
        self.sites_met = 0

    def known(self, tensor: Any) -> Any:
        """The record of a tensor."""
        record = self.tensors.get(id(tensor))
        return record if record is not None and record() is tensor else None

    def meet(self, place: int, frame: FrameType, facts: FunctionFacts, now: int) -> tuple[int | None, PassOn]:
        """A place that was not met before."""
        site = self.sites.note(frame, facts.code)
        if site is not None and site >= self.sites_met:
            self.sites_met = site + 1
            self.names.look(frame, now, site)
        found = self.met[place] = site, self.callers.like(frame, facts.code)
        return found

    def written(self, frame: FrameType, now: int, site: int | None, targets: Iterable[Any]) -> None:
        """A write in one of the first passes of its place."""
        self.holdings.note(frame, now, site, targets, writes=True)

    def compare(self, digested: Iterable[Any], now: int) -> None:
        """Notes which nodes' saved memory has another digest than when it was saved."""
        equal: dict[Any, bool] = {}
        for node in list(digested):
            saved = node.facts[0]
            for memory, digest in zip(saved[6::6], saved[8::6], strict=True):
                if digest is None or memory is None:
                    continue
                if (memory, digest) not in equal:
                    held = memory()
                    equal[memory, digest] = held is None or (
                        hash(memory_of(held.nbytes())(held.data_ptr()).raw) == digest
                    )
                if not equal[memory, digest]:
                    self.changed.append((node, now))

    def gradients(self) -> list[Any]:
        """(leaf, memory of its gradient, version) of the leaves that graphs lead to."""
        found = []
        for record in list(self.leaves.values()):
            leaf = record()
            if leaf is None:
                del self.leaves[record.serial]
            elif leaf.grad is not None:
                found.append((record, id(leaf.grad.untyped_storage()), leaf.grad._version))
        return found
