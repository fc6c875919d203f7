"""Which names led to the modules that optimizers moved."""

from __future__ import annotations

from dataclasses import dataclass

from inplace_magic.record.places import Callsite


@dataclass(frozen=True, slots=True)
class ModuleSighting:
    """A path from a name of the user's that led to a module whose parameters an optimizer was about to move, where it
    was first seen to."""

    call: int
    """How many calls had begun."""
    place: Callsite
    """Where the function, or the block, that has the name stood then."""
    path: str
    """``best``, ``stopper.model``, ``results[0]["model"]``."""
    module: int
    """By a serial number of its own."""
    cls: str
    holder: str = ""
    """Class of the object, dict or list that holds it; empty for a name."""
    since: int | None = None
    """How many calls had begun when the function was last looked at and the path did not lead there; None where this
    was the first look at it."""
    parameters: tuple[int, ...] = ()
    """Some of the module's own, as far as the watch has met them."""
