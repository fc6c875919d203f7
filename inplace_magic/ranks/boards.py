"""A board for the texts of ranks, readable by any rank even if others have died.

It is a folder if the processes have one parent on one machine, or the store of torchrun's agent, which reaches all
machines.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from inplace_magic.ranks.rank import Rank

_PATIENCE = timedelta(seconds=5)


class Folder:
    """What all ranks of a run share, in the folder for temporary files, writable only by this user.

    Raises:
        OSError: it cannot be made, or another user made it.
    """

    def __init__(self, rank: Rank) -> None:
        user = os.getuid() if hasattr(os, "getuid") else 0
        name = re.sub(r"[^\w-]", "_", f"inplace_magic-{user}-{os.getppid()}-{rank.run}")
        self.path = Path(tempfile.gettempdir(), name)
        self.path.mkdir(mode=0o700, exist_ok=True)
        if self.path.is_symlink() or self.path.stat().st_uid != user:
            raise PermissionError(f"{self.path} belongs to somebody else")

    def begin(self, number: int) -> None:
        """Takes back what an earlier run of the same parent left under this number."""
        self._file(number).unlink(missing_ok=True)
        for claimed in self.path.glob("claimed-*"):
            claimed.unlink(missing_ok=True)

    def post(self, number: int, text: str) -> None:
        """Post a rank's text in place of its former one."""
        self.path.mkdir(mode=0o700, exist_ok=True)
        unfinished = self._file(number).with_suffix(".part")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(self._file(number))

    def has(self, numbers: Iterable[int]) -> bool:
        """True if all of these have posted, or everything was printed and the board is gone."""
        return all(self._file(number).exists() for number in numbers) or not self.path.exists()

    def read(self, number: int) -> str | None:
        """Return a rank's text, or None."""
        try:
            return self._file(number).read_text(encoding="utf-8")
        except OSError:
            return None

    def claim(self, name: str) -> bool:
        """True if this process is the first to claim it."""
        try:
            with open(self.path / f"claimed-{name}", "x"):
                return True
        except OSError:  # another one has, or it is all told and the folder gone
            return False

    def clear(self) -> None:
        """Remove the board."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _file(self, number: int) -> Path:
        return self.path / f"rank-{number}.json"


class Store:
    """The same in the store of torchrun's agents: one for all machines, and it outlives every rank.

    Raises:
        RuntimeError: the store does not answer.
    """

    def __init__(self, rank: Rank) -> None:
        from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]  # documented, without a stub

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


def board_of(rank: Rank) -> Folder | Store:
    """Return the board of a run, as its processes find it without a word to each other.

    Raises:
        OSError: it cannot be made.
        RuntimeError: the store does not answer.
    """
    return Store(rank) if rank.store is not None else Folder(rank)
