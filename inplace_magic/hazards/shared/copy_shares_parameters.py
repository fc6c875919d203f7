"""A network that was to stand still shares its parameters with the one that is trained."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial

from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.of_origin import copied, deep_copied
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.shared_networks import (
    Moved,
    bindings,
    held_against_itself,
    is_chosen,
    is_shallow_copy,
    shallow_attributes,
    source_of,
    taken_over,
)
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.autograd import Registration
from inplace_magic.record.events import CallEvent, Mutation, Region
from inplace_magic.record.paths import before_first_step
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, texts
from inplace_magic.source.tops import Top
from inplace_magic.source.variables import mentions

CODE = "copy-shares-parameters"

_Memory = tuple[int | None, Region | None]


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each pair of networks, and one for each pair of parameters that are both written."""
    memories = _parameters(story)
    told: set[str] = set()
    for still, moving, call, mutation, read in _shared(story, memories):
        if still not in told:
            told.add(still)
            yield _network(story, still, moving, call, mutation, read)
    for memory, named in memories.items():
        tensors = dict.fromkeys(tensor for tensor, _name in named)
        writes = [last for tensor in tensors if (last := _last_write(story, tensor, memory[0])) is not None]
        if len(writes) > 1:
            yield _two_parameters(story, writes)
    seen = set()
    for entry in story.trace.registrations:
        if entry.shared and entry.replaced is not None and entry.callsite not in seen and _is_read(story, entry):
            seen.add(entry.callsite)
            yield _given_to_both(story, entry)


def _is_read(story: Story, entry: Registration) -> bool:
    """Whether a call reads what a shallow copy was given, and so what its original has."""
    reads = story.given_to.get(entry.tensor, ()) if entry.tensor is not None else ()
    return any(call.index >= entry.call and call.modules for call in reads)


def _shared(story: Story, memories: dict[_Memory, list[tuple[int, str]]]) -> Iterator[Moved]:
    pairs = list(_pairs(memories))
    for top in story.tops if pairs else ():
        given = _given(top)
        for still, moving in pairs:
            shared_at = _shared_at(top, given.get((still, moving), ()), still, moving)
            found = _moved(story, top, memories, still, shared_at) if shared_at is not None else None
            if found is not None:
                yield still, moving, *found
    named = [entry for entries in memories.values() for entry in entries]
    for still, moving in pairs:
        ones, others = (
            [tensor for tensor, name in named if before_first_step(name)[0] == root] for root in (still, moving)
        )
        over = taken_over(story, ones, others, partial(_comes_after_loading, story.tops, still))
        if over is not None:
            yield still, moving, *over
    for listing in texts(story.trace):
        yield from shallow_attributes(story, listing)
    yield from held_against_itself(story)


def _last_write(story: Story, tensor: int, storage: int | None) -> tuple[CallEvent, Mutation] | None:
    """The last write of a tensor while it lay in a memory."""
    writes = (entry for entry in story.writes_to_tensor.get(tensor, ()) if entry[1].storage == storage)
    return max(writes, key=lambda entry: entry[0].index, default=None)


def _parameters(story: Story) -> dict[_Memory, list[tuple[int, str]]]:
    """The parameters, and their names, by the elements on which they lie."""
    found: dict[_Memory, list[tuple[int, str]]] = {}
    for tensor, names in story.names.items():
        meta = story.observations.get(tensor)
        if meta is not None and meta.is_trainable and meta.storage is not None:
            found.setdefault((meta.storage, region_of(meta)), []).extend((tensor, name) for name in names)
    return found


def _pairs(memories: dict[_Memory, list[tuple[int, str]]]) -> Iterator[tuple[str, str]]:
    """(network that is to stand still, network whose parameters it has), by their names."""
    where = {name: memory for memory, named in memories.items() for _tensor, name in named}
    roots: dict[str, list[str]] = {}
    for name in where:
        root, rest = before_first_step(name)
        roots.setdefault(root, []).append(rest)
    for still, rests in roots.items():
        if rests == [""]:
            continue
        for moving in roots:
            if moving != still and all(where.get(moving + rest) == where[still + rest] for rest in rests):
                yield still, moving


_Given = tuple[ast.Assign, ast.expr]
"""A statement, and the value that it gives a name."""


def _given(top: Top) -> dict[tuple[str | None, str | None], list[_Given]]:
    """The statements that give a name something of another one, by both names."""
    found: dict[tuple[str | None, str | None], list[_Given]] = {}
    for node in top.listing.inside(top.scope):
        for target, value in bindings(node) if isinstance(node, ast.Assign) and top.is_own(node) else ():
            if isinstance(node, ast.Assign):
                found.setdefault((target, source_of(value)), []).append((node, value))
    return found


def _shared_at(top: Top, given: Iterable[_Given], still: str, moving: str) -> int | None:
    """The line that made one network a shallow copy of the other one, or that takes it when a condition says so."""
    for node, value in given:
        if is_shallow_copy(value) or is_chosen(top.listing, node, still, moving):
            return node.lineno
    return None


def _comes_after_loading(tops: list[Top], still: str, call: CallEvent) -> bool:
    """Whether a call stands below ``ema.load_state_dict(state, assign=True)``, which takes what the state holds."""
    for top in tops:
        place = top.place(call.callsite)
        above = (node for node in ast.walk(top.scope) if place is not None and isinstance(node, ast.Call))
        for node in above:
            loads = expressions.path_text(node.func) == f"{still}.load_state_dict"
            assigns = any(entry.arg == "assign" for entry in node.keywords)
            if loads and assigns and top.is_own(node) and place is not None and node.lineno < place.line:
                return True
    return False


def _moved(
    story: Story, top: Top, memories: dict[_Memory, list[tuple[int, str]]], still: str, line: int
) -> tuple[CallEvent, Mutation, CallEvent] | None:
    """The first write below a line of a parameter that the network has, and its next run."""
    for (storage, _region), named in memories.items():
        if storage is None or not any(before_first_step(name)[0] == still for _tensor, name in named):
            continue
        for call, mutation in story.writes_to_storage.get(storage, ()):
            place = top.place(call.callsite)
            if place is None or place.line <= line or _runs(top, call, still) or _says(place, still):
                continue
            for read in story.trace.calls:
                if (
                    read.index > call.index
                    and any(m.storage == storage for m in read.inputs)
                    and _runs(top, read, still)
                ):
                    return call, mutation, read
            break
    return None


def _runs(top: Top, call: CallEvent, root: str) -> bool:
    """Whether the block's own line calls the network: ``target(x)``, ``target.forward(x)``."""
    place = top.place(call.callsite)
    node = expressions.parse(place.expression) if place is not None else None
    return isinstance(node, ast.Call) and expressions.root_name(node.func) == root


def _says(place: Callsite, root: str) -> bool:
    """Whether the line was given the network by that name, as ``train(target)`` is: then it was to move it."""
    return mentions(expressions.parse(place.expression), root)


def _network(story: Story, still: str, moving: str, call: CallEvent, mutation: Mutation, read: CallEvent) -> Hazard:
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} wrote the parameters of `{moving}`, and they are those of `{still}` as well, which {read} then "
            "runs: no copy of them was made, so `{still}` moves with every step. PyTorch gives no error."
        ).format(line=wording.spot(call.callsite), moving=moving, still=still, read=wording.spot(read.callsite)),
        fix=_("Give `{still}` parameters of its own: `{still} = copy.deepcopy({moving})`.").format(
            still=still, moving=moving
        ),
        variable=story.bindings.written_name(call, mutation.tensor),
        read=read,
        tensor=mutation.tensor,
        write=call,
    )


def _two_parameters(story: Story, writes: list[tuple[CallEvent, Mutation]]) -> Hazard:
    call, mutation = max(writes, key=lambda entry: entry[0].index)
    second = next(m for _call, m in writes if m.tensor != mutation.tensor)
    names = [next(iter(story.names.get(m.tensor, ())), f"T{m.tensor}") for m in (second, mutation)]
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} wrote `{one}`, and that is the memory of `{other}` too, which is another parameter and was written "
            "as well: each step of one of them moves both. PyTorch gives no error."
        ).format(line=wording.spot(call.callsite), one=names[1], other=names[0]),
        fix=_("Make each parameter of a copy: `nn.Parameter(init.clone())`; to tie two layers, assign one parameter."),
        variable=names[1],
        tensor=mutation.tensor,
        write=call,
    )


def _given_to_both(story: Story, entry: Registration) -> Hazard:
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{line} gives a shallow copy of a module another `{name}`, and such a copy has the very dict of parameters "
            "of its original: from here on the original has it, too, and no longer what it had. PyTorch gives no error."
        ).format(line=wording.spot(entry.callsite), name=entry.name),
        fix=_("Copy the module with `copy.deepcopy`, which gives the copy a dict and parameters of its own."),
        variable=story.bindings.name(entry.tensor) if entry.tensor is not None else None,
        mutation=entry.callsite,
        badges=Badges(wrote=_("replaced in both here")),
        tensor=entry.tensor,
    )


def data_copied(write: Written) -> Fix | None:
    """``t.data = o.data.clone()`` for ``t.data = o.data``."""
    listing, shared = write.listing, None
    for call in write.story.trace.calls:
        storages = {meta.storage for meta in call.inputs[1:]}
        if call.does("takes memory") and write.mutation is not None and write.mutation.storage in storages:
            shared = call.callsite
    statement = listing.statement_at(shared) if shared is not None and listing.whole else None
    if not isinstance(statement, ast.Assign) or expressions.path_text(statement.value) is None:
        return None
    return copied(write, listing, statement.value)


def deeply_copied(write: Written) -> Fix | None:
    """``target = copy.deepcopy(online)`` for ``target = online`` and for ``copy.copy(online)``."""
    listing, ran = write.listing, write.hazard.read
    for place in ran.chain if ran is not None and listing.whole else ():
        called = expressions.parse(place.expression)
        path = expressions.path_text(called.func) if isinstance(called, ast.Call) else None
        still = f"self.{path.rpartition('.')[2]}" if path is not None and "." in path else path
        found = _alias_of(listing, still) if still is not None else None
        if found is not None:
            return deep_copied(write, listing, *found)
    return None


def _alias_of(listing: Listing, still: str) -> tuple[ast.Assign, ast.expr, ast.expr] | None:
    """The statement that binds a network to another one, what it binds it to, and of what that is a shallow copy."""
    for node in listing.nodes:
        for target, value in bindings(node) if isinstance(node, ast.Assign) else ():
            copied = value.args[0] if isinstance(value, ast.Call) and is_shallow_copy(value) else value
            if target == still and isinstance(node, ast.Assign) and isinstance(copied, (ast.Name, ast.Attribute)):
                return node, value, copied
    return None


RULE = Rule(check, {CODE: Cures((data_copied, deeply_copied))})
