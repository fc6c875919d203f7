"""An initial value was written in place, so the next round begins with what the last one left.

``h = h0`` in a loop has an effect in its second pass only where it is to begin anew: it gives the name the tensor that
it has already. What is behind ``functools.lru_cache`` is one tensor for all its callers. So a write on top of what the
round before left is in what the next round begins with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.of_origin import begun_with_a_copy
from inplace_magic.hazards.references.engine import writes_of
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing
from inplace_magic.source.spots import Spot, spot_of
from inplace_magic.source.statements import spans

CODE = "initial-value-written"

_CACHES = ("lru_cache", "cache", "cached_property")


@dataclass(frozen=True)
class _Line:
    """A line that writes one tensor again and again."""

    first: CallEvent
    last: CallEvent
    """Its first write of the tensor, and the one before now."""
    alias: AliasStatement | None
    """The statement above, in a loop, that gives the written name to the initial value."""
    used: int
    """Index of the call that first reads what the write left, further down in the loop: what comes after that and
    stands above it belongs to another pass."""
    maker: str | None
    """The cached function that made the tensor, where another one writes it."""


def initial_value_written(story: Story) -> Iterator[Found]:
    """Yield the first such write of each line."""
    told: set[object] = set()
    known: dict[tuple[object, ...], _Line] = {}
    for call, mutation in writes_of(story.in_place, told):
        site, tensor = call.callsite, mutation.tensor
        if site is None or call.does("overwrites"):
            continue
        key = *line_key(site), tensor
        line = known.get(key)
        if line is None:
            spot = spot_of(story.trace, site)
            if spot is not None:
                alias, used = _begins_anew(story, spot, call, site, tensor) or (None, 0)
                maker = _cached(story, spot.listing, site, tensor) if alias is None else None
                known[key] = _Line(call, call, alias, used, maker)
            continue
        known[key] = replace(line, last=call)
        found = None
        if line.alias is not None and line.used < call.index:
            if not _is_filled(story, mutation, line.first.index, call.index):
                found = _of_a_round(call, tensor, line.alias)
        elif line.maker is not None and (
            line.first.callsite != site or _is_read_elsewhere(story, tensor, line.last.index, call)
        ):
            words = {"name": story.bindings.written_path(call, tensor) or "", "function": line.maker}
            found = Found({"line": call}, tensor, words["name"], words, message=_OF_A_CACHE[0], fix=_OF_A_CACHE[1])
        if found is not None:
            told.add(line_key(site))
            yield found


def _begins_anew(
    story: Story, spot: Spot, call: CallEvent, site: Callsite, tensor: int
) -> tuple[AliasStatement, int] | None:
    """Return the statement in a loop, above a write, that gives the written name to a value from before the loop which
    serves nothing else from the loop on; and the first read of the tensor below the write in that loop."""
    written = story.bindings.written_path(call, tensor)
    for alias in story.aliases.beside(site) if written is not None and written.isidentifier() else ():
        node = spot.listing.statement_on(alias.line)
        named = isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and len(node.targets) == 1
        loop = spot.listing.parents.get(node) if named and node is not None else None
        if alias.target != written or alias.line >= site.line or not isinstance(loop, (ast.For, ast.While)):
            continue
        block = next((entry for entry in loop.body if spans(entry, site.line)), None)
        other = alias.source in expressions.variables_bound(loop) or _serves_otherwise(spot.listing, loop, alias.source)
        if block is None or other:
            continue
        read = _read_below(story, call, tensor, block, loop)
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


def _serves_otherwise(listing: Listing, loop: ast.AST, name: str) -> bool:
    """True if a name is read from a loop on, but by a statement that gives it another one."""
    first = getattr(loop, "lineno", 0)
    for node in ast.walk(listing.scope_of(loop) if isinstance(loop, ast.stmt) else listing.tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and node.lineno >= first:
            holder = listing.parents.get(node)
            if not (isinstance(holder, ast.Assign) and holder.value is node):
                return True
    return False


def _cached(story: Story, listing: Listing, site: Callsite, tensor: int) -> str | None:
    """Return the function behind a cache that made a tensor, where another one writes it."""
    made, maker = story.bindings.made_at.get(tensor), story.innermost_new(tensor, len(story.trace.calls))
    if maker is not None and maker.does("buffer"):
        return None  # memory to work in, which each user fills anew
    if made is None or made.function == site.function or (made.cell, made.file) != (site.cell, site.file):
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


def _of_a_round(call: CallEvent, tensor: int, alias: AliasStatement) -> Found:
    words = {
        "name": alias.target,
        "source": alias.source,
        "code": wording.code(alias.text),
        "number": alias.line,
        "copy": wording.code(alias.text + ".clone()"),
    }
    return Found({"line": call}, tensor, alias.target, words)


_OF_A_CACHE = (
    N_(
        "{line} writes `{name}` for the second time, and `{function}` returns that one tensor to all its "
        "callers, since its results are cached: each caller reads what the others wrote. PyTorch gives no "
        "error."
    ),
    N_("Write into a copy of the result of `{function}`: append `.clone()`."),
)

RULES = rules_of(
    Row(
        CODE,
        "warning",
        initial_value_written,
        message=N_(
            "{line} writes `{name}`, and {code} (line {number}) made no copy: the write changed `{source}`, "
            "which the next round begins with. PyTorch gives no error."
        ),
        fix=N_("Begin with a copy: {copy}."),
        ways=(begun_with_a_copy,),
    ),
)
