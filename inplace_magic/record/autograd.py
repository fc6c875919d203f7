"""The graph of autograd: its nodes, what they keep, and the backwards that ran."""

from __future__ import annotations

from dataclasses import dataclass

from inplace_magic.record.places import Callsite
from inplace_magic.record.traits import Role, Trait


@dataclass(frozen=True, slots=True)
class SavedTensor:
    """A tensor that an autograd node keeps for backward."""

    node: int
    name: str
    """The node's own name for it: ``self``, ``result``, ``mat2``, ``indices[0]``."""
    storage: int | None = None
    counter: int | None = None
    version: int | None = None
    """Version when it was saved; None when that was before the watch began, or under somebody's hooks."""
    tensor: int | None = None
    """The saved tensor itself where Python has an object for it; else a tensor on the same version counter."""
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None
    offset: int | None = None
    dtype: str = "unknown"
    device: str = "unknown"
    nbytes: int | None = None
    hooked: bool = False
    """Packed by somebody's saved-tensor hooks (checkpoint, ``save_on_cpu``): what is kept is not known."""
    checked: bool = False
    """A digest of its content was taken when it was saved, and compared at every backward."""
    changed: int | None = None
    """Index of the call before which its content was first found changed; None: never found so."""
    flips: tuple[int, ...] = ()
    """After that, indices of the calls before which it was found as it had been, changed again, and so on in turn."""
    role: Role | None = None
    """What it was to the call, where the node's name for it tells."""
    guarded: bool = True
    """Whether backward compares its version with the one at which it was saved, and raises."""

    def differs_at(self, call: int | None) -> bool:
        """True if the content was found changed when it was last compared before call `call`; None: at the end."""
        seen = () if self.changed is None else (self.changed, *self.flips)
        return sum(call is None or index <= call for index in seen) % 2 == 1


@dataclass(frozen=True, slots=True)
class AutogradNode:
    """A node of the autograd graph."""

    node: int
    name: str
    """As PyTorch names it, e.g. ``SigmoidBackward0``."""
    sequence: int | None = None
    """PyTorch's creation number on its thread; ``AccumulateGrad`` has none."""
    next: tuple[int | None, ...] = ()
    call: int | None = None
    """Index of the call that made it; None when it existed before the watch."""
    variable: int | None = None
    """For ``AccumulateGrad``: the leaf."""
    ended: int | None = None
    """How many calls had begun when it died; None while it lives at the end of the watch."""
    pending: bool = False
    """Reached from a live tensor at the end of the watch and still keeping what it saved: a backward would use it."""
    traits: tuple[Trait, ...] = ()
    """What any node of this name does."""
    function: str | None = None
    """Name of the custom ``Function`` that it runs; None for a node of the framework's own."""

    def does(self, trait: Trait) -> bool:
        """True if any node of this name does that."""
        return trait in self.traits


@dataclass(frozen=True, slots=True)
class AddedTo:
    """A gradient that was there already when a backward began, and that it added to in place."""

    leaf: int
    storage: int


@dataclass(frozen=True, slots=True)
class Backward:
    """A run of the autograd engine."""

    call: int
    roots: tuple[int, ...]
    inputs: tuple[int, ...] | None = None
    """Nodes (or leaves' nodes) that the gradients were asked for; None means all leaves."""
    retain_graph: bool = False
    added_to: tuple[AddedTo, ...] = ()
    """Empty where it made every gradient anew."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A parameter that a module was given under a name: ``self.head.weight = self.table.weight``."""

    call: int
    """How many calls had begun."""
    callsite: Callsite | None
    name: str
    tensor: int | None = None
    """None where no call had met it by then."""
    storage: int | None = None
    """The memory that it had then."""
    replaced: int | None = None
    """The parameter that the module had under that name until then."""
    shared: bool = False
    """Whether another module has the same dict of parameters, as a shallow copy has."""


@dataclass(frozen=True, slots=True)
class IdleStep:
    """A step of an optimizer that found no gradient on any of its parameters, and so moved nothing; of the first step
    of each, those parameters that it left out."""

    call: int
    """How many calls had begun."""
    callsite: Callsite | None
    optimizer: str
    """Its class."""
    held: tuple[int, ...] = ()
    """Those of them that require one and have none, as far as the watch has met them."""
    moved: int = 0
    """How many had a gradient."""
