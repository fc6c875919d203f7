"""A line wrote a value again that a statement above, or a cached function, hands out as the one to begin with.

``h = h0`` in a loop, or ``std = STD`` in a function, has an effect in its second round only where it is to begin anew:
it gives the name the tensor that it has already. What is behind ``functools.lru_cache`` is one tensor for all its
callers. So a write on top of what the round before left is in what the next round begins with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import FUNCTIONS, Listing, whole_listing
from inplace_magic.source.statements import spans
from inplace_magic.source.variables import variables_bound

_CACHES = ("lru_cache", "cache", "cached_property")


@dataclass(frozen=True)
class TwoRounds:
    """A write on top of what an earlier round wrote into the value that it began with."""

    call: CallEvent
    mutation: Mutation
    alias: AliasStatement | None
    """The statement above that gives the written name to the value; None where it comes from a cached function."""
    maker: str | None
    """The cached function."""
    by_caller: bool = False
    """Whether the statement ran again with another run of its function; else, with another pass of a loop."""


def written_in_two_rounds(story: Story) -> Iterator[TwoRounds]:
    """Yields one for each writing place."""
    told: set[tuple[object, ...]] = set()
    first: dict[tuple[object, ...], _First] = {}
    last: dict[tuple[object, ...], int] = {}
    for call in story.in_place:
        site = call.callsite
        if site is None or call.does("overwrites"):
            continue
        place = (site.cell, site.file, site.line)
        for mutation in call.mutations if place not in told else ():
            key = (place, mutation.tensor)
            if key not in first:
                listing = whole_listing(story.trace, site)
                if listing is not None:
                    first[key] = _first_write(story, listing, call, site, mutation)
                continue
            before = first[key]
            if before.alias is None and before.maker is None:
                continue
            ran = before.site.caller != site.caller if before.by_caller else before.again < call.index
            again = before.alias is not None and ran and not _filled(story, mutation, before.at, call.index)
            maker, since = before.maker, last.get(key, before.at)
            last[key] = call.index
            if maker and before.site == site and not _is_read_elsewhere(story, mutation.tensor, since, call):
                maker = None
            if again or maker is not None:
                told.add(place)
                alias = before.alias if again else None
                yield TwoRounds(call, mutation, alias, maker, by_caller=again and before.by_caller)
                break


@dataclass(frozen=True)
class _First:
    """The first write of a tensor at a place."""

    at: int
    """Index of the call."""
    site: Callsite
    maker: str | None
    """The cached function that made the tensor, where another one writes it."""
    alias: AliasStatement | None = None
    """The statement above that gave the written name to the initial value."""
    by_caller: bool = False
    """Whether that statement runs again with each run of its function; else, with each pass of a loop."""
    again: int = 0
    """Index of the call from which on it has run again, in a loop."""


def _first_write(story: Story, listing: Listing, call: CallEvent, site: Callsite, mutation: Mutation) -> _First:
    plain = _First(call.index, site, _cached(story, listing, site, mutation.tensor))
    aliases = story.aliases.beside(site)
    written = story.bindings.written_path(call, mutation.tensor) if aliases else None
    if written is None or not written.isidentifier():
        return plain
    for alias in aliases:
        node = listing.statement_on(alias.line)
        named = isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and len(node.targets) == 1
        if alias.target != written or alias.line >= site.line or not named or node is None:
            continue
        around = listing.parents.get(node)
        if _is_bound(listing, node, alias.source) or _serves_otherwise(listing, node, alias.source):
            continue
        if isinstance(around, ast.FunctionDef) and _moves_by_constants(call, mutation):
            return replace(plain, alias=alias, by_caller=True)
        again = _next_pass(story, around, call, site, mutation.tensor)
        if again is not None:
            return replace(plain, alias=alias, again=again)
    return plain


def _next_pass(story: Story, loop: ast.AST | None, call: CallEvent, site: Callsite, tensor: int) -> int | None:
    """The first read of the tensor after its write, further down in the loop that the statement opens: whatever comes
    after that read and stands above it, belongs to another pass."""
    if not isinstance(loop, (ast.For, ast.While)):
        return None
    block = next((entry for entry in loop.body if spans(entry, site.line)), None)
    if block is None:
        return None
    least, most = block.end_lineno or block.lineno, loop.end_lineno or loop.lineno
    reads = story.readers(tensor, call.index, lambda place: place is not None and least < place.line <= most)
    first = next(reads, None)
    return first.index if first is not None else None


def _moves_by_constants(call: CallEvent, mutation: Mutation) -> bool:
    """Whether nothing but numbers moves a tensor that did not begin as zeros: no count, no sum, no average."""
    old = mutation.values_before
    return old is not None and any(value != 0 for value in old) and {m.tensor for m in call.inputs} == {mutation.tensor}


def _filled(story: Story, mutation: Mutation, since: int, until: int) -> bool:
    """Whether the memory was given new values between two writes, as a buffer is that each round uses again."""
    writes = story.writes_to_storage.get(mutation.storage, ()) if mutation.storage is not None else ()
    between = (write for write, _mutation in writes if since < write.index < until)
    return any(write.does("overwrites") or write.does("sets item") for write in between)


def _serves_otherwise(listing: Listing, statement: ast.stmt, name: str) -> bool:
    """Whether a name that a statement gives another one serves for anything else, or belongs to another function than
    a loop around the statement: read in a function, or from that loop on, but by such a statement."""
    scope, above = listing.scope_of(statement), list(listing.around(statement))
    loops = [node for node in above[: above.index(scope)] if isinstance(node, (ast.For, ast.AsyncFor, ast.While))]
    while loops and name in _bound_in(loops[-1]):
        loops.pop()
    if loops and not isinstance(scope, ast.Module) and name not in _bound_in(scope):
        return True
    whole: ast.AST = scope if loops else listing.tree
    for node in ast.walk(whole):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            holder = listing.parents.get(node)
            gives = isinstance(holder, ast.Assign) and holder.value is node and isinstance(holder.targets[0], ast.Name)
            earlier = loops and listing.scope_of(node) is scope and node.lineno < loops[-1].lineno
            if not gives and not earlier:
                return True
    return False


def _bound_in(node: ast.AST) -> set[str]:
    """The names that a loop or function binds, its parameters among them."""
    parameters = ast.walk(node.args) if isinstance(node, FUNCTIONS) else ()
    return variables_bound(node) | {entry.arg for entry in parameters if isinstance(entry, ast.arg)}


def _is_bound(listing: Listing, statement: ast.stmt, name: str) -> bool:
    """Whether the loop or function around a statement binds a name itself, so that each round has a new one."""
    around = next((n for n in listing.around(statement) if isinstance(n, (ast.For, ast.While, ast.FunctionDef))), None)
    return around is not None and name in _bound_in(around)


def _cached(story: Story, listing: Listing, site: Callsite, tensor: int) -> str | None:
    """The function behind a cache that made a tensor, where another one writes it."""
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
    """Whether another function read a tensor between two runs of a line that writes it."""
    reads = story.given_between(tensor, since, until.index)
    return any(read.callsite is not None and not read.callsite.is_below_function(until.callsite) for read in reads)
