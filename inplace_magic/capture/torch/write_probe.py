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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch import probes
from inplace_magic.capture.torch.arguments import tensors_in
from inplace_magic.capture.torch.callers import PassOn, call_plainly
from inplace_magic.capture.torch.describe import error_text, has_own_sizes, tracing
from inplace_magic.capture.torch.describe_nodes import (
    node_name,
    node_sequence,
    saved_values,
    sequence_number,
)
from inplace_magic.capture.torch.functions import FACTS, FunctionFacts, facts_of
from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.capture.torch.wrapped import asking_function
from inplace_magic.record.refusal import Refusal

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_MOST_NODES = 1_000_000
"""Nodes of a failed graph that are looked at."""


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
    node: str | None = None
    """The node that refused; None where several fit, or none."""
    sequence: int | None = None
    saved: str = ""
    shape: tuple[int, ...] | None = None
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
        most: how many writes are kept.
    """

    def __init__(self, recorder: Recorder, most: int) -> None:
        super().__init__(recorder)
        self.ring: deque[tuple[int, int, int, int | None, FunctionFacts]] = deque(maxlen=most)
        """The fields of each :class:`RawWrite`; a plain tuple costs less to make."""
        self.count = 0
        """How many writes and failures there were."""
        self.failures: deque[RawFailure] = deque(maxlen=8)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        __tracebackhide__ = True  # IPython leaves this frame out of the user's traceback
        facts = FACTS.get(func)
        if facts is not None and facts.passes and (not kwargs or "out" not in kwargs):
            if facts.is_look and (facts.cannot_warn or type(args[0]) is torch.nn.Parameter):
                return func(*args)
            return self._callers.like(sys._getframe(1), facts.code)(func, args, kwargs or {})
        kwargs = kwargs or {}
        pass_on: PassOn = call_plainly
        try:
            facts = facts or facts_of(func)
            if facts.foreign:
                facts = facts_of(asking_function(func, sys._getframe(1)))
                func = facts.func
            pass_on = self._callers.like(sys._getframe(1), facts.code)
        except Exception as fault:  # containment: whatever fails in here, the user's call runs
            self._recorder.fault("opening a call", fault)
        try:
            if facts is not None and facts.runs_backward and not probes.types_override(types):
                result = self._with_user_code_seen(func, pass_on, args, kwargs)
            else:
                result = pass_on(func, args, kwargs)
        except BaseException as error:
            if facts is not None and facts.runs_backward:
                self._failed(facts, args, kwargs, error)
            try:  # noqa: SIM105  as in CallProbe
                error.__traceback__ = probes.without_our_frames(error.__traceback__)
            except RecursionError:
                pass
            raise
        if facts is not None and not facts.runs_backward and tracing() is None:
            self._wrote(facts, args, kwargs)
        return result

    def _wrote(self, facts: FunctionFacts, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        try:
            if facts.predicts_write and args and type(args[0]) in _PLAIN and "out" not in kwargs:
                written: Iterable[torch.Tensor] = args[:1]  # most of them
            else:
                written = tensors_in(_written(facts, args, kwargs), [])
            if not written:
                return
            site = self._recorder.sites.note(sys._getframe(2), facts.code)
            sequence = sequence_number()
            for tensor in written:
                pointer, version = _where(tensor)
                if pointer:
                    self.ring.append((pointer, version, sequence, site, facts))
                    self.count += 1
        except RecursionError:
            self._recorder.log.no_room = True
        except Exception as fault:  # containment, as above
            self._recorder.fault("noting a write", fault)

    def _failed(
        self, facts: FunctionFacts, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: BaseException
    ) -> None:
        try:
            text = error_text(error)
            refusal = refusal_of(text)
            if refusal is None or refusal.kind != "saved tensor changed":
                return
            site = self._recorder.sites.note(sys._getframe(2), facts.code)
            first = args[0] if args else next((kwargs[name] for name in ("tensors", "outputs") if name in kwargs), ())
            self.count += 1
            with torch._C.DisableTorchFunctionSubclass():  # a tensor of the user's class is asked, and shall not know
                roots = [tensor.grad_fn for tensor in tensors_in((first,), [])]
                self.failures.append(examined(roots, refusal, text, site, facts, self.ring))
        except Exception as fault:  # containment, as above
            self._recorder.fault("looking at a failed backward", fault)


def _written(facts: FunctionFacts, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    if facts.renews_rows and kwargs.get("max_norm", args[3] if len(args) > 3 else None) is not None:
        return args[1:2] or (kwargs.get("weight"),)  # rows of the weight are scaled down inside
    return tuple(facts.announced_writes(args, kwargs))


def _where(tensor: torch.Tensor) -> tuple[int, int]:
    """Address of the storage and version; zero for what has no address."""
    if type(tensor) in _PLAIN:
        try:
            return tensor.untyped_storage().data_ptr(), tensor._version
        except (RuntimeError, NotImplementedError):  # an inference tensor; a sparse, fake or functorch one
            return 0, 0
    if not has_own_sizes(type(tensor)):  # a fake tensor warns when it is asked, and another wrapper has no memory
        return 0, 0
    with torch._C.DisableTorchFunctionSubclass(), torch._C._DisableTorchDispatch():
        try:
            return tensor.untyped_storage().data_ptr(), tensor._version
        except (RuntimeError, NotImplementedError):
            return 0, 0


def examined(
    roots: Iterable[Any],
    refusal: Refusal,
    text: str,
    site: int | None,
    facts: FunctionFacts,
    ring: deque[tuple[int, int, int, int | None, FunctionFacts]],
) -> RawFailure:
    """What the graph tells of which node refused, and the ring of who wrote what it had saved.

    The graph is walked once. A node fits when what it keeps has the version that the error found and the sizes that it
    names. Of several, those count whose own ``_saved_…`` raises the very error; reading it unpacks, which is safe where
    nobody's hooks packed, and others are not read. The engine goes from the youngest node to the oldest, so of those
    the youngest is the one.
    """
    told = RawFailure(refusal, text, site, facts)
    found = fitting_node(roots, refusal, text)
    if found is None:
        return told
    node, name, tensor = found
    sequence, (pointer, _version) = node_sequence(node), _where(tensor)
    named = RawFailure(refusal, text, site, facts, node_name(node), sequence, name, tuple(tensor.shape))
    if sequence is None or refusal.expected is None or not pointer:
        return named
    entries = [RawWrite(*entry) for entry in ring]
    writes = [w for w in entries if w.pointer == pointer and w.sequence > sequence and w.version > refusal.expected]
    forgotten = bool(entries) and len(entries) == ring.maxlen and entries[0].sequence > sequence
    first = writes[0].version if writes else None
    rivals = {w.site for w in writes if w.version == first}
    if len(rivals) > 1:  # ``.data`` counts for itself: which of them moved the version that was saved is not known
        writes = []
    whole = first == refusal.expected + 1
    return RawFailure(
        refusal, text, site, facts, named.node, sequence, name, named.shape, tuple(writes), whole, forgotten
    )


def fitting_node(roots: Iterable[Any], refusal: Refusal, text: str) -> tuple[Any, str, Any] | None:
    """The node of a failed graph that refused, its name for what it had saved, and that tensor; None where none fits.

    Args:
        roots: nodes with which the backward began.
        refusal: what its error told.
        text: the error's.
    """
    fitting = [found for found in _kept(roots) if _fits(found[2], refusal)]
    if len(fitting) > 1:
        fitting = [found for found in fitting if _refuses(found, text)]
    return max(fitting, key=lambda found: node_sequence(found[0]) or 0) if fitting else None


def _kept(roots: Iterable[Any]) -> list[tuple[Any, str, Any]]:
    """(node, name, tensor) of everything that a graph keeps, but for what somebody's hooks packed."""
    waiting = [root for root in roots if root is not None]
    seen = set(waiting)
    found = []
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop()
        found += [(node, name, tensor) for name, tensor, hooked in saved_values(node) if not hooked]
        for behind, _ in node.next_functions:
            if behind is not None and behind not in seen:
                seen.add(behind)
                waiting.append(behind)
    return found


def _fits(tensor: Any, refusal: Refusal) -> bool:
    try:
        return tensor._version == refusal.found and refusal.shape in (None, tuple(tensor.shape))
    except RuntimeError:
        return False


def _refuses(found: tuple[Any, str, Any], text: str) -> bool:
    node, name, _tensor = found
    try:
        getattr(node, f"_saved_{name.partition('[')[0]}" if name[:13] != "saved_tensors" else "saved_tensors")
    except RuntimeError as error:
        return error_text(error) == text
    return False


probes.keep_out_of_dynamo(WriteProbe.__torch_function__)
