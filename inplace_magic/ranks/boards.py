"""A board for the texts of ranks, readable by any rank even if others have died.

It is a folder if the processes have one parent on one machine, or the store of torchrun's agent (`store.py`), which
reaches all machines.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from inplace_magic.ranks.rank import Rank

if TYPE_CHECKING:
    from inplace_magic.ranks.store import Store


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


def board_of(rank: Rank) -> Folder | Store:
    """Return the board of a run, as its processes find it without a word to each other.

    Raises:
        OSError: it cannot be made.
        RuntimeError: the store does not answer.
    """
    if rank.store is not None:
        from inplace_magic.ranks.store import Store

        return Store(rank)
    return Folder(rank)
