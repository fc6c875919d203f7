"""The record of one watched block: plain frozen data, no torch objects, no behaviour.

Capture writes a :class:`Trace`, everything else reads one. A trace can be saved, sent to a colleague and opened again
on a machine without the model, so it holds only numbers, strings and tuples. Standard library only.

Serial numbers are the identities: tensor 3 is shown as ``T3``, storage 2 as ``S2``. Python's ``id`` and ``data_ptr``
are kept as facts to show, never as keys, because the allocator gives the same address to several tensors in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from inplace_magic.language import _
from inplace_magic.record.refusal import Refusal
from inplace_magic.record.traits import Trait

Kind = Literal["ordinary", "view", "in-place", "metadata", "query"]
"""What a call did, in this order of precedence: wrote a tensor (``in-place``), changed only shape or strides
(``metadata``), gave another tensor on the same storage (``view``), gave new storage (``ordinary``), gave none
(``query``)."""

AccessType = Literal["READ", "WRITE"]
Number = float | int | bool


@dataclass(frozen=True, slots=True)
class Callsite:
    """A place in the user's own code, and through ``caller`` the chain of the user's own places that led to it."""

    line: int
    """Line in the notebook's gutter (the magic line is line 1), or in the file. 0 when it is unknown."""
    text: str = ""
    """The source line, without indentation."""
    cell: int | None = None
    """Execution count of the cell that holds the line, None outside a notebook."""
    file: str | None = None
    """Path of the source file, None for a cell."""
    function: str = "<module>"
    caller: Callsite | None = None
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    expression: str = ""
    """Source of the expression that made the call, e.g. ``probs.mul_(2)``; empty when it could not be told."""
    statement: str = ""
    """Source of the innermost simple statement around it; empty when it could not be told."""
    direct: bool = True
    """False when library code between this line and torch made the call, e.g. an ``nn.Module``."""
    parameters: tuple[str, ...] = ()
    """Names of the parameters of the function that holds the line."""
    shared_defaults: tuple[str, ...] = ()
    """Those of them that have one object as the default for all calls, and that the function never binds anew."""
    outdated: bool = False
    """The file was changed after its code was loaded: `line` is that of the older version, whose text is not known."""
    indent: str = ""
    """The white space before the statement where `column` does not tell it: it has tabs, or stands on an earlier
    line."""

    def __hash__(self) -> int:
        # Of what tells places apart, and not of all their text: sites are looked up several times for each call.
        outer = self.caller
        return hash((self.line, self.column, self.end_column, self.function, outer.line if outer is not None else 0))

    @property
    def chain(self) -> tuple[Callsite, ...]:
        """The places that led here, the outermost first, and this one last."""
        found = []
        site: Callsite | None = self
        while site is not None:
            found.append(site)
            site = site.caller
        return tuple(reversed(found))

    @property
    def outermost(self) -> Callsite:
        """The first place of :attr:`chain`."""
        site = self
        while site.caller is not None:
            site = site.caller
        return site

    def same_function(self, other: Callsite | None) -> bool:
        """Whether both lie in one function, or both outside any function of one cell or file."""
        return other is not None and (self.function, self.cell, self.file) == (other.function, other.cell, other.file)

    def same_line(self, other: Callsite | None) -> bool:
        """Whether both lie on one line, whatever led there."""
        return other is not None and self.line == other.line and self.same_function(other)

    def same_run(self, other: Callsite | None) -> bool:
        """Whether both lie in one function and were reached by the same places: in one run of it, or in runs that one
        line began, as in a loop."""
        return other is not None and self.same_function(other) and self.caller == other.caller

    def same_statement(self, other: Callsite | None) -> bool:
        """Whether both lie in one statement, reached by the same places."""
        return (
            other is not None and (self.line, self.statement) == (other.line, other.statement) and self.same_run(other)
        )

    @property
    def place(self) -> str:
        """``Cell In[7], line 4`` or ``model.py:31``, as a reader would say it."""
        if self.cell is not None:
            return f"Cell In[{self.cell}], line {self.line}"
        if self.file is None:
            return f"line {self.line}"
        name = self.file.replace("\\", "/").rsplit("/", 1)[-1]
        if self.outdated:
            return _("line {line} of an older version of {file}").format(line=self.line, file=name)
        return f"{name}:{self.line}"


def where_they_part(*chains: tuple[Callsite, ...]) -> list[Callsite]:
    """Of several :attr:`~Callsite.chain`, the places in the innermost function that all of them came to by the same
    lines."""
    level = 0
    while level + 1 < min(map(len, chains)):
        here, inside = zip(*(chain[level : level + 2] for chain in chains), strict=True)
        if not all(here[0].same_line(site) for site in here) or not all(inside[0].same_function(s) for s in inside):
            break
        level += 1
    return [chain[level] for chain in chains]


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
    def label(self) -> str:
        return f"T{self.tensor}"


@dataclass(frozen=True, slots=True)
class Region:
    """Some elements of a storage: offset, sizes and strides in elements."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


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
class AliasStatement:
    """A statement that gives an object a second name: ``labels = ids``, ``best = model.state_dict()``,
    ``skips.append(x)``."""

    function: str
    cell: int | None
    file: str | None
    line: int
    target: str
    source: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class LoopStatement:
    """A ``for`` loop: ``for name, kept in feats.items():``."""

    function: str
    cell: int | None
    file: str | None
    line: int
    end_line: int
    target: str
    over: str


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

    def differs_at(self, call: int | None) -> bool:
        """Whether the content was found changed when it was last compared before call `call`; None: at the end."""
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
        """Whether any node of this name does that."""
        return trait in self.traits


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
class Backward:
    """A run of the autograd engine."""

    call: int
    roots: tuple[int, ...]
    inputs: tuple[int, ...] | None = None
    """Nodes (or leaves' nodes) that the gradients were asked for; None means all leaves."""
    retain_graph: bool = False


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

    def does(self, trait: Trait) -> bool:
        """Whether the operation does that in any call."""
        return trait in self.traits

    @property
    def operation(self) -> str:
        """The name without what it belongs to: ``add_`` of ``Tensor.add_``."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Resize:
    """Another size of a storage, by ``resize_`` or an ``out=`` that did not fit: one block goes, another comes."""

    nbytes: int
    call: int | None = None
    """Index of the call that did it; None when no call was seen to."""
    op: int | None = None
    """Level ``ops``: position in ``Trace.ops`` of the operator that did it."""


@dataclass(frozen=True, slots=True)
class Storage:
    """A block of memory behind tensors, counted once however many views it has."""

    storage: int
    nbytes: int
    device: str
    born: int | None = None
    """Index of the call that made it; None when it existed before the watch."""
    ended: int | None = None
    """How many calls had begun when it died; None while it lives at the end of the watch."""
    born_op: int | None = None
    """Level ``ops``: position in ``Trace.ops`` of the operator that made it; None when none was seen to.
    Without `born`, the operator ran outside any call, as ``torch.ops.aten.add.Tensor(x, 1)`` does."""
    ended_op: int | None = None
    """Level ``ops``: how many operators had run when it died; None while it lives at the end of the watch."""
    foreign: bool = False
    """The memory belongs to NumPy or other code outside torch, so torch neither allocates nor frees it."""
    resizes: tuple[Resize, ...] = ()
    """Its later sizes, in the order of time."""


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """An accelerator's own account of its memory, read as a call began, or as a call inside another one ended.

    Whatever happens until the next reading of the device is billed to ``call``. The two totals only ever grow, so
    their differences are what was allocated and freed in between, each block counted.
    """

    call: int | None
    """Index of the innermost call that ran on from here; None when no call did."""
    device: str
    allocated_bytes: int
    """In use by tensors and library workspaces, rounded up by the allocator: ``torch.cuda.memory_allocated()``."""
    reserved_bytes: int
    """Held by the allocator, in use or not: ``torch.cuda.memory_reserved()``."""
    peak_bytes: int
    """The most in use since the peak was last reset, by whomever."""
    allocated_total: int
    freed_total: int
    requested_bytes: int | None = None
    """Asked for by tensors and libraries, before the allocator rounded it up; None where it does not count that."""
    op: int | None = None
    """Position in ``Trace.ops`` of the operator that ran on from here; None when no operator had begun in the call."""


@dataclass(frozen=True, slots=True)
class TensorName:
    """A name by which the user's namespace reaches a tensor at the end of the watch, e.g. ``D[2].weight``."""

    tensor: int
    name: str


@dataclass(frozen=True, slots=True)
class LocalName:
    """A name by which a function of the user's reached a tensor when a call was last made from a new place in it."""

    tensor: int
    name: str
    function: str
    cell: int | None
    file: str | None


@dataclass(frozen=True, slots=True)
class KeptByHook:
    """A tensor that stood, while a call wrote it in place, in a container that a forward hook of a layer can reach by a
    name in its code: ``feats["conv"]``, ``self.seen[0]``, ``keeper.last``."""

    made: int
    """Index of the call of the layer that gave the written tensor."""
    write: int
    """Index of the call that wrote it."""
    tensor: int
    """What is kept: the written tensor, or another one on its memory, as of ``detach()``."""
    layer: str
    """Class of the layer that has the hook."""
    name: str
    """The variable, or the attribute, by which the container is reached; or that is the tensor."""
    key: str | None = None
    """The entry of the container; None where there is none, or it is neither text nor a number."""
    numbered: bool = False
    """Whether that is a number."""
    others: bool = False
    """Whether hooks of other layers reach the container too, so that the tensor may stand there twice later on."""


@dataclass(frozen=True, slots=True)
class InplaceModule:
    """A module whose ``inplace`` flag is on at the end of the watch."""

    path: str
    """From the user's namespace, e.g. ``D.main[2]``."""
    cls: str
    defined_in: str
    """Name of the class that defines its ``forward``, as in ``CallEvent.modules``."""
    made: Callsite | None = None
    """The expression that makes it, in the ``__init__`` of the module that owns it; None where that is not plain."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file or cell of the user's whose code made calls."""

    cell: int | None
    file: str | None
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that one watch recorded."""

    calls: tuple[CallEvent, ...] = ()
    nodes: tuple[AutogradNode, ...] = ()
    saved: tuple[SavedTensor, ...] = ()
    storages: tuple[Storage, ...] = ()
    readings: tuple[MemoryReading, ...] = ()
    """In the order of time; the last one of each device was read at the end of the watch."""
    backwards: tuple[Backward, ...] = ()
    ops: tuple[OpEvent, ...] = ()
    unseen: tuple[UnseenWrite, ...] = ()
    foreign: tuple[ForeignWrite, ...] = ()
    aliases: tuple[AliasStatement, ...] = ()
    loops: tuple[LoopStatement, ...] = ()
    """Where `kept_by_hooks` says anything: the loops that may be over it."""
    hooked_modules: tuple[str, ...] = ()
    """Paths, from the user's namespace, of modules that carry a forward hook."""
    hooked_calls: tuple[int, ...] = ()
    """Indices of calls whose output a forward hook of the layer kept, and no other hook can have kept, before another
    layer, inside the same line of the user's, wrote it in place."""
    kept_by_hooks: tuple[KeptByHook, ...] = ()
    inplace_modules: tuple[InplaceModule, ...] = ()
    names: tuple[TensorName, ...] = ()
    local_names: tuple[LocalName, ...] = ()
    blindness: tuple[str, ...] = ()
    """Sentences on what this watch could not observe."""
    threads_started: int = 0
    """Python threads that can run the user's code and that the watched code started, at least; a watch sees none of
    their calls."""
    processes_started: int = 0
    """Processes that run Python and that the watched code started, at least."""
    faults: tuple[str, ...] = ()
    """Faults of our own, contained; each asks to be reported."""
    error: str | None = None
    """What the watched block raised, as ``RuntimeError: text``."""
    refusal: Refusal | None = None
    """What autograd refused, where that is why the block ended."""
    level: str = "calls"
    framework: Literal["torch"] = "torch"
    """Whose tensors these are."""
    torch_version: str = ""
    cell: int | None = None
    source: tuple[str, ...] = field(default=())
    """The watched cell's lines, the magic line first; empty for ``with watch():``."""
    sources: tuple[SourceText, ...] = ()
    """The other files and cells whose lines stand in the calls, as long as their text is what ran."""
