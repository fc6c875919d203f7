"""Makes room for more calls: what is over is packed, and where there is too much of it, a part is forgotten."""

from __future__ import annotations

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import Log
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.past.forgetting import forget
from inplace_magic.capture.past.packed import Packed
from inplace_magic.capture.torch.memory import MemoryMeter

_AT_ONCE = 1024
"""Calls that are packed together."""
_RECENT = 32
"""Calls that are not packed yet: a hook asks who made what is written now."""


class Room:
    """What a watch has room for.

    Args:
        log: its calls.
        identity: its storages.
        nodes: the autograd nodes.
        most: how many calls may be kept.
    """

    def __init__(self, log: Log, identity: IdentityMap, nodes: NodeMap, most: int) -> None:
        self._log = log
        self._identity = identity
        self._nodes = nodes
        self._most = self._forget_at = most
        self.packed = Packed()
        self.look_at = min(most, _AT_ONCE)
        """How many calls that are not packed make it worth while to do something about them."""

    def make_room(self, meter: MemoryMeter) -> int:
        """Packs what is over, and where there is too much of it, forgets.

        Args:
            meter: forgets with it.

        Returns:
            :attr:`look_at`, from now on.
        """
        log, packed = self._log, self.packed
        packed.take(log, self._identity, self._nodes, min(_RECENT, self._most // 2))
        if len(log.calls) + packed.count >= self._forget_at:
            known, self._forget_at = forget(log, self._nodes, packed, self._most)
            meter.forget(known)
        self.look_at = min(self._forget_at - packed.count, len(log.calls) + _AT_ONCE)
        return self.look_at
