"""A board in the store of torchrun's agents: one for all machines, and it outlives every rank."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]  # documented, without a stub

from inplace_magic.ranks.rank import Rank

_PATIENCE = timedelta(seconds=5)


class Store:
    """The same as :class:`inplace_magic.ranks.boards.Folder`.

    Raises:
        RuntimeError: the store does not answer.
    """

    def __init__(self, rank: Rank) -> None:
        assert rank.store is not None
        host, port = rank.store
        self._store = PrefixStore(f"inplace_magic/{rank.run}", TCPStore(host, port, None, False, _PATIENCE))

    def post(self, number: int, text: str) -> None:
        self._store.set(f"rank {number}", text)

    def has(self, numbers: Iterable[int]) -> bool:
        return bool(self._store.check([f"rank {number}" for number in numbers]))

    def read(self, number: int) -> str | None:
        if not self.has([number]):
            return None
        posted: bytes = self._store.get(f"rank {number}")
        return posted.decode()

    def claim(self, name: str) -> bool:
        return bool(self._store.add(f"claimed {name}", 1) == 1)

    def clear(self) -> None:
        """Goes with the agent."""
