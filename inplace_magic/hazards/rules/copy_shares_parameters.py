"""A network that was to stand still shares its parameters with the one that is trained.

``teacher = student`` and ``copy.copy(student)`` make no copy of a parameter, and ``target.weight.data =
online.weight.data`` gives two parameters one memory. Each step of the optimizer then moves the teacher, the target, the
best model so far as well.

Bad::

    target = copy.copy(online)
    optimizer.step()                # moves both
    target(x)

Good::

    target = copy.deepcopy(online)

Found where all parameters of a network are those of another one, its name says that it is to stay behind (``target``,
``teacher``, ``old``, ``best``, ``ema``, ``frozen``, …), they were written below the statement that shared them, and the
network ran again after that. Found whatever it is called is a network that an object holds by two attributes
(``self.target = self.online``), where it runs by one of them without recording and what it gives is held against what
it gives by the other one. So are two parameters that lie on the same elements and are both written: each step of one
moves the other. Silent for one parameter under two names (weight tying), for networks that share some of their layers,
and where the name was given after the last write. Networks that variables name are told from the text of the watched
cell, which ``with watch():`` and a story of several cells do not have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product

from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.clone import edits_of
from inplace_magic.hazards.fixes.deep_copy import deep_copied
from inplace_magic.hazards.fixes.out_of_place import cloned
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.hazards.shared_networks import held_against_itself, moved_with, source_of
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, Region
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, texts
from inplace_magic.source.tops import Top

CODE = "copy-shares-parameters"

_STANDS = re.compile(
    r"(^|_)(target|teacher|old|best|ema|average|averaged|frozen|ref|reference|prev|previous|initial|init|backup|orig"
    r"|original|snapshot|anchor|momentum|slow|shadow|before)($|_|\d)"
)
_Memory = tuple[int | None, Region | None]


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each pair of networks, and one for each pair of parameters that are both written."""
    memories = _parameters(story)
    for top, (still, moving) in product(story.tops, _pairs(memories)):
        shared_at = _shared_at(story, top, still, moving)
        found = _moved(story, top, memories, still, shared_at) if shared_at is not None else None
        if found is not None:
            yield _network(story, still, moving, *found)
    told: set[str] = set()
    for listing in texts(story.trace):
        for still, moving, call, mutation, read in moved_with(story, listing, _stands):
            told.add(still)
            yield _network(story, still, moving, call, mutation, read)
    for still, moving, call, mutation, read in held_against_itself(story):
        if still not in told:
            yield _network(story, still, moving, call, mutation, read)
    for memory, named in memories.items():
        tensors = dict.fromkeys(tensor for tensor, _name in named)
        writes = [last for tensor in tensors if (last := _last_write(story, tensor, memory[0])) is not None]
        if len(writes) > 1:
            yield _two_parameters(story, writes)


def _last_write(story: Story, tensor: int, storage: int | None) -> tuple[CallEvent, Mutation] | None:
    """The last write of a tensor while it lay in a memory."""
    writes = (entry for entry in story.writes_to_tensor.get(tensor, ()) if entry[1].storage == storage)
    return max(writes, key=lambda entry: entry[0].index, default=None)


def _parameters(story: Story) -> dict[_Memory, list[tuple[int, str]]]:
    """The parameters, and their names, by the elements on which they lie."""
    found: dict[_Memory, list[tuple[int, str]]] = {}
    for tensor, names in story.names.items():
        meta = story.observations.get(tensor)
        if meta is not None and meta.is_leaf and meta.requires_grad and meta.storage is not None:
            found.setdefault((meta.storage, region_of(meta)), []).extend((tensor, name) for name in names)
    return found


def _pairs(memories: dict[_Memory, list[tuple[int, str]]]) -> Iterator[tuple[str, str]]:
    """(network that is to stand still, network whose parameters it has), by their names."""
    where = {name: memory for memory, named in memories.items() for _tensor, name in named}
    roots: dict[str, list[str]] = {}
    for name in where:
        root = _root(name)
        roots.setdefault(root, []).append(name[len(root) :])
    for still, rests in roots.items():
        if not _stands(still) or rests == [""]:
            continue
        for moving in roots:
            if moving == still or _stands(moving):
                continue
            if all(where.get(moving + rest) == where[still + rest] for rest in rests):
                yield still, moving


def _stands(name: str) -> bool:
    return _STANDS.search(name.lower()) is not None


def _root(name: str) -> str:
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def _shared_at(story: Story, top: Top, still: str, moving: str) -> int | None:
    """The line from which on the two share their parameters."""
    for call in story.trace.calls:
        place = top.place(call.callsite)
        if call.does("takes memory") and place is not None and still in _names_in(top.listing, place.line):
            return place.line
    for node in ast.walk(top.scope):
        if isinstance(node, ast.Assign) and top.is_own(node):
            for target, value in _bindings(node):
                if target == still and source_of(value) == moving:
                    return node.lineno
        assigns = isinstance(node, ast.Call) and any(entry.arg == "assign" for entry in node.keywords)
        if isinstance(node, ast.Call) and assigns and expressions.root_name(node.func) == still:
            return node.lineno
    return None


def _names_in(listing: Listing, line: int) -> set[str]:
    """The names in a statement and in the heads of the loops around it."""
    statement = listing.statement_on(line)
    if statement is None:
        return set()
    heads = [node.iter for node in listing.around(statement) if isinstance(node, ast.For)]
    return {n.id for part in (statement, *heads) for n in ast.walk(part) if isinstance(n, ast.Name)}


def _bindings(node: ast.Assign) -> Iterator[tuple[str | None, ast.expr]]:
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from ((expressions.path_text(t), v) for t, v in zip(target.elts, node.value.elts, strict=False))
        else:
            yield expressions.path_text(target), node.value


def _moved(
    story: Story, top: Top, memories: dict[_Memory, list[tuple[int, str]]], still: str, line: int
) -> tuple[CallEvent, Mutation, CallEvent] | None:
    """The first write below a line of a parameter that the network has, and its next run."""
    for (storage, _region), named in memories.items():
        if storage is None or not any(_root(name) == still for _tensor, name in named):
            continue
        for call, mutation in story.writes_to_storage.get(storage, ()):
            place = top.place(call.callsite)
            if place is None or place.line <= line or _runs(top, call, still):
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


def _network(story: Story, still: str, moving: str, call: CallEvent, mutation: Mutation, read: CallEvent) -> Hazard:
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{line} wrote the parameters of `{moving}`, and they are those of `{still}` as well, which {read} then "
            "runs: no copy of them was made, so `{still}` moves with every step. PyTorch gives no error."
        ).format(line=wording.spot(call.callsite), moving=moving, still=still, read=wording.spot(read.callsite)),
        fix=_("Give `{still}` parameters of its own: `{still} = copy.deepcopy({moving})`.").format(
            still=still, moving=moving
        ),
        variable=story.bindings.written_name(call, mutation.tensor),
        mutation=call.callsite,
        mutations=(call.callsite,) if call.callsite is not None else (),
        read=read.callsite,
        read_call=read.index,
        tensor=mutation.tensor,
        call=call.index,
    )


def _two_parameters(story: Story, writes: list[tuple[CallEvent, Mutation]]) -> Hazard:
    call, mutation = max(writes, key=lambda entry: entry[0].index)
    second = next(m for _call, m in writes if m.tensor != mutation.tensor)
    names = [next(iter(story.names.get(m.tensor, ())), f"T{m.tensor}") for m in (second, mutation)]
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{line} wrote `{one}`, and that is the memory of `{other}` too, which is another parameter and was written "
            "as well: each step of one of them moves both. PyTorch gives no error."
        ).format(line=wording.spot(call.callsite), one=names[1], other=names[0]),
        fix=_("Make each parameter of a copy: `nn.Parameter(init.clone())`; to tie two layers, assign one parameter."),
        variable=names[1],
        mutation=call.callsite,
        mutations=(call.callsite,) if call.callsite is not None else (),
        tensor=mutation.tensor,
        call=call.index,
    )


def _function_of(site: Callsite) -> str:
    node = expressions.parse(site.expression)
    path = expressions.path_text(node.func) if isinstance(node, ast.Call) else None
    return (path or "").rpartition(".")[2]


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
    edits = edits_of(listing, [cloned(listing, statement.value)])
    return Fix(write.site, listing, edits, write.meta.nbytes if write.meta is not None else None) if edits else None


def deeply_copied(write: Written) -> Fix | None:
    """``target = copy.deepcopy(online)`` for ``target = online`` and for ``copy.copy(online)``."""
    listing, ran = write.listing, write.hazard.read
    while ran is not None and not _stands(_function_of(ran)):
        ran = ran.caller
    called = expressions.parse(ran.expression) if ran is not None else None
    if not listing.whole or not isinstance(called, ast.Call):
        return None
    path = expressions.path_text(called.func) or ""
    still = f"self.{path.rpartition('.')[2]}" if "." in path else path
    for node in ast.walk(listing.tree):
        for target, value in _bindings(node) if isinstance(node, ast.Assign) else ():
            shallow = isinstance(value, ast.Call) and expressions.path_text(value.func) in ("copy.copy", "copy")
            copied = value.args[0] if shallow and isinstance(value, ast.Call) else value
            if target == still and isinstance(node, ast.Assign) and isinstance(copied, (ast.Name, ast.Attribute)):
                return deep_copied(write, node, value, copied)
    return None


RULE = Rule(check, {CODE: Cures((data_copied, deeply_copied))})
