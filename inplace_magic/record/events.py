"""The events of a watched block: calls, operators, writes, each with the tensors' metadata at that time."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Literal

from inplace_magic.record.places import Callsite
from inplace_magic.record.refusal import Refusal, RefusalKind
from inplace_magic.record.traits import Trait

Kind = Literal["ordinary", "view", "in-place", "metadata", "query"]
"""The effect of a call, in this order of precedence: it wrote a tensor (``in-place``), changed only shape or strides
(``metadata``), returned another tensor on the same storage (``view``), returned new storage (``ordinary``), or returned
no tensor (``query``)."""

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
    """Serial number of the version counter; views share that of their base, ``.data`` has its own."""
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
    """Values that a write lost."""

    kind: Literal["repeats", "flags", "fraction", "precision", "range"]
    """``repeats``: the index named elements more than once. ``flags``: it was made of a zero or a one for each row.
    ``fraction``: an integer tensor was given fractions. ``precision``: the dtype has no fractions of numbers so large.
    ``range``: it cannot hold them."""
    values: int
    """How many."""
    among: int
    """Number of all values; with ``repeats``, number of indexed positions."""
    example: Number | None = None
    """One of them."""
    largest: Number | None = None
    """The largest magnitude of all values."""
    scalar: bool = False
    """True if the value was a Python number, not a tensor."""
    differ: bool = False
    """With ``repeats``: true if one element received two different values."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A write that changed an existing tensor."""

    tensor: int
    version_before: int | None
    version_after: int | None
    """Equal to ``version_before`` if PyTorch does not count the write (BatchNorm statistics, fused optimizers)."""
    storage: int | None = None
    counter: int | None = None
    values_before: tuple[Number, ...] | None = None
    """The elements in row-major order, of small CPU tensors only."""
    values_after: tuple[Number, ...] | None = None
    region: Region | None = None
    """The elements written by ``x[index] = …`` with a basic index; None: all of the tensor, or unknown ones."""
    dropped: Dropped | None = None
    """Values that the write lost; None if none are known (small CPU tensors only)."""
    certain: bool = True
    """False if only the device knows whether it was written, as by a fused step that a ``GradScaler`` may skip."""

    @property
    def changed_nothing(self) -> bool:
        """True if the elements are known to hold what they held."""
        return self.values_before is not None and self.values_before == self.values_after


@dataclass(frozen=True, slots=True)
class ForeignWrite:
    """A change of a storage's content between two calls, by NumPy, DLPack or other code outside torch."""

    storage: int
    noticed: int
    """Index of the call before which it was noticed; the previous call still had the old content."""
    names: tuple[str, ...] = ()
    """Names of NumPy arrays in the user's namespace on the same memory."""
    callsite: Callsite | None = None
    """The only statement between the two calls that can have written it; None if there are several or none."""
    beside: bool = False
    """True if another user thread ran meanwhile: then only a statement that assigns to the memory is named."""


@dataclass(frozen=True, slots=True)
class UnseenWrite:
    """A version that moved between two calls, by a write that the watch could not see."""

    counter: int
    version_before: int | None
    version_after: int | None
    noticed: int
    """Index of the call before which it was noticed."""
    callsite: Callsite | None = None
    """The only statement that can have written it; None if there are several or none."""
    beside: bool = False
    """As :attr:`ForeignWrite.beside`."""


@dataclass(frozen=True, slots=True)
class Access:
    """A read or a write of a tensor by an op."""

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
    """Name for readers: ``torch.sigmoid``, ``Tensor.add_``, ``F.relu``."""
    kind: Kind
    callsite: Callsite | None = None
    inputs: tuple[TensorMetadata, ...] = ()
    """As they were when the call began."""
    outputs: tuple[TensorMetadata, ...] = ()
    """As they were when it returned."""
    mutations: tuple[Mutation, ...] = ()
    error: str | None = None
    """``RuntimeError: text`` if the call raised."""
    refusal: Refusal | None = None
    """Autograd's refusal, if that made it raise."""
    parent: int | None = None
    """Index of the call, such as ``Tensor.backward``, whose user code made this call."""
    grad_enabled: bool = True
    mutated: tuple[TensorMetadata, ...] = ()
    """The written tensors at the return of the call, in the order of ``mutations``."""
    sequence: int | None = None
    """PyTorch's number for the next autograd node of this thread when the call began; orders calls against nodes."""
    modules: tuple[str, ...] = ()
    """Modules whose ``forward`` was running, outermost first: the class that defines the ``forward``, or ``Module`` if
    Python does not know it (3.10, or a function in place of the method)."""
    within: str = ""
    """For a write by library code, the library's expression, e.g. ``self.num_batches_tracked.add_(1)``; empty if
    unknown."""
    traits: tuple[Trait, ...] = ()
    """Traits of the operation, the same for any call."""
    passes: int = 1
    """Number of calls that it represents: the next ones, with nothing in between, had the same function, place and
    tensor. Of these only the final version and values are recorded."""

    def does(self, trait: Trait) -> bool:
        """True if the operation does that in any call."""
        return trait in self.traits

    def got(self, tensors: Container[int]) -> bool:
        """True if one of these tensors is an input."""
        return any(meta.tensor in tensors for meta in self.inputs)

    @property
    def looks_at_values(self) -> bool:
        """True if it reads its inputs' values; not if it only asks for a shape, a flag and the like, as ``zeros_like``
        does."""
        return (self.kind != "query" or self.does("reads values")) and not self.does("buffer")

    @property
    def gave_back(self) -> frozenset[int]:
        """Return the inputs that it returned unchanged: ``x.to(device)`` returns `x` if there is nothing to convert."""
        if self.mutations or self.error is not None:
            return frozenset()
        return frozenset(meta.tensor for meta in self.inputs) & {meta.tensor for meta in self.outputs}

    def was_refused(self, kind: RefusalKind) -> bool:
        """True if autograd refused the call for this reason."""
        return self.refusal is not None and self.refusal.kind == kind

    @property
    def operation(self) -> str:
        """The name without its owner: ``add_`` for ``Tensor.add_``."""
        return self.name.rpartition(".")[2]
