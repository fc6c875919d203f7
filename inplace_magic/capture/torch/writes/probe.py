"""Level ``writes``: who wrote which storage, at which version, at which line; of everything else nothing.

A ring of the newest writes, and what a failed backward tells of itself, are all that is kept, so the memory of a run of
six hours is that of its first minute. A write is five numbers: address of the storage, version after it, PyTorch's
number for the next autograd node, place, function.

Whose write it was is decided by facts. A node keeps what it saved alive, so from the moment the node was made no other
storage can be at that address. Nodes and writes share one count: what was noted after the node's own number came after
the save.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch

from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch import probes
from inplace_magic.capture.torch.arguments import tensors_in
from inplace_magic.capture.torch.callers import PassOn, call_plainly
from inplace_magic.capture.torch.describe import has_own_sizes, tracing
from inplace_magic.capture.torch.describe_nodes import node_sequence, sequence_number
from inplace_magic.capture.torch.functions import FACTS, FunctionFacts, facts_of
from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.capture.torch.tracebacks import without_our_frames
from inplace_magic.capture.torch.wrapped import asking_function
from inplace_magic.capture.torch.writes.failed_graph import NOTHING, Behind, behind, fitting_node
from inplace_magic.errors import error_text
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.refusal import Refusal

_PARAMETER = torch.nn.Parameter
_PLAIN = (torch.Tensor, _PARAMETER)


class RawWrite(NamedTuple):
    """One write."""

    pointer: int
    version: int
    """After it."""
    sequence: int
    site: int | None
    facts: FunctionFacts


@dataclass(frozen=True)
class RawFailure:
    """A backward that found something changed: what its own graph told right then, and the writes that the ring had."""

    refusal: Refusal
    error: str
    site: int | None
    facts: FunctionFacts
    behind: Behind = NOTHING
    """The node that refused, and the module next to it in its graph; empty where several fit, or none."""
    saved: SavedTensor | None = None
    """What that node had saved."""
    writes: tuple[RawWrite, ...] = ()
    """Those that came after the save and moved the version beyond the expected one, oldest first."""
    whole: bool = False
    """Whether the first of them is the one that moved it first."""
    forgotten: bool = False
    """Whether the ring had let go of writes that came after the save."""


class WriteProbe(probes.CallProbe):
    """Sees every torch function that Python code calls on this thread, and looks at those that write.

    Args:
        recorder: knows places, and takes faults.
    """

    def __init__(self, recorder: Recorder, most: int) -> None:
        super().__init__(recorder)
        self.ring: deque[tuple[int, int, int, int | None, FunctionFacts]] = deque(maxlen=most)
        """The fields of each :class:`RawWrite`; a plain tuple costs less to make."""
        self.count = 0
        """How many writes and failures there were."""
        self.failures: deque[RawFailure] = deque(maxlen=8)
        self._like = self._callers.like
        self._note = recorder.sites.note

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        __tracebackhide__ = True  # IPython leaves this frame out of the user's traceback
        facts = FACTS.get(func)
        if facts is not None and facts.is_look and (facts.cannot_warn or type(args[0]) is _PARAMETER):
            return func(*args)  # most calls: an optimizer looks at each gradient, four times a step
        try:
            frame: FrameType | None = sys._getframe(1)
        except ValueError:  # as in CallProbe
            frame = None
        if facts is not None and facts.passes and (not kwargs or "out" not in kwargs):
            return self._like(frame, facts.code)(func, args, kwargs or {})
        kwargs = kwargs or {}
        pass_on: PassOn = call_plainly
        try:
            facts = facts or facts_of(func)
            if facts.foreign:
                facts = facts_of(asking_function(func, frame))
                func = facts.func
            if facts.code is not None:
                frame = _above_the_function(frame, facts.code)
            pass_on = self._like(frame, facts.code)
        except Exception as fault:  # containment: whatever fails in here, the user's call runs
            self._recorder.log.fault("opening a call", fault)
        try:
            if facts is not None and facts.runs_backward and not probes.types_override(types):
                result = self._with_user_code_seen(func, pass_on, args, kwargs)
            else:
                result = pass_on(func, args, kwargs)
        except BaseException as error:
            if facts is not None and facts.runs_backward:
                self._recorder.log.contained(
                    "looking at a failed backward", self._failed, facts, args, kwargs, error, frame
                )
            try:  # noqa: SIM105  as in CallProbe
                error.__traceback__ = without_our_frames(error.__traceback__)
            except RecursionError:
                pass
            raise
        if facts is not None and not facts.runs_backward and tracing() is None:
            self._wrote(facts, args, kwargs, frame)
        return result

    def _wrote(
        self, facts: FunctionFacts, args: tuple[Any, ...], kwargs: Mapping[str, Any], frame: FrameType | None
    ) -> None:
        try:
            if args and type(args[0]) in _PLAIN and _writes_first(facts, args, kwargs):
                tensor = args[0]  # most of them; as below, with less to ask
                try:
                    pointer, version = _start(tensor), tensor._version
                except (RuntimeError, NotImplementedError):
                    return
                if pointer:
                    self.ring.append((pointer, version, sequence_number(), self._note(frame, facts.code), facts))
                    self.count += 1
                return
            for tensor in tensors_in(_written(facts, args, kwargs), []):
                pointer, version = _where(tensor)
                if pointer:
                    self.ring.append((pointer, version, sequence_number(), self._note(frame, facts.code), facts))
                    self.count += 1
        except RecursionError:
            self._recorder.log.no_room = True
        except Exception as fault:  # containment, as above
            self._recorder.log.fault("noting a write", fault)

    def _failed(
        self,
        facts: FunctionFacts,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        error: BaseException,
        frame: FrameType | None,
    ) -> None:
        text = error_text(error)
        refusal = refusal_of(text)
        if refusal is None or refusal.kind != "saved tensor changed":
            return
        site = self._note(frame, facts.code)
        first = args[0] if args else kwargs.get("tensors", kwargs.get("outputs", ()))
        self.count += 1
        with torch._C.DisableTorchFunctionSubclass():  # a tensor of the user's class is asked, and shall not know
            roots = [tensor.grad_fn for tensor in tensors_in((first,), [])]
            told = RawFailure(refusal, text, site, facts)
            found = fitting_node(roots, refusal, text)
            if found is not None:
                near = behind(found[0], frame, self._recorder.sites.is_users)
                told = replace(examined(told, found, self.ring), behind=near)
            self.failures.append(told)


def _above_the_function(frame: FrameType | None, function: CodeType) -> FrameType | None:
    """Return the caller of a torch function that is written in Python, past its own frame and torch's override
    machinery above it; the same frame where it does not stand there. It is where :meth:`Callers.like` would come to,
    sooner."""
    own = frame.f_back if frame is not None else None
    return own.f_back if own is not None and own.f_code is function else frame


def _writes_first(facts: FunctionFacts, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """True if a call writes its first argument alone, as most do: ``x.add_(1)``, ``relu(x, inplace=True)``."""
    if "out" in kwargs:
        return False
    if facts.predicts_write:
        return True
    position = facts.inplace_position
    return position is not None and (kwargs.get("inplace") is True or (len(args) > position and args[position] is True))


def _written(facts: FunctionFacts, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    if facts.renews_rows and kwargs.get("max_norm", args[3] if len(args) > 3 else None) is not None:
        return args[1:2] or (kwargs.get("weight"),)  # rows of the weight are scaled down inside
    return tuple(facts.announced_writes(args, kwargs))


def _start(tensor: torch.Tensor) -> int:
    """Address of the storage, which is not asked itself: its Python object would be one more user of it for good, and
    autograd adds gradients up in place only in memory of a single user."""
    pointer = tensor.data_ptr()
    return pointer and int(pointer - tensor.storage_offset() * tensor.element_size())


def _where(tensor: torch.Tensor) -> tuple[int, int]:
    """Address of the storage and version; zero for what has no address."""
    if type(tensor) in _PLAIN:
        try:
            return _start(tensor), tensor._version
        except (RuntimeError, NotImplementedError):  # an inference tensor; a sparse, fake or functorch one
            return 0, 0
    if not has_own_sizes(type(tensor)):  # a fake tensor warns when it is asked, and another wrapper has no memory
        return 0, 0
    with torch._C.DisableTorchFunctionSubclass(), torch._C._DisableTorchDispatch():
        try:
            return _start(tensor), tensor._version
        except (RuntimeError, NotImplementedError):
            return 0, 0


def examined(
    told: RawFailure, found: tuple[Any, str, Any], ring: deque[tuple[int, int, int, int | None, FunctionFacts]]
) -> RawFailure:
    """What the node that refused tells, and the ring of who wrote what it had saved.

    Args:
        told: the error alone.
        found: the node, its name for what it had saved, and that tensor.
    """
    (node, name, tensor), expected = found, told.refusal.expected
    sequence, (pointer, _version) = node_sequence(node), _where(tensor)
    saved = SavedTensor(1, name, storage=1, counter=1, version=expected, tensor=1, shape=tuple(tensor.shape))
    named = replace(told, saved=saved)
    if sequence is None or expected is None or not pointer:
        return named
    entries = [RawWrite(*entry) for entry in ring]
    writes = [w for w in entries if w.pointer == pointer and w.sequence > sequence and w.version > expected]
    forgotten = bool(entries) and len(entries) == ring.maxlen and entries[0].sequence > sequence
    first = writes[0].version if writes else None
    rivals = {w.site for w in writes if w.version == first}
    if len(rivals) > 1:  # ``.data`` counts for itself: which of them moved the version that was saved is not known
        writes = []
    return replace(named, writes=tuple(writes), whole=first == expected + 1, forgotten=forgotten)


probes.keep_out_of_dynamo(WriteProbe.__torch_function__)
