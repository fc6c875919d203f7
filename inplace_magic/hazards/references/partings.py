"""Two names of one memory that library code made two: by a copy of each, or by another parameter for one of them.

``copy.deepcopy`` copies each parameter by itself, ``module.double()`` each buffer of each module, and
``load_state_dict(assign=True)`` gives each module its own entry. What was one memory, or one tensor in two modules, is
two afterwards, and nothing says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.overlap import may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.record.autograd import Registration
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.record.training import Replacement
from inplace_magic.source import expressions

_MOST = 64
"""Tensors of one memory that are held against each other."""

_Key = tuple[int, str]
"""A module, by its number, and a name of a parameter in it."""
_Held = tuple[int, Registration | None]
"""A parameter that stood there, and by what; None where it stood there when it was first seen."""


@dataclass(frozen=True)
class Parting:
    """A line that made two of one."""

    at: int
    """Index of the last call before the two can differ."""
    until: int | None
    """From which call on they may be one again; None: never."""
    site: Callsite
    before: tuple[int | None, int | None]
    """The two as they were, where these are two tensors."""
    storages: tuple[int, int]
    """The memory of each afterwards."""
    differ: bool
    """Whether they hold other values from the first: one was given new ones, and the other was not."""


def by_copies(story: Story) -> Iterator[Parting]:
    """The copies that one line made, in library code, of two tensors on one memory."""
    held = _held_by_modules(story)
    for calls in _runs_of_lines(story):
        origin = {out.tensor: call.inputs[0] for call in calls if call.does("gives data") for out in call.outputs}
        copied: dict[int, list[tuple[TensorMetadata, int]]] = {}
        for call in calls:
            source, made = _copy(call)
            if source is None or made is None or source.storage is None or made.storage is None:
                continue
            source = origin.get(source.tensor, source)
            others = copied.setdefault(made_of := source.storage or 0, [])
            if source.is_trainable and any(other.tensor == source.tensor for other, _storage in others):
                others = copied[made_of] = []  # the line copies it all once more
            for other, storage in others:
                if storage != made.storage and _are_one(source, other, held, (made.storage, storage)):
                    both = source.tensor, other.tensor
                    yield Parting(calls[-1].index, None, _site(call), both, (made.storage, storage), differ=False)
            if len(others) < _MOST:
                others.append((source, made.storage))


def _runs_of_lines(story: Story) -> Iterator[list[CallEvent]]:
    """The calls that library code made in one run of one line, where there are copies among them."""
    copying = {call.index for call in story.doing("copy")}
    run: list[CallEvent] = []
    for call in (*story.trace.calls, None) if len(copying) > 1 else ():
        if run and (call is None or call.callsite != run[0].callsite):
            if sum(_copy(each)[0] is not None for each in run if each.index in copying) > 1:
                yield run
            run = []
        if call is not None and call.callsite is not None and not call.callsite.direct:
            run.append(call)


def _copy(call: CallEvent) -> tuple[TensorMetadata | None, TensorMetadata | None]:
    """What a call copied, and the copy."""
    if not call.does("copy") or call.kind != "ordinary" or not call.inputs or len(call.outputs) != 1:
        return None, None
    source, made = call.inputs[0], call.outputs[0]
    same = source.shape == made.shape and source.storage != made.storage
    return (source, made) if same else (None, None)


def _are_one(one: TensorMetadata, other: TensorMetadata, held: frozenset[int], storages: tuple[int, int]) -> bool:
    """Whether two copied tensors had elements in common, as parameters of a module or buffers of two."""
    if one.is_trainable and other.is_trainable:
        return one.tensor != other.tensor and may_meet(region_of(one), region_of(other))
    return held.issuperset(storages) and may_meet(region_of(one), region_of(other))


def _held_by_modules(story: Story) -> frozenset[int]:
    """The memories that attributes of modules lead to at the end of the watch."""
    modules = {module.path for module in story.trace.module_names}
    tensors = {entry.tensor for entry in story.trace.names if entry.name.rpartition(".")[0] in modules}
    found = (meta.storage for tensor in tensors if (meta := story.observations.get(tensor)) is not None)
    return frozenset(storage for storage in found if storage is not None)


def _site(call: CallEvent) -> Callsite:
    assert call.callsite is not None
    return call.callsite


def by_replacement(story: Story) -> Iterator[Parting]:
    """The lines that gave one of two modules another parameter, where both had one and the same. What a statement says
    of one attribute, ``head.weight = …``, is meant for that one."""
    holders: dict[_Key, list[_Held]] = {}
    keys_of: dict[int, dict[_Key, None]] = {}
    tied: dict[tuple[_Key, _Key, Callsite | None], Registration] = {}
    for entry in story.trace.registrations:
        key, old = (entry.module, entry.name), entry.replaced
        if old is not None and (key not in holders or holders[key][-1][0] != old):
            holders.setdefault(key, []).append((old, None))
            keys_of.setdefault(old, {})[key] = None
        if entry.tensor is None:
            continue
        if old is not None and not entry.shared and not _says_attribute(entry):
            for other in keys_of[old]:
                if other != key and _held_before(holders[other], entry) == old:
                    tied.setdefault((min(key, other), max(key, other), entry.callsite), entry)
        holders.setdefault(key, []).append((entry.tensor, entry))
        keys_of.setdefault(entry.tensor, {})[key] = None
    for (one, other, _site), entry in tied.items():
        parting = _parting(story, holders[one], holders[other], entry)
        if parting is not None:
            yield parting


def by_copied_children(story: Story) -> Iterator[Parting]:
    """The lines that gave a module copies of two children, one after the other, which had a parameter in common: each
    copy has its own. To untie the two on purpose, one copy is enough."""
    given: dict[int, list[tuple[Replacement, CallEvent, int]]] = {}
    copies = _copied_memories(story) if len(story.trace.replacements) > 1 else {}
    for entry in story.trace.replacements:
        memories = [_memory(story, tensor) for tensor in entry.taken]
        for old in entry.given_up:
            of_it = copies.get(_memory(story, old) or 0, {})
            copied = [memory for memory in memories if memory is not None and memory in of_it]
            if len(copied) == 1:
                given.setdefault(old, []).append((entry, of_it[copied[0]], copied[0]))
    for old, entries in given.items():
        (first, _one_copy, one), (last, copy, other) = entries[0], entries[-1]
        if (first.name, first.call) == (last.name, last.call) or one == other or copy.callsite is None:
            continue
        made_anew = (e.call for e in story.trace.registrations if e.call > last.call and e.storage in (one, other))
        until = min(made_anew, default=None)
        yield Parting(last.call - 1, until, copy.callsite, (old, None), (one, other), differ=False)


def _copied_memories(story: Story) -> dict[int, dict[int, CallEvent]]:
    """The copies that library code made of what lies in each memory, by their own memory."""
    found: dict[int, dict[int, CallEvent]] = {}
    for call in story.doing("copy"):
        source, made = _copy(call) if call.callsite is not None and not call.callsite.direct else (None, None)
        if source is not None and made is not None and source.storage is not None and made.storage is not None:
            found.setdefault(source.storage, {})[made.storage] = call
    return found


def _memory(story: Story, tensor: int) -> int | None:
    meta = story.observations.get(tensor)
    return meta.storage if meta is not None else None


def _held_before(held: list[_Held], entry: Registration) -> int:
    """What a module had under a name when a line began to give modules other parameters."""
    found = held[0][0]
    for tensor, given in held:
        if given is not None and given.callsite == entry.callsite and given.call >= entry.call:
            break
        found = tensor
    return found


def _parting(story: Story, one: list[_Held], other: list[_Held], entry: Registration) -> Parting | None:
    later, now = [], []
    for held in (one, other):
        tensor = held[0][0]
        for given_tensor, given in held:
            if given is None or given.call <= entry.call or given.callsite == entry.callsite:
                tensor = given_tensor
            else:
                later.append(given.call)
        now.append(tensor)
    metas = [story.observations.get(tensor) for tensor in now]
    storages = [meta.storage for meta in metas if meta is not None and meta.storage is not None]
    if entry.callsite is None or len(storages) < len(now) or storages[0] == storages[1]:
        return None
    until = min(later, default=None)
    both = storages[0], storages[1]
    return Parting(entry.call - 1, until, entry.callsite, (entry.replaced, None), both, entry.replaced in now)


def _says_attribute(entry: Registration) -> bool:
    """Whether a statement assigns to the very attribute."""
    statement = expressions.parse(entry.callsite.statement) if entry.callsite is not None else None
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Attribute) and target.attr == entry.name for target in targets)
