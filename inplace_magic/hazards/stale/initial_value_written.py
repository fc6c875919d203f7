"""An initial value was written in place, so the next round begins with what the last one left.

``h = h0`` in a loop has an effect in its second pass only where it is to begin anew: it gives the name the tensor that
it has already. What is behind ``functools.lru_cache`` is one tensor for all its callers. So a write on top of what the
round before left is in what the next round begins with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.of_origin import begun_with_a_copy
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, whole_listing
from inplace_magic.source.statements import spans
from inplace_magic.source.variables import variables_bound

CODE = "initial-value-written"

_CACHES = ("lru_cache", "cache", "cached_property")


@dataclass(frozen=True)
class _First:
    """The first write of a tensor at a place."""

    at: int
    """Index of the call."""
    site: Callsite
    maker: str | None
    """The cached function that made the tensor, where another one writes it."""
    alias: AliasStatement | None = None
    """The statement above, in a loop, that gave the written name to the initial value."""
    again: int = 0
    """Index of the call from which on that statement has run again."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place."""
    told: set[tuple[object, ...]] = set()
    first: dict[tuple[object, ...], _First] = {}
    last: dict[tuple[object, ...], int] = {}
    for call in story.in_place:
        site = call.callsite
        if site is None or call.does("overwrites"):
            continue
        place = site.cell, site.file, site.line
        for mutation in call.mutations if place not in told else ():
            key = place, mutation.tensor
            if key not in first:
                listing = whole_listing(story.trace, site)
                if listing is not None:
                    first[key] = _first_write(story, listing, call, site, mutation.tensor)
                continue
            before, since = first[key], last.get(key, first[key].at)
            last[key] = call.index
            again = (
                before.alias is not None and before.again < call.index and not _filled(story, mutation, before.at, call)
            )
            shared = before.maker is not None and (
                before.site != site or _is_read_elsewhere(story, mutation.tensor, since, call)
            )
            if again or shared:
                told.add(place)
                yield _hazard(story, call, mutation.tensor, before)
                break


def _first_write(story: Story, listing: Listing, call: CallEvent, site: Callsite, tensor: int) -> _First:
    written = story.bindings.written_path(call, tensor)
    for alias in story.aliases.beside(site) if written is not None and written.isidentifier() else ():
        node = listing.statement_on(alias.line)
        named = isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and len(node.targets) == 1
        loop = listing.parents.get(node) if named and node is not None else None
        if alias.target != written or alias.line >= site.line or not isinstance(loop, (ast.For, ast.While)):
            continue
        free = alias.source not in variables_bound(loop) and not _serves_otherwise(listing, loop, alias.source)
        again = _next_pass(story, loop, call, site, tensor) if free else None
        if again is not None:
            return _First(call.index, site, None, alias, again)
    return _First(call.index, site, _cached(story, listing, site, tensor))


def _filled(story: Story, mutation: Mutation, since: int, until: CallEvent) -> bool:
    """Whether the memory was given new values between two writes, as a buffer is that each round uses again."""
    writes = story.writes_to_storage.get(mutation.storage, ()) if mutation.storage is not None else ()
    between = (write for write, _mutation in writes if since < write.index < until.index)
    return any(write.does("overwrites") or write.does("sets item") for write in between)


def _serves_otherwise(listing: Listing, loop: ast.AST, name: str) -> bool:
    """Whether a name is read from a loop on, but by a statement that gives it another one."""
    first = getattr(loop, "lineno", 0)
    for node in ast.walk(listing.scope_of(loop) if isinstance(loop, ast.stmt) else listing.tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and node.lineno >= first:
            holder = listing.parents.get(node)
            if not (isinstance(holder, ast.Assign) and holder.value is node):
                return True
    return False


def _next_pass(story: Story, loop: ast.For | ast.While, call: CallEvent, site: Callsite, tensor: int) -> int | None:
    """The first read of the tensor after its write, further down in the loop that the statement opens: whatever comes
    after that read and stands above it, belongs to another pass."""
    block = next((entry for entry in loop.body if spans(entry, site.line)), None)
    if block is None:
        return None
    least, most = block.end_lineno or block.lineno, loop.end_lineno or loop.lineno
    reads = story.readers(tensor, call.index, lambda place: place is not None and least < place.line <= most)
    first = next(reads, None)
    return first.index if first is not None else None


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


def _hazard(story: Story, call: CallEvent, tensor: int, begun: _First) -> Hazard:
    variable = story.bindings.written_path(call, tensor)
    line, alias = wording.spot(call.callsite), begun.alias
    if alias is not None:
        message = _(
            "{line} writes `{name}`, and {code} (line {number}) made no copy: the write changed `{source}`, "
            "which the next round begins with. PyTorch gives no error."
        ).format(line=line, name=alias.target, source=alias.source, code=wording.code(alias.text), number=alias.line)
        fix = _("Begin with a copy: {code}.").format(code=wording.code(alias.text + ".clone()"))
    else:
        message = _(
            "{line} writes `{name}` for the second time, and `{function}` returns that one tensor to all its "
            "callers, since its results are cached: each caller reads what the others wrote. PyTorch gives no "
            "error."
        ).format(line=line, name=variable or "", function=begun.maker or "")
        fix = _("Write into a copy of the result of `{function}`: append `.clone()`.").format(
            function=begun.maker or ""
        )
    return finding(CODE, "warning", message=message, fix=fix, variable=variable, tensor=tensor, write=call)


RULE = Rule(check, {CODE: Cures((begun_with_a_copy,))})
