"""Memory that a reader may not expect: a copy that an in-place call made, and what only a graph keeps.

Autograd clones the input of an in-place call first where backward needs it. A tensor that lost its name by a rebinding
stays alive where an autograd node keeps it for backward. Both are notes, never an alarm: a report shows the three
largest, from 1 MiB on. A total, a list or a state that keeps the graph of every pass of a loop alive, through which no
backward goes, is a mistake.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise
from operator import itemgetter

from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.fixes.history import kept_without_history
from inplace_magic.hazards.rule import Cures, Event, Found, Row, Rule, rules_of
from inplace_magic.language import N_, _, bytes_of
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.grouped import grouped
from inplace_magic.record.memory import Storage
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import paths_in
from inplace_magic.source.expressions import parse, path_text

GROWS = "graph-grows"
SAVED_NOTHING = "in-place-saved-nothing"
KEPT = "kept-by-the-graph"
LEAST_BYTES = 2**20
"""Memory below this is not worth a note: the small tensors of a lesson stay quiet."""
_LEAST_PASSES = 5


def at_once(spans: Iterable[tuple[int, int | None, int]]) -> tuple[int, int]:
    """Return the most bytes that were there at one time, and how many pieces of memory they were.

    A loop makes and frees the same kilobytes a thousand times; their sum would be memory that never was.

    Args:
        spans: of each piece its first call, the call before which it was gone (None: it stayed) and its bytes.
    """
    moves: list[tuple[int, int, int]] = []
    for first, ended, nbytes in spans:
        moves.append((first, 1, nbytes))
        if ended is not None:
            moves.append((ended, -1, -nbytes))
    moves.sort()  # at the same call, what goes goes first
    _calls, pieces, held = (accumulate(each) for each in zip(*moves, strict=True)) if moves else ((), (), ())
    return max(zip(held, pieces, strict=True), key=itemgetter(0), default=(0, 0))


def cloned_first(story: Story) -> Iterator[Found]:
    """Yield, of each line whose in-place calls kept a clone of what they wrote, the first call."""
    made = ((story.calls.get(story.nodes[saved.node].call), saved) for saved in story.trace.saved)
    written = ((call, _written_and_cloned(story, call, saved), saved) for call, saved in made if call is not None)
    lines = grouped((line_key(call.callsite), (call, wrote, saved)) for call, wrote, saved in written if wrote)
    for found in lines.values():
        call, mutation, saved = found[0]
        spans = ((call.index, story.ended.get(saved.storage or 0), saved.nbytes or 0) for call, _, saved in found)
        nbytes, _count = at_once(spans)
        node = story.nodes[saved.node].name
        words = {"count": len(found), "function": wording.forward_name(node), "size": bytes_of(nbytes)}
        message = _MANY if len(found) > 1 else ""
        yield Found({"line": call}, mutation.tensor, None, words, None, message, saved_by=node, nbytes=nbytes)


def _written_and_cloned(story: Story, call: CallEvent, saved: SavedTensor) -> Mutation | None:
    """Return the write of a call that also made `saved`, on memory of its own, as its own input."""
    own = call.kind == "in-place" and story.maker_of_storage(saved.storage) is call
    if not own or saved.role != "first input":
        return None
    for mutation, after in zip(call.mutations, call.mutated, strict=False):
        if mutation.storage != saved.storage and (after.shape, after.dtype) == (saved.shape, saved.dtype):
            return mutation
    return None


_MANY = N_(
    "{line} writes {tensor} in place, and saved no memory in {count} calls: the gradient of {function} needs the old "
    "values, so PyTorch cloned them first and keeps the clones (at most {size} at one time) for backward."
)


_Kept = tuple[str, TensorMetadata, CallEvent, SavedTensor, Storage]
"""The name that a tensor had, the tensor, the call that took the name, the first save of its memory, its memory."""


def kept_by_the_graph(story: Story) -> Iterator[Hazard]:
    """Yields one note for each line that made at least :data:`LEAST_BYTES` which only the graph kept."""
    savers = {saved.storage: saved for saved in reversed(story.trace.saved)}
    lines: dict[object, list[_Kept]] = {}
    counted: set[int] = set()
    for (_scope, name), bound in story.bindings.scopes.items():
        for (_at, tensor), (again, other) in pairwise(bound):
            meta, new = story.observations.get(tensor), story.observations.get(other)
            if meta is None or new is None or meta.storage is None or new.storage == meta.storage:
                continue
            storage, first, rebinding = story.storages.get(meta.storage), savers.get(meta.storage), story.calls[again]
            if storage is None or first is None or storage.storage in counted:
                continue
            if not meta.is_trainable and _is_kept_by_nobody_else(story, storage, rebinding):
                counted.add(storage.storage)
                entry = name, meta, rebinding, first, storage
                lines.setdefault((line_key(rebinding.callsite), name), []).append(entry)
    for found in lines.values():
        nbytes, count = at_once((again.index, kept.ended, kept.nbytes) for _, _, again, _, kept in found)
        if nbytes >= LEAST_BYTES:
            yield _note(story, found, nbytes, count)


def _is_kept_by_nobody_else(story: Story, storage: Storage, rebinding: CallEvent) -> bool:
    """True if memory of the watch was still there when the next call but one began, not merely until the name moved
    on, and no name leads to it at the end and no call reads it."""
    if storage.born is None or (storage.ended is not None and storage.ended <= rebinding.index + 1):
        return False
    named = any(tensor in story.names for tensor in story.bindings.by_storage.get(storage.storage, ()))
    return not named and all(read.index <= rebinding.index for read in story.given_memory(storage.storage)[-1:])


def _note(story: Story, found: list[_Kept], nbytes: int, count: int) -> Hazard:
    """Return the note; at most `count` of those that were found were there at one time, with `nbytes` bytes."""
    name, meta, rebinding, kept, _storage = found[0]
    node = story.nodes[kept.node]
    saved_site = story.saver_site(node)[1]
    message = _(
        "{line} bound `{name}` to another tensor, but {node} had saved the old one for backward: the "
        "graph keeps {size} that no name reaches."
    )
    if count > 1:
        message = _(
            "{line} bound `{name}` to another tensor, but {node} had saved the old one for backward, and "
            "{count} more like it: at one time the graph keeps {size} that no name reaches."
        )
    line = wording.spot(rebinding.callsite)
    return Hazard(
        code=KEPT,
        severity="info",
        message=message.format(name=name, line=line, node=node.name, count=count - 1, size=bytes_of(nbytes)),
        fix=_(
            "In training backward needs it; `torch.utils.checkpoint` would compute it again instead. To look at "
            "results only, run the line under `torch.no_grad()`."
        ),
        variable=name,
        saved=saved_site,
        saved_by=node.name,
        origin=rebinding.callsite,
        tensor=meta.tensor,
        call=rebinding.index,
        saved_call=node.call,
        nbytes=nbytes,
    )


def kept_of_every_pass(story: Story) -> Iterator[Found]:
    """Yield the lines whose passes are all kept."""
    if sum(saved.nbytes or 0 for saved in story.trace.saved) < LEAST_BYTES:
        return
    unused = (node for node in story.trace.nodes if node.pending and not story.ran_through.get(node.node))
    made = ((story.calls.get(node.call), node) for node in unused)
    lines = grouped((line_key(call.callsite.outermost), node) for call, node in made if call and call.callsite)
    crowded = {key: nodes for key, nodes in lines.items() if len(nodes) >= _LEAST_PASSES}
    if not crowded:
        return
    metas = (meta for call in story.doing("reads values") for meta in call.inputs)
    read = story.reached(meta.node for meta in metas if meta.node is not None)
    for nodes in crowded.values():
        passes = _passes(story, [node for node in nodes if node.node in read])
        nbytes = _kept_by(story, nodes)
        holder = _holder(story, nodes, read) if passes >= _LEAST_PASSES and nbytes >= LEAST_BYTES else None
        if holder is not None:
            call, site = holder
            tensor = next((meta.tensor for meta in (*call.mutated, *call.outputs)), None)
            variable = story.bindings.name(tensor) if tensor is not None else None
            words = {"size": bytes_of(nbytes // passes), "total": bytes_of(nbytes), "passes": passes}
            calls: dict[str, Event | None] = {"line": site, "origin": story.calls[nodes[0].call or 0]}
            yield Found(calls, tensor, variable, words, nbytes=nbytes)


def _passes(story: Story, nodes: list[AutogradNode]) -> int:
    """How many calls used the leaf that these nodes use most, itself or by a view."""
    users: dict[int, set[int | None]] = {}
    for node in nodes:
        behind = [story.nodes[number] for number in node.next if number in story.nodes]
        own = [each for each in behind if each.call == node.call]  # a linear layer's transposed weight
        behind += [story.nodes[number] for each in own for number in each.next if number in story.nodes]
        for leaf in behind:
            if leaf.variable is not None:
                users.setdefault(leaf.variable, set()).add(node.call)
    return max(map(len, users.values()), default=0)


def _kept_by(story: Story, nodes: list[AutogradNode]) -> int:
    """Return the bytes of what nodes keep, without leaves."""
    numbers = {node.node for node in nodes}
    kept = {saved.storage: saved.nbytes or 0 for saved in story.trace.saved if saved.node in numbers}
    leaves = {meta.storage for meta in story.observations.values() if meta.is_trainable}
    return sum(nbytes for storage, nbytes in kept.items() if storage is not None and storage not in leaves)


def _holder(story: Story, nodes: list[AutogradNode], read: set[int]) -> tuple[CallEvent, Callsite] | None:
    """Return the call, and the line, that goes on from what it gave in the pass before; or that puts each pass's result
    into a list."""
    times: Counter[Callsite] = Counter()
    for node in story.trace.nodes:
        call = story.calls.get(node.call) if node.node in read else None
        if call is not None and call.callsite is not None and _goes_on_from_itself(call.callsite.statement):
            times[call.callsite] += 1
            if times[call.callsite] >= _LEAST_PASSES:
                return call, call.callsite
    last = max((story.calls[node.call] for node in nodes if node.call is not None), key=lambda call: call.index)
    site = last.callsite.outermost if last.callsite is not None else None
    if site is None or ".append(" in site.statement:
        return (last, site) if site is not None else None
    bound = _bound_by(site.statement)
    for alias in story.aliases.beside(site):
        if "[" in alias.target and alias.source in bound:
            where = replace(site, line=alias.line, text=alias.text, statement=alias.text, caller=None)
            return last, where
    return None


def _bound_by(statement: str) -> set[str]:
    node = parse(statement)
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {name for target in targets if (name := path_text(target)) is not None}


@cache
def _goes_on_from_itself(statement: str) -> bool:
    """True if a statement reads what it binds: ``total += loss``, ``h = cell(x, h)``."""
    node = parse(statement)
    if isinstance(node, ast.AugAssign):
        return True
    targets = [entry for target in getattr(node, "targets", ()) for entry in ast.walk(target)]
    read = paths_in(ast.unparse(node.value)) if isinstance(node, ast.Assign) else frozenset()
    return any(path_text(target) in read for target in targets if isinstance(target, ast.expr))


LOOPS = rules_of(
    Row(
        GROWS,
        "warning",
        kept_of_every_pass,
        message=N_(
            "{line} keeps the graph of every pass: {size} more with each, {total} after {passes}. No backward goes "
            "through it; only numbers are read from it."
        ),
        fix=N_("Keep the values alone, by `.detach()` or `.item()`, or run the loop under `with torch.no_grad():`."),
        ways=(kept_without_history,),
        badges=Badges(wrote=N_("kept here"), origin=N_("made here, pass after pass")),
    ),
)
"""Of loops, whose every pass is kept."""
RULES = rules_of(
    Row(
        SAVED_NOTHING,
        "info",
        cloned_first,
        message=N_(
            "{line} writes {tensor} in place, and saved no memory: the gradient of {function} needs the old values, so "
            "PyTorch cloned them first and keeps the clone ({size}) for backward."
        ),
        fix=N_("The ordinary form costs no more memory and spares the copy."),
        nameless=N_("its input"),
    ),
)
RULES += (Rule(KEPT, "info", kept_by_the_graph, {KEPT: Cures()}),)
