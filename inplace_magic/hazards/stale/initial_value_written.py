"""An initial value was written in place, so the next round begins with what the last one left.

``h = h0`` in a loop has an effect in its second pass only where it is to begin anew: it gives the name the tensor that
it has already. What is behind ``functools.lru_cache`` is one tensor for all its callers. So a write on top of what the
round before left is in what the next round begins with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.of_origin import begun_with_a_copy
from inplace_magic.hazards.references.engine import writes_of
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, whole_listing
from inplace_magic.source.spots import spot_of
from inplace_magic.source.statements import spans

CODE = "initial-value-written"

_CACHES = ("lru_cache", "cache", "cached_property")


def begun_again(story: Story) -> Iterator[Found]:
    """Yield the first write of each line to a name that its loop gives the initial value anew, on top of what an
    earlier round left."""
    told: set[object] = set()
    begun = lru_cache(None)(lambda index, tensor: _begins_anew(story, story.calls[index], tensor))
    for first, _last, call, mutation in _written_again(story):
        alias, used = begun(first.index, mutation.tensor) or (None, 0)
        line = line_key(call.callsite)
        if alias is None or line in told or used >= call.index:
            continue
        if not _is_filled(story, mutation, first.index, call.index):
            told.add(line)
            words = {
                "name": alias.target,
                "source": alias.source,
                "code": wording.code(alias.text),
                "number": alias.line,
                "copy": wording.code(alias.text + ".clone()"),
            }
            yield Found({"line": call}, mutation.tensor, alias.target, words)


def cached_value_written(story: Story) -> Iterator[Found]:
    """Yield the first write of each line to a tensor that a cached function gave, and that others wrote or read since
    the line wrote it last."""
    told: set[object] = set()
    made_by = lru_cache(None)(lambda index, tensor: _cached(story, story.calls[index], tensor))
    for first, last, call, mutation in _written_again(story):
        maker, tensor, line = made_by(first.index, mutation.tensor), mutation.tensor, line_key(call.callsite)
        if maker is None or line in told:
            continue
        if first.callsite != call.callsite or _is_read_elsewhere(story, tensor, last.index, call):
            told.add(line)
            name = story.bindings.written_path(call, tensor) or ""
            yield Found({"line": call}, tensor, name, {"name": name, "function": maker})


def _written_again(story: Story) -> Iterator[tuple[CallEvent, CallEvent, CallEvent, Mutation]]:
    """Yield (first write, last write, this one, what it writes) for each write of a tensor by a line that has written
    it before."""
    known: dict[tuple[object, ...], tuple[CallEvent, CallEvent]] = {}
    for call, mutation in writes_of(story.in_place):
        if not call.does("overwrites"):
            key = *line_key(call.callsite), mutation.tensor
            if key in known:
                yield *known[key], call, mutation
            known[key] = known.get(key, (call,))[0], call


def _begins_anew(story: Story, call: CallEvent, tensor: int) -> tuple[AliasStatement, int] | None:
    """Return the statement in a loop, above a write, that gives the written name to a value from before the loop which
    serves nothing else from the loop on; and the first read of the tensor below the write in that loop, before which
    all belongs to the same pass."""
    written, site, spot = story.bindings.written_path(call, tensor), call.callsite, spot_of(story.trace, call.callsite)
    if site is None or spot is None or written is None or not written.isidentifier():
        return None
    for alias in story.aliases.beside(site):
        node = spot.listing.statement_on(alias.line)
        named = isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and len(node.targets) == 1
        loop = spot.listing.parents.get(node) if named and node is not None else None
        if alias.target != written or alias.line >= site.line or not isinstance(loop, (ast.For, ast.While)):
            continue
        block = next((entry for entry in loop.body if spans(entry, site.line)), None)
        other = alias.source in expressions.variables_bound(loop) or _serves_otherwise(spot.listing, loop, alias.source)
        read = _read_below(story, call, tensor, block, loop) if block is not None and not other else None
        if read is not None:
            return alias, read.index
    return None


def _read_below(
    story: Story, call: CallEvent, tensor: int, block: ast.stmt, loop: ast.For | ast.While
) -> CallEvent | None:
    """Return the first read of a tensor after a call, further down in a loop than a statement of it."""
    first, last = block.end_lineno or block.lineno, loop.end_lineno or loop.lineno
    reads = story.readers(tensor, call.index, lambda place: place is not None and first < place.line <= last)
    return next(reads, None)


def _is_filled(story: Story, mutation: Mutation, since: int, until: int) -> bool:
    """True if the memory was given new values between two writes, as a buffer is that each round uses again."""
    writes = (write.call for write in story.writes_between(mutation.storage, since, until))
    return any(write is not None and (write.does("overwrites") or write.does("sets item")) for write in writes)


def _serves_otherwise(listing: Listing, loop: ast.stmt, name: str) -> bool:
    """True if a name is read from a loop on, but by a statement that gives it another one."""
    names = (node for node in listing.inside(listing.scope_of(loop)) if isinstance(node, ast.Name) and node.id == name)
    read = [node for node in names if isinstance(node.ctx, ast.Load) and node.lineno >= loop.lineno]
    return not all(isinstance(at := listing.parents.get(node), ast.Assign) and at.value is node for node in read)


def _cached(story: Story, call: CallEvent, tensor: int) -> str | None:
    """Return the function behind a cache that made a tensor, where another one writes it."""
    made, maker = story.bindings.made_at.get(tensor), story.innermost_new(tensor, len(story.trace.calls))
    site, listing = call.callsite, whole_listing(story.trace, call.callsite)
    if maker is not None and maker.does("buffer"):
        return None  # memory to work in, which each user fills anew
    if site is None or listing is None or made is None or made.function == site.function:
        return None
    if (made.cell, made.file) != (site.cell, site.file):
        return None
    for node in listing.functions.get(made.function.rpartition(".")[2], ()):
        decorators = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
        if any((expressions.path_text(d) or "").rpartition(".")[2] in _CACHES for d in decorators):
            return node.name
    return None


def _is_read_elsewhere(story: Story, tensor: int, since: int, until: CallEvent) -> bool:
    """True if another function read a tensor between two runs of a line that writes it."""
    reads = story.given_between(tensor, since, until.index)
    return any(read.callsite is not None and not read.callsite.is_below_function(until.callsite) for read in reads)


RULES = rules_of(
    Row(
        CODE,
        "warning",
        begun_again,
        message=N_(
            "{line} writes `{name}`, and {code} (line {number}) made no copy: the write changed `{source}`, "
            "which the next round begins with. PyTorch gives no error."
        ),
        fix=N_("Begin with a copy: {copy}."),
        ways=(begun_with_a_copy,),
    ),
    Row(
        CODE,
        "warning",
        cached_value_written,
        message=N_(
            "{line} writes `{name}` for the second time, and `{function}` returns that one tensor to all its "
            "callers, since its results are cached: each caller reads what the others wrote. PyTorch gives no "
            "error."
        ),
        fix=N_("Write into a copy of the result of `{function}`: append `.clone()`."),
    ),
)
