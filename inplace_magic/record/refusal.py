"""What the framework refused about a write, or because of one: the facts of its error, without its spelling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from inplace_magic.language import N_

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


WHY: Mapping[RefusalKind, str] = {
    "leaf written": N_(
        "Gradients are collected at a leaf; recording the write would turn the leaf into the result of an operation, "
        "with no place for its own gradient, so PyTorch refused."
    ),
    "view of a custom function written": N_(
        "The view was made inside a custom Function or a hook ({maker}), whose gradient PyTorch could no longer keep "
        "right after a write, so it refused."
    ),
    "view made without recording written": N_(
        "The view was made while recording was off ({maker}), so PyTorch does not know its history and cannot record a "
        "write through it."
    ),
    "view detached in place": N_(
        "Detaching a view in place would leave its base with a wrong history, so PyTorch refused."
    ),
    "inference tensor written": N_(
        "A tensor made under `inference_mode` has no version counter and no place in autograd, so it cannot be written "
        "outside `inference_mode`."
    ),
}
"""Why PyTorch refuses it, in the words of a watch and of the answer to an error that nobody watched."""
