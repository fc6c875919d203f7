"""Aten operators at level ``ops``: what a schema says, cached by operator, the one thing that a dispatch mode must
repair, and what each operator read, wrote and gave."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from inplace_magic.capture.log import ACCESSES
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.capture.torch.arguments import WITHOUT_TENSORS, Keywords, tensors_in
from inplace_magic.record import blindness

_PLAIN_TYPES = describe.PLAIN_TYPES


class OpFacts:
    """The arguments that an operator writes, by its schema, and whether it may give them other memory."""

    def __init__(self, func: Any) -> None:
        self.name = str(func)
        if "_lazy_clone" in self.name:
            describe_memory.expect_copy_on_write()
        positions: set[int] = set()
        names: set[str] = set()
        lists: list[tuple[int, str]] = []
        foreach = self.name.startswith("aten._foreach_")
        for position, argument in enumerate(func._schema.arguments):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            positions.add(position)
            names.add(argument.name)
            if not isinstance(argument.type, torch.ListType) or not self.name.startswith("aten."):
                continue
            if foreach or argument.is_out:
                lists.append((position, argument.name))
        self.may_resize = "resize" in self.name or any([argument.is_out for argument in func._schema.arguments])
        self.views_below = _RESTORABLE and _has_kernel(func.name(), "ADInplaceOrView") is False
        """Whether views and writes are tied and counted by what the operator calls, and not by its own kernel."""
        self.is_composite = self.views_below and bool(_has_kernel(func.name(), "CompositeImplicitAutograd"))
        self.is_custom = bool(positions) and _RESTORABLE and func.name() in _custom_ops()
        """Whether it is a ``custom_op`` that writes: of Python's, whose own writes count."""
        self.written_positions = frozenset(positions)
        self.written_names = frozenset(names)
        self.written_lists = tuple(lists)


_NEEDED = ("_ForceDispatchKeyGuard", "_dispatch_tls_local_include_set", "_dispatch_tls_local_exclude_set")
_RESTORABLE = all([hasattr(torch._C, name) for name in (*_NEEDED, "_dispatch_has_kernel_for_dispatch_key")])
"""If one of them vanishes: see :func:`as_in_inference_mode`."""


def _has_kernel(name: str, key: str) -> bool | None:
    try:
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, key))
    except RuntimeError:  # one that the dispatcher does not have, such as ``prim::device``
        return None


def _custom_ops() -> Any:
    """Private; if it vanishes, what such an operator's own lines write is not counted under our mode."""
    module = sys.modules.get("torch._library.custom_ops")
    return getattr(module, "OPDEFS", ()) if hasattr(torch._C, "_after_ADInplaceOrView_keyset") else ()


def counting_its_writes(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What a ``custom_op`` gives, with the writes of its own lines counted as they are without a dispatch mode.

    Any dispatch mode switches that off below itself. It is switched on again, and the operator called below its own
    count, which was made before the mode was asked.
    """
    given = tensors_in((args, kwargs), [])
    if not given:
        return func(*args, **kwargs)
    keys = torch._C._dispatch_keys(given[0]) & torch._C._after_ADInplaceOrView_keyset
    with as_in_inference_mode():
        return func.redispatch(keys, *args, **kwargs)


def as_in_inference_mode() -> Any:
    """Return a context in which operators called from a dispatch mode tie and count views and writes as they do without
    one.

    Any dispatch mode switches that off below itself. Elsewhere autograd has split an operator such as ``view_as`` into
    its parts before the mode is asked, so that it does not matter; in inference mode nobody has, and a view of a normal
    tensor came out as no view at all: the error that its write must raise was gone.
    """
    key = torch._C.DispatchKey.ADInplaceOrView
    excluded = torch._C._dispatch_tls_local_exclude_set().remove(key)
    return torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), excluded)


VersionBefore = tuple[torch.Tensor, int]
"""A tensor, and its version before an operator ran."""
_FACTS: dict[Any, OpFacts] = {}


def op_facts_of(func: Any) -> OpFacts:
    """Return the facts of an operator, computed once."""
    facts = _FACTS.get(func)
    if facts is None:
        facts = _FACTS[func] = OpFacts(func)
    return facts


def looked_at(
    func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[OpFacts | None, Sequence[VersionBefore]]:
    """Return the operator's facts, and the versions that it may have to be helped to move."""
    facts = op_facts_of(func)
    if not facts.written_lists:
        return facts, ()
    with torch._C.DisableTorchFunction():  # our own reads are no calls of the user's
        return facts, versions_of_lists(facts, args, kwargs)


def versions_of_lists(facts: OpFacts, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[VersionBefore]:
    """Return the tensors that an operator writes as members of lists, with their versions; none for most operators."""
    return [
        (tensor, version)
        for position, name in facts.written_lists
        for tensor in (args[position] if len(args) > position else kwargs.get(name, ()))
        if isinstance(tensor, torch.Tensor) and (version := describe.version(tensor)) is not None
    ]


def restore_versions(before: Iterable[VersionBefore]) -> None:
    """Moves the versions that any dispatch mode, even an empty one, keeps operators on lists from moving; without this
    the version check would be lost for foreach optimizers.

    PyTorch moves those of what a ``_foreach_*`` operator writes and of every ``out``, by one. A kernel for the CPU, and
    the slow way of one for CUDA, leaves that to the operators that it calls for each tensor, which a mode keeps from
    counting; the fast way for CUDA counts by itself (``increment_version`` in ATen/native/cuda/Foreach*.cu), with a
    mode as without. So a version that has moved already stays. Other operators that write a list (``_fused_adam_``,
    ``_amp_foreach_non_finite_check_and_unscale_``) PyTorch does not count unwatched either; and one of somebody's
    library moves versions itself or not at all.
    """
    unmoved = [tensor for tensor, version in before if describe.version(tensor) == version]
    for tensor in unmoved:  # one that is in the list twice is counted twice
        torch.autograd.graph.increment_version(tensor)


class OpRecorder:
    """Bills operators to the calls that a recorder has open."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._running = recorder.running
        self._log = recorder.log
        self._identity = recorder.identity
        self._meter = recorder.meter
        self._repeats = recorder.repeats
        self._deaths, self._node_deaths = recorder.identity.deaths, recorder.nodes.deaths

    def begins(self) -> None:
        """What an accelerator's memory is from here on is billed to the operator that is about to run."""
        with self._recorder.alone:
            running = self._running.here()
            if running or not self._repeats.inside:
                self._meter.read(running[-1].index if running else None, self._log.op_count)

    def not_seen(self, func: Any) -> None:
        """Notes a higher-order operator under the innermost open call."""
        running = self._running.here()
        site = running[-1].site if running else None
        self._log.not_seen[blindness.HIGHER_ORDER, f"torch.ops.higher_order.{func.name()}", site] = None

    def ended(
        self,
        facts: OpFacts | None,
        args: tuple[Any, ...],
        kwargs: Keywords,
        result: Any,
        counted: Sequence[VersionBefore],
    ) -> None:
        """Notes an aten operator that ran under the innermost open call."""
        if self._deaths or self._node_deaths:
            self._recorder.bury()
        if counted:
            restore_versions(counted)
        if facts is None:
            return
        open_calls = self._running.here()
        if self._repeats.inside and not open_calls:
            return
        running = open_calls[-1] if open_calls else None
        call = running.index if running is not None else None
        in_backward = running is not None and running.facts.runs_backward
        # What backward's operators read may be older than the watch; a forward operator's unknown input was made by
        # the call itself, below the dispatcher (`torch.tensor` does).
        given = None if in_backward else call
        identity = self._identity
        known = identity.tensors
        serial = identity.serial_inside
        written = facts.written_positions
        row: list[Any] = [facts.name, call, in_backward, 0]
        for position, value in enumerate(args):
            kind = type(value)
            if kind in _PLAIN_TYPES:
                record = known.get(id(value))
                number = serial(value, given) if record is None else record.serial
                row.append(~number if position in written else number)
            elif kind not in WITHOUT_TENSORS:
                for tensor in tensors_in((value,), []):
                    row.append(~serial(tensor, given) if position in written else serial(tensor, given))
        for name, value in kwargs.items() if kwargs else ():
            for tensor in tensors_in((value,), []):
                row.append(~serial(tensor, given) if name in facts.written_names else serial(tensor, given))
        row[ACCESSES] = len(row)
        number = identity.op = self._log.op_count
        try:
            if type(result) in _PLAIN_TYPES:
                record = known.get(id(result))
                row.append(serial(result, call) if record is None else record.serial)
            elif result is not None:
                row += [serial(tensor, call) for tensor in tensors_in((result,), [])]
        finally:
            identity.op = None
        if facts.may_resize:
            for tensor in tensors_in((args, kwargs.values()), []):
                identity.look_at_size(tensor, call, number)
        self._log.ops.append(tuple(row))
        identity.ops = number + 1
