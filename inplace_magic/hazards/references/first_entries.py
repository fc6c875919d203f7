"""A result that begins as the very first entry of what is put together, and takes the others in place.

``if name in total: total[name] += share`` and ``else: total[name] = share`` say of one thing, `share`, that it is what
is added, and what the sum begins as. So do ``best = scores[0]`` above ``for score in scores[1:]``, ``next(entries)``
and :func:`functools.reduce` without a first value. The text shows that much; that the first entry was meant to stay
what it is, the record does: one line reads it as it reads an entry that was added to it.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from inplace_magic.analysis.overlap import lies_within, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.paths import before_last_step
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, whole_listing
from inplace_magic.source.operands import written_in

_MOST = 64
"""Writes by one line that are looked at."""
_READS = 256
"""Reads of a tensor that are looked at."""
_STEPS = 3
"""Calls by which what is held against the entries is followed back to their sum."""
_PATHS = (ast.Name, ast.Attribute, ast.Subscript)
_AT_ONCE = ("sum", "max", "min", "sorted")
"""Functions of Python that go through all they are given by one expression."""

_KEY = re.compile(r"""\[(?:\d+|"[^"\]]*"|'[^'\]]*')\]""")


@dataclass(frozen=True)
class FirstEntryWritten:
    """An entry that a result began as, written by the line that adds the others, and read like one of those."""

    call: CallEvent
    tensor: int
    result: str
    """What the line says for the result."""
    begun: str
    """The statement by which it began as an entry, as one line."""
    entry: ast.expr | None
    """That entry, in the text."""
    read: CallEvent
    of_all: bool = False
    """The entries are rows of one tensor, which is read as a whole."""


def first_entries_written(story: Story) -> Iterator[FirstEntryWritten]:
    """Yields one for each line that adds."""
    told: set[tuple[object, ...]] = set()
    asked: Counter[Callsite] = Counter()
    for call, mutation, earlier in story.writes_counted:
        site = call.callsite
        if earlier >= _MOST or site is None or len(call.mutations) != 1:
            continue
        if call.error is not None or len(call.inputs) < 2 or not _may_be_an_entry(story, mutation):
            continue
        line = site.function, site.cell, site.file, site.line
        asked[site] += 1
        if asked[site] > _MOST or line in told:
            continue
        for result, begun, entry in beginnings(story, call, site):
            mine = _writes_of_the_line(story, call, site)
            read = _read_like_another(story, call, mine)
            against = _held_against_all(story, call, mine) if read is None else None
            reading = read or against
            if reading is not None:
                told.add(line)
                tensor, of_all = call.mutations[0].tensor, read is None
                yield FirstEntryWritten(call, tensor, result, begun, entry, reading, of_all)
                break


def _may_be_an_entry(story: Story, mutation: Mutation) -> bool:
    meta = story.observations.get(mutation.tensor)
    return meta is not None and mutation.storage is not None and not meta.is_trainable


def beginnings(story: Story, call: CallEvent, site: Callsite) -> Iterator[tuple[str, str, ast.expr | None]]:
    """(what the line says for the result, the statement that it began by, the entry there)."""
    place: Callsite | None = site
    while place is not None:
        if _reduces(place.expression):
            yield place.expression, place.statement, None
        place = place.caller if place is site else None
    target = written_in(call, site.expression, call.mutations[0].tensor, direct=site.direct)
    listing = whole_listing(story.trace, site) if isinstance(target, _PATHS) else None
    statement = listing.statement_at(site) if listing is not None else None
    if target is None or listing is None or statement is None:
        return
    result = ast.unparse(target)
    added = [ast.unparse(node) for node in _added(call, site) if ast.unparse(node) != result]
    if len(added) == 1:
        for begun, entry in _begun_as(listing, listing.scope_of(statement), statement, result, added[0]):
            yield result, ast.unparse(begun), entry


def _added(call: CallEvent, site: Callsite) -> list[ast.expr]:
    """What the line adds, where it has a name for that: of a value that it computes, the first entry is none."""
    listed = expressions.operands(site.expression, method=call.does("method"))
    return [node for node in map(expressions.without_aliasing, listed) if isinstance(node, _PATHS)]


@lru_cache(maxsize=1024)
def _reduces(expression: str) -> bool:
    """``functools.reduce(operator.iadd, maps)``, without a value to begin with."""
    node = expressions.parse(expression)
    name = (expressions.path_text(node.func) or "").rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.Call) and name in ("reduce", "accumulate") and len(node.args) == 2 and not node.keywords


def _begun_as(
    listing: Listing, scope: ast.AST, adds: ast.stmt, result: str, added: str
) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """The statements of a function by which a result begins as what it later adds."""
    container = _gone_through(listing, adds, added)
    for node in listing.inside(scope):
        if not isinstance(node, (ast.Assign, ast.Expr)):
            continue
        for value in _values_given(node, result):
            if _is(value, added) or (container is not None and _is_first_of(listing, node, value, container)):
                yield node, value


def _values_given(node: ast.Assign | ast.Expr, result: str) -> Iterator[ast.expr]:
    """What a statement puts into a place: ``total[k] = x``, ``total = x if … else …``, ``parts.append(x)``."""
    if isinstance(node, ast.Assign):
        if any(_is(target, result) for target in node.targets):
            yield from (node.value.body, node.value.orelse) if isinstance(node.value, ast.IfExp) else (node.value,)
        return
    called = node.value.func if isinstance(node.value, ast.Call) else None
    if not isinstance(called, ast.Attribute) or not isinstance(node.value, ast.Call):
        return
    owner, step = before_last_step(result)
    if not step.startswith("[") or ast.unparse(called.value) != owner:
        return
    if called.attr == "append" and len(node.value.args) == 1:
        yield node.value.args[0]
    elif called.attr == "setdefault" and len(node.value.args) == 2 and f"[{ast.unparse(node.value.args[0])}]" == step:
        yield node.value.args[1]


def _is(node: ast.expr, path: str) -> bool:
    """Whether an expression is that of a path. To write out what cannot be takes longer than all else."""
    if isinstance(node, ast.Name):
        return node.id == path
    last = node.attr if isinstance(node, ast.Attribute) else "]"
    return isinstance(node, _PATHS) and path.endswith(last) and ast.unparse(node) == path


def _gone_through(listing: Listing, adds: ast.stmt, added: str) -> str | None:
    """`maps` of ``for m in maps[1:]``, and the iterator of ``for m in entries``."""
    for loop in listing.around(adds):
        if isinstance(loop, (ast.For, ast.AsyncFor)) and ast.unparse(loop.target) == added:
            over = loop.iter
            while isinstance(over, ast.Subscript) and isinstance(over.slice, ast.Slice):
                over = over.value
            return ast.unparse(over) if isinstance(over, _PATHS) else None
    return None


def _is_first_of(listing: Listing, statement: ast.stmt, value: ast.expr, container: str) -> bool:
    """``maps[0]``, ``next(entries)``, ``maps.pop()``."""
    if isinstance(value, ast.Subscript):
        return ast.unparse(value.value) == container and isinstance(value.slice, ast.Constant)
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Name) and value.func.id == "next" and len(value.args) == 1:
        return ast.unparse(value.args[0]) == container
    called = value.func
    return isinstance(called, ast.Attribute) and called.attr == "pop" and ast.unparse(called.value) == container


def _read_like_another(story: Story, call: CallEvent, mine: list[CallEvent]) -> CallEvent | None:
    """A call that gets the first entry after all is added, where the same expression gets one of the others."""
    mutation = call.mutations[0]
    others = {meta.tensor for each in mine[:_MOST] for meta in each.inputs if meta.storage != mutation.storage}
    last = mine[-1].index
    for other in others:
        meta = story.observations.get(other)
        if meta is None or story.is_written_between(meta.storage, call.index, len(story.trace.calls)):
            continue
        for read in _reads(story, mutation.tensor, last):
            if _is_read_alike(story, read, mutation.tensor, other, last):
                return read
    return None


def _writes_of_the_line(story: Story, call: CallEvent, site: Callsite) -> list[CallEvent]:
    mutation = call.mutations[0]
    return [
        each
        for each, wrote in story.writes_to_storage.get(mutation.storage or -1, ())
        if wrote.tensor == mutation.tensor and each.callsite is not None and each.callsite.same_line(site)
    ]


def _held_against_all(story: Story, call: CallEvent, mine: list[CallEvent]) -> CallEvent | None:
    """Where the entries are rows of one tensor: the call that holds the result, or what was computed of it, against all
    of them, the first among them."""
    last, mine = mine[-1].index, mine[:_MOST]
    tensor, storage = call.mutations[0].tensor, call.mutations[0].storage
    rows = {meta.tensor: region_of(meta) for each in mine for meta in each.inputs if meta.storage == storage}
    first = rows.pop(tensor, None)
    if first is None or not rows or any(meta.storage != storage for each in mine for meta in each.inputs):
        return None
    until = next((write.at for write in story.writes_to_memory(storage) if write.at > last), len(story.trace.calls))
    for whole in story.bindings.by_storage.get(storage or -1, ()):
        for read in islice(story.given_between(whole, last, until), _READS):
            if whole == tensor or whole in rows or not read.does("compares") or len(read.inputs) != 2:
                continue
            place = next(at for at, meta in enumerate(read.inputs) if meta.tensor == whole)
            region, other = region_of(read.inputs[place]), read.inputs[1 - place]
            if all(lies_within(each, region) for each in (first, *rows.values())) and _comes_from(story, other, tensor):
                return read
    return None


def _comes_from(story: Story, meta: TensorMetadata, tensor: int) -> bool:
    """Whether a tensor is another one, or was made of nothing but it."""
    found, before = meta.tensor, len(story.trace.calls)
    for _step in range(_STEPS):
        if found == tensor:
            return True
        made = story.innermost_new(found, before)
        if made is None or len({each.tensor for each in made.inputs}) != 1:
            return False
        found, before = made.inputs[0].tensor, made.index
    return found == tensor


def _reads(story: Story, tensor: int, after: int) -> Iterator[CallEvent]:
    """The first calls that get a tensor after another call and let it be."""
    for count, read in enumerate(story.given_between(tensor, after, len(story.trace.calls))):
        if count == _READS or read.mutations:
            return
        if read.looks_at_values:
            yield read


def _is_read_alike(story: Story, read: CallEvent, tensor: int, other: int, after: int) -> bool:
    if read.callsite is None:
        return False
    if read.does("gathers"):
        return any(meta.tensor == other for meta in read.inputs)
    if _are_entries_of_one(read, tensor, other):
        return True
    at_once, mine = _goes_through(read.callsite.expression), _positions(read.inputs, tensor)
    for each in story.given_between(other, after, len(story.trace.calls)):
        if each.callsite == read.callsite and (at_once or mine & _positions(each.inputs, other)):
            return each is not read or at_once
    return False


def _are_entries_of_one(read: CallEvent, tensor: int, other: int) -> bool:
    """``shares[0]["w"] - shares[1]["w"]``: both by one path, but for plain keys."""
    assert read.callsite is not None
    listed = expressions.operands(read.callsite.expression, method=read.does("method"))
    given = [meta.tensor for meta in read.inputs]
    if len(given) != 2 or len(listed) != 2 or set(given) != {tensor, other} or not read.callsite.direct:
        return False
    one, another = (_KEY.sub("[]", ast.unparse(node)) for node in listed)
    return one == another and "[]" in one


def _positions(inputs: tuple[TensorMetadata, ...], tensor: int) -> set[int]:
    return {place for place, meta in enumerate(inputs) if meta.tensor == tensor}


@lru_cache(maxsize=1024)
def _goes_through(expression: str) -> bool:
    node = expressions.parse(expression)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _AT_ONCE
