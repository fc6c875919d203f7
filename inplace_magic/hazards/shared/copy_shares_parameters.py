"""A network that was to stand still shares its parameters with the one that is trained."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from itertools import pairwise, permutations

from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.fixes.of_origin import deep_copied
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.grouped import grouped
from inplace_magic.record.paths import before_first_step
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import level
from inplace_magic.source.listing import Listing, whole_listing
from inplace_magic.source.spots import Spot

CODE = "copy-shares-parameters"
_SHALLOW = ("copy.copy", "copy")

_Write = tuple[CallEvent, Mutation]


@dataclass(eq=False)
class _Way:
    """A name or attribute by which one run of a function called a network."""

    path: str
    place: Callsite
    runs: list[CallEvent] = field(default_factory=list)
    """The calls that got its parameters."""

    @property
    def memories(self) -> set[int]:
        return {memory for call in self.runs for memory in _parameters_of(call)}


def moved_along(story: Story) -> Iterator[Found]:
    """Yield the writes that moved a network which was to stand still."""
    yield from _called_by_two_names(story)
    yield from _given_the_memory(story)


def _moved(still: str, moving: str, write: _Write, read: CallEvent) -> Found:
    """Return what is found of a network that a write of the other's parameters moved, and that was run after that."""
    call, mutation = write
    return Found({"line": call, "read": read}, mutation.tensor, words={"moving": moving, "still": still})


def two_parameters(story: Story) -> Iterator[Found]:
    """Yield the last write of memory that two parameters share and both wrote."""
    for memory in _shared_memories(story):
        writes = [known[-1] for tensor in memory if (known := _writes(story, tensor))]
        if len(writes) > 1:
            call, mutation = max(writes, key=lambda write: write[0].index)
            second = next(m for _call, m in writes if m.tensor != mutation.tensor)
            one, other = (next(iter(story.names.get(m.tensor, ())), f"T{m.tensor}") for m in (mutation, second))
            yield Found({"line": call}, mutation.tensor, one, {"one": one, "other": other})


def given_to_both(story: Story) -> Iterator[Found]:
    """Yield the lines that gave a shallow copy of a module another parameter, and so the original."""
    for entry in story.trace.registrations:
        reads = story.given_to.get(entry.tensor, ()) if entry.tensor is not None else ()
        is_run = any(call.index >= entry.call and call.modules for call in reads)
        if entry.shared and entry.replaced is not None and is_run:
            variable = story.bindings.name(entry.tensor) if entry.tensor is not None else None
            yield Found({"line": entry}, entry.tensor, variable, {"name": entry.name})


def _called_by_two_names(story: Story) -> Iterator[Found]:
    """Yield the networks that one function ran by two names, through only one of which a backward went: by the other
    one it was held against itself, or that is a copy by the text."""
    for ways in _ways(story):
        sharing = [way for way in ways if any(way.memories & other.memories for other in ways if other is not way)]
        for still, moving in permutations(sharing, 2):
            memories = moving.memories
            before = max((call.index for call in still.runs if not _parameters_of(call) <= memories), default=-1)
            runs = [call for call in still.runs if call.index > before]
            if {each for call in runs for each in _parameters_of(call)} != memories:
                continue
            if _is_trained(story, runs) or not _is_trained(story, moving.runs):
                continue
            found = (write for each in memories for write in story.writes_to_storage.get(each, ()))
            writes = sorted(found, key=lambda write: write[0].index)
            if _meet(story, runs, moving.runs):
                writes = [write for write in writes if write[0].index > runs[0].index]
            else:
                writes = [write for write in writes if _is_below_the_copy(story, still, moving, write[0])]
            both = next(((write, read) for read in runs for write in writes if write[0].index < read.index), None)
            if both is not None:
                yield _moved(still.path, moving.path, *both)


def _ways(story: Story) -> Iterator[list[_Way]]:
    """Yield the ways of each run of a function that called several networks."""
    found: dict[object, dict[str, _Way]] = {}
    known: dict[int, list[_Way]] = {}  # by `id` of the place, of which a loop has few
    for key, site in story.sites.items():
        for place, path in () if site in story.stepping else _networks_called(site):
            run = found.setdefault((place.whose, place.caller), {})
            known.setdefault(key, []).append(run.setdefault(path, _Way(path, place)))
    for call in story.trace.calls:
        ways = known.get(id(call.callsite), ())
        for way in ways if ways and call.modules and _parameters_of(call) else ():
            way.runs.append(call)
    for run in found.values():
        if len(used := [way for way in run.values() if way.runs]) > 1:
            yield used


def _networks_called(site: Callsite) -> Iterator[tuple[Callsite, str]]:
    """Yield the expressions on the way to a call that call a module, ``self.target(x)``, and what they call."""
    for place, inner in pairwise([*site.chain, None]):
        if place is None or (place.direct if inner is None else not inner.function.endswith(".forward")):
            continue
        node = expressions.parse(place.expression)
        path = expressions.path_text(node.func) if isinstance(node, ast.Call) else None
        if path is not None:
            yield place, path


def _parameters_of(call: CallEvent) -> Set[int]:
    return {meta.storage for meta in call.inputs if meta.is_trainable and meta.storage is not None}


def _is_trained(story: Story, runs: list[CallEvent]) -> bool:
    """True if a backward went through one of the calls."""
    nodes = (output.node for call in runs for output in call.outputs)
    return any(node is not None and story.ran_through.get(node) for node in nodes)


def _meet(story: Story, runs: list[CallEvent], online: list[CallEvent]) -> bool:
    """True if a result without a gradient, and one with it, come together in one operation."""
    still = {output.tensor for call in runs for output in call.outputs}
    trained = {output.tensor for call in online for output in call.outputs}
    ran = {call.index for call in (*runs, *online)}
    for call in story.trace.calls:
        given = {meta.tensor for meta in call.inputs}
        if not given.isdisjoint(still) and not given.isdisjoint(trained):
            return True
        if call.index not in ran and not given.isdisjoint(still):
            still |= {output.tensor for output in call.outputs if output.node is None}
        if call.index not in ran and not given.isdisjoint(trained):
            trained |= {output.tensor for output in call.outputs if output.node is not None}
    return False


def _is_below_the_copy(story: Story, still: _Way, moving: _Way, write: CallEvent) -> bool:
    """True if a write stands below ``still = copy.copy(moving)``, or below ``still = moving`` under a condition
    on what is best."""
    listing, place = whole_listing(story.trace, still.place), level(write.callsite, still.place)
    statement, value, source = (_alias_of(listing, still.path) if listing is not None else None) or (None, None, None)
    if listing is None or place is None or statement is None or expressions.path_text(source) != moving.path:
        return False
    return place.line > statement.lineno and (value is not source or Spot(listing, statement).keeps_the_best)


def _alias_of(listing: Listing, still: str) -> tuple[ast.Assign, ast.expr, ast.expr] | None:
    """The statement that binds a network to another one, what it binds it to, and of what that is a shallow copy."""
    for node in listing.nodes:
        if isinstance(node, ast.Assign) and [expressions.path_text(each) for each in node.targets] == [still]:
            value = node.value
            shallow = isinstance(value, ast.Call) and expressions.path_text(value.func) in _SHALLOW
            source = value.args[0] if isinstance(value, ast.Call) and shallow and value.args else value
            if isinstance(source, (ast.Name, ast.Attribute)):
                return node, value, source
    return None


def _given_the_memory(story: Story) -> Iterator[Found]:
    """Yield the networks that have parameters of their own, in the memory of another network's which are moved: no
    backward fills them and nobody writes them there."""
    for memory in _shared_memories(story):
        for one, other in permutations(memory, 2):
            since = _given_at(story, one)
            if story.came_to_leaf(one) or any(call.index > since for call, _m in story.writes_to_tensor.get(one, ())):
                continue
            write = next((entry for entry in _writes(story, other) if entry[0].index > since), None)
            runs = (read for read in story.given_to.get(one, ()) if read.modules)
            read = next((read for read in runs if write is not None and read.index > write[0].index), None)
            if write is not None and read is not None:
                still, moving = (before_first_step(story.names[each][0])[0] for each in (one, other))
                yield _moved(still, moving, write, read)


def _given_at(story: Story, tensor: int) -> int:
    """Return since when a parameter has had its memory: since an alias of that was taken to be given to it."""
    storage = story.observations[tensor].storage
    met = story.first_seen_on(tensor, storage)
    aliases = (call for call in story.doing("detached") if call.outputs and call.outputs[0].storage == storage)
    return max((call.index for call in aliases if call.index < met), default=met)


def _shared_memories(story: Story) -> Iterator[list[int]]:
    """Yield the parameters that lie on the same elements, where there are several."""
    metas = (story.observations.get(tensor) for tensor in story.names)
    leaves = (meta for meta in metas if meta is not None and meta.is_trainable and meta.storage is not None)
    found = grouped(((meta.storage, region_of(meta)), meta.tensor) for meta in leaves)
    yield from (tensors for tensors in found.values() if len(tensors) > 1)


def _writes(story: Story, tensor: int) -> list[_Write]:
    """Return the writes of a parameter while it lay in its memory."""
    storage = story.observations[tensor].storage
    return [entry for entry in story.writes_to_tensor.get(tensor, ()) if entry[1].storage == storage]


def data_copied(write: Written) -> Fix | None:
    """``t.data = o.data.clone()`` for ``t.data = o.data``."""
    listing, shared = write.listing, None
    for call in write.story.doing("takes memory"):
        if write.mutation is not None and write.mutation.storage in {meta.storage for meta in call.inputs[1:]}:
            shared = call.callsite
    statement = listing.statement_at(shared) if shared is not None and listing.whole else None
    if not isinstance(statement, ast.Assign) or expressions.path_text(statement.value) is None:
        return None
    return write.copied(statement.value)


def deeply_copied(write: Written) -> Fix | None:
    """``target = copy.deepcopy(online)`` for ``target = online`` and for ``copy.copy(online)``."""
    listing, ran = write.listing, write.hazard.read
    for place in ran.chain if ran is not None and listing.whole else ():
        called = expressions.parse(place.expression)
        path = expressions.path_text(called.func) if isinstance(called, ast.Call) else None
        still = f"self.{path.rpartition('.')[2]}" if path is not None and "." in path else path
        found = _alias_of(listing, still) if still is not None else None
        if found is not None:
            return deep_copied(write, listing, *found[1:])
    return None


RULES = rules_of(
    Row(
        CODE,
        "warning",
        moved_along,
        message=N_(
            "{line} wrote the parameters of `{moving}`, which `{still}` shares, and {read} then runs `{still}`: "
            "no copy was made, so `{still}` moves with every step. PyTorch gives no error."
        ),
        fix=N_("Give `{still}` parameters of its own: `{still} = copy.deepcopy({moving})`."),
        ways=(data_copied, deeply_copied),
    ),
    Row(
        CODE,
        "warning",
        two_parameters,
        message=N_(
            "{line} wrote `{one}`, which shares its memory with another parameter, `{other}`, that was written "
            "as well: each step of one of them moves both. PyTorch gives no error."
        ),
        fix=N_("Make each parameter of a copy: `nn.Parameter(init.clone())`; to tie two layers, assign one parameter."),
    ),
    Row(
        CODE,
        "warning",
        given_to_both,
        message=N_(
            "{line} gives a shallow copy of a module another `{name}`, and such a copy shares its dict of parameters "
            "with the original: the original now has the new `{name}` too. PyTorch gives no error."
        ),
        fix=N_("Copy the module with `copy.deepcopy`, which gives the copy a dict and parameters of its own."),
        badges=Badges(wrote=N_("replaced in both here")),
    ),
)
