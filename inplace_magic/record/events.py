"""What happened while the block ran: calls, operators, writes, each with the tensors as they were then."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Literal

from inplace_magic.record.places import Callsite
from inplace_magic.record.refusal import Refusal, RefusalKind
from inplace_magic.record.traits import Trait

Kind = Literal["ordinary", "view", "in-place", "metadata", "query"]
"""What a call did, in this order of precedence: wrote a tensor (``in-place``), changed only shape or strides
(``metadata``), gave another tensor on the same storage (``view``), gave new storage (``ordinary``), gave none
(``query``)."""

AccessType = Literal["READ", "WRITE"]

Number = float | int | bool


@dataclass(frozen=True, slots=True)
class TensorMetadata:
    """One observation of one tensor. Unknown facts are None."""

    tensor: int
    """Serial number within the trace; shown as ``T1``."""
    version: int | None
    storage: int | None = None
    """Serial number of the storage; views of each other share it. Shown as ``S1``."""
    counter: int | None = None
    """Serial number of the version counter; views share it with their base, ``.data`` gets one of its own."""
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None
    offset: int | None = None
    """Storage offset in elements."""
    dtype: str = "unknown"
    device: str = "unknown"
    nbytes: int | None = None
    """Bytes of this tensor's elements; the storage behind it may be larger."""
    requires_grad: bool = False
    is_leaf: bool = True
    is_view: bool = False
    node: int | None = None
    """The autograd node behind ``grad_fn``."""
    python_id: int | None = None
    data_ptr: int | None = None
    cls: str = "Tensor"

    @property
    def is_trainable(self) -> bool:
        """True if backward puts a gradient into its ``.grad``: a leaf that requires grad, as every parameter is."""
        return self.is_leaf and self.requires_grad

    @property
    def label(self) -> str:
        return f"T{self.tensor}"


@dataclass(frozen=True, slots=True)
class Region:
    """Some elements of a storage: offset, sizes and strides in elements."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """Values that a write was given and did not keep."""

    kind: Literal["repeats", "flags", "fraction", "precision", "range"]
    """``repeats``: the index named elements more than once. ``flags``: it was made of a zero or a one for each row.
    ``fraction``: an integer tensor was given fractions. ``precision``: the dtype has no fractions of numbers so large.
    ``range``: it cannot hold them."""
    values: int
    """How many."""
    among: int
    """Of so many that were given; with ``repeats``, of so many that the index named."""
    example: Number | None = None
    """One of them."""
    largest: Number | None = None
    """The largest magnitude of all that were given."""
    scalar: bool = False
    """Whether a Python number was given, and no tensor."""
    differ: bool = False
    """With ``repeats``: whether one element was given two different values."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A write that changed an existing tensor."""

    tensor: int
    version_before: int | None
    version_after: int | None
    """Equal to ``version_before`` where PyTorch does not count the write (BatchNorm statistics, fused optimizers)."""
    storage: int | None = None
    counter: int | None = None
    values_before: tuple[Number, ...] | None = None
    """The elements in row-major order, of small CPU tensors only."""
    values_after: tuple[Number, ...] | None = None
    region: Region | None = None
    """The elements written by ``x[index] = …`` with a basic index; None: all of the tensor, or unknown ones."""
    dropped: Dropped | None = None
    """None: nothing, as far as small CPU tensors tell."""
    certain: bool = True
    """False: the device alone knows whether it was written, such as by a fused step that a ``GradScaler`` may skip."""


@dataclass(frozen=True, slots=True)
class ForeignWrite:
    """Content of a storage that changed between two calls: NumPy, DLPack or other code outside torch wrote it."""

    storage: int
    noticed: int
    """Index of the call before which it was noticed; the call before that one had still seen the old content."""
    names: tuple[str, ...] = ()
    """Names of NumPy arrays in the user's namespace on the same memory."""
    callsite: Callsite | None = None
    """The only statement between the two calls that can have done it; None when there are several or none."""
    beside: bool = False
    """Another Python thread of the user's ran meanwhile: then only a statement is named that assigns to the memory."""


@dataclass(frozen=True, slots=True)
class UnseenWrite:
    """A version that moved between two calls: something wrote the tensor where the watch could not look."""

    counter: int
    version_before: int | None
    version_after: int | None
    noticed: int
    """Index of the call before which it was noticed."""
    callsite: Callsite | None = None
    """The only statement that can have made it; None when there are several or none."""
    beside: bool = False
    """As :attr:`ForeignWrite.beside`."""


@dataclass(frozen=True, slots=True)
class Access:
    """READ or WRITE of a tensor by an op."""

    tensor: int
    type: AccessType


@dataclass(frozen=True, slots=True)
class OpEvent:
    """One aten operator; recorded at level ``ops`` only."""

    name: str
    """With overload, e.g. ``aten.add_.Tensor``."""
    call: int | None
    accesses: tuple[Access, ...] = ()
    outputs: tuple[int, ...] = ()
    in_backward: bool = False


@dataclass(frozen=True, slots=True)
class CallEvent:
    """One torch function or method that the user's code called."""

    index: int
    name: str
    """As a reader would write it: ``torch.sigmoid``, ``Tensor.add_``, ``F.relu``."""
    kind: Kind
    callsite: Callsite | None = None
    inputs: tuple[TensorMetadata, ...] = ()
    """As they were when the call began."""
    outputs: tuple[TensorMetadata, ...] = ()
    """As they were when it returned."""
    mutations: tuple[Mutation, ...] = ()
    error: str | None = None
    """``RuntimeError: text`` when the call raised."""
    refusal: Refusal | None = None
    """What autograd refused, where that is why it raised."""
    parent: int | None = None
    """Index of the call, such as ``Tensor.backward``, that ran the user's code which made this call."""
    grad_enabled: bool = True
    mutated: tuple[TensorMetadata, ...] = ()
    """The written tensors as they were when the call returned, in the order of ``mutations``."""
    sequence: int | None = None
    """PyTorch's number for the next autograd node of this thread when the call began; orders calls against nodes."""
    modules: tuple[str, ...] = ()
    """Modules whose ``forward`` was running, outermost first: the name of the class that defines the ``forward``,
    ``Module`` where Python does not tell it (3.10, or a function put in place of the method)."""
    within: str = ""
    """Of a write that library code made, and not the line at `callsite` itself: the library's own expression, e.g.
    ``self.num_batches_tracked.add_(1)``; empty where it could not be told."""
    traits: tuple[Trait, ...] = ()
    """What the operation does in any call."""
    passes: int = 1
    """How many calls it stands for: the next ones, with nothing in between, were of the same function, at the same
    place and on the same tensor. Of these nothing is recorded but the version and the values that they led to."""

    def does(self, trait: Trait) -> bool:
        """True if the operation does that in any call."""
        return trait in self.traits

    def got(self, tensors: Container[int]) -> bool:
        """True if one of some tensors went into it."""
        return any(meta.tensor in tensors for meta in self.inputs)

    @property
    def looks_at_values(self) -> bool:
        """True if it goes to the values of what it got, as all do but questions for a shape, a flag and the like;
        ``zeros_like`` asks for a shape, too."""
        return (self.kind != "query" or self.does("reads values")) and not self.does("buffer")

    @property
    def gave_back(self) -> frozenset[int]:
        """The tensors that it gave back as it had got them: ``x.to(device)`` gives `x` where there is nothing to
        convert."""
        if self.mutations or self.error is not None:
            return frozenset()
        return frozenset(meta.tensor for meta in self.inputs) & {meta.tensor for meta in self.outputs}

    def was_refused(self, kind: RefusalKind) -> bool:
        """True if autograd refused the call for this reason."""
        return self.refusal is not None and self.refusal.kind == kind

    @property
    def operation(self) -> str:
        """The name without what it belongs to: ``add_`` of ``Tensor.add_``."""
        return self.name.rpartition(".")[2]
