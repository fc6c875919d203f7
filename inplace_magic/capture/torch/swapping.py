"""``torch.utils.swap_tensors`` while a watch runs.

It refuses tensors that have a weak reference, and what a watch knows of a tensor *is* a weak reference to it. So for
the time of a watch the function looks for weak references through :class:`_WithoutOurs`, which leaves out ours and no
other: somebody else's still makes it raise, at the same line of the same code.

What it swaps is the inside of two tensor objects: memory, version counter, graph. No version moves, so the records are
told to look again.
"""

from __future__ import annotations

import weakref
from types import FunctionType
from typing import Any

import torch

from inplace_magic.capture.records import SWAPPED, Reference, TensorRecord
from inplace_magic.capture.stepping_aside.bracketed import copy_of


class _WithoutOurs:
    """The module ``weakref`` as ``swap_tensors`` sees it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(weakref, name)

    @staticmethod
    def getweakrefs(tensor: Any) -> list[Any]:
        """Return the weak references that are not ours; our records of the tensor will be read anew."""
        found = []
        for reference in weakref.getweakrefs(tensor):
            if not isinstance(reference, Reference):
                found.append(reference)
            elif type(reference) is TensorRecord:
                reference.latest = reference.layout = None
                reference.layout_at = SWAPPED
        return found


class _Substitution:
    """The function under ``torch.utils.swap_tensors``, and which watches want it substituted."""

    def __init__(self) -> None:
        self._watches: set[object] = set()
        self._own: Any = None
        self._ours: Any = None

    def begin(self, watch: object) -> None:
        """A watch begins. If PyTorch writes the function in another way one day, it stays as it is, and refuses."""
        self._watches.add(watch)
        own = getattr(torch.utils, "swap_tensors", None)
        if self._ours is not None or not isinstance(own, FunctionType) or "weakref" not in own.__code__.co_names:
            return
        scope = {**own.__globals__, "weakref": _WithoutOurs()}
        self._own, self._ours = own, copy_of(own, own.__code__, scope, own.__closure__)
        torch.utils.swap_tensors = self._ours

    def end(self, watch: object) -> None:
        """It ends, the last one puts the function back; a second time changes nothing. What somebody else has put there
        meanwhile stays."""
        self._watches.discard(watch)
        if not self._watches and self._ours is not None:
            if torch.utils.swap_tensors is self._ours:
                torch.utils.swap_tensors = self._own
            self._own = self._ours = None


_SUBSTITUTION = _Substitution()
begin, end = _SUBSTITUTION.begin, _SUBSTITUTION.end
