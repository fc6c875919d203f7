"""What the framework refused about a write, or because of one: the facts of its error, without its spelling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RefusalKind = Literal[
    "saved tensor changed",
    "graph used up",
    "leaf written",
    "view of a leaf written",
    "one of several views written",
    "base of several views written",
    "view of a custom function written",
    "view made without recording written",
    "view detached in place",
    "inference tensor written",
    "expanded tensor written",
    "memory read and written",
]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One error of the framework. What its text does not tell is None."""

    kind: RefusalKind
    expected: int | None = None
    """The version at which backward wanted a saved tensor."""
    found: int | None = None
    """The version at which it found it."""
    shape: tuple[int, ...] | None = None
    """Sizes of the saved tensor."""
    node: str | None = None
    """The autograd node that the text names: whose result the saved tensor is, or what made the view."""
    mode: str | None = None
    """``no_grad`` or ``inference``: the mode in which the view was made."""
