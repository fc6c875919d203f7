"""A value to begin with was written in place, so the next round begins with what the last one left.

``h = h0`` gives the initial state a second name and copies nothing: a loop that then writes ``h`` in place writes
``h0``. A constant of the module that a function scales under a local name is scaled again in each call, and so is what
a function behind ``functools.lru_cache`` hands out, which is one tensor for all its callers.

Bad::

    h0 = torch.zeros(3)
    for sequence in sequences:
        h = h0
        for x in sequence:
            h += x                  # the next sequence begins here
        finals.append(h.sum())

Good::

    for sequence in sequences:
        h = h0.clone()
        for x in sequence:
            h += x

Found where a loop binds a name to another one of the same function, the statement ran again after a write that
depends on the old values, and the other name serves for nothing else from the loop on: a statement that gives the same
tensor each time has an effect only where it is to begin anew. And where a tensor was made in a cached function, written
outside of it, and met there again by others or read by another function; memory to work in (``torch.empty``) is none.
And where an object took over what a dict of its own keeps by the name of the attribute (``setattr(self, name, value)``
for each of ``self.defaults``), in place of another tensor, and a line writes that on top of its values.
And wherever the value to begin with is kept (an attribute, an entry, a default, an argument): where a line wrote it in
one pass, under the same name in the next pass of the same run a tensor that had been computed from it, and it again in
a later run, on top of what was left (``h = self.h0`` above ``h += f(x); h = torch.tanh(h)``). A name that goes on as
another tensor is no handle on a state. Silent where the end of a run is put back, and where the write is taken back.
And where a method that is called again sets an attribute back to another one (``self.state = self.start``), every
statement of the class gives it that very tensor, which serves for nothing else, and a line writes it in place.
A function that moves a value of the module by constants, under a name of its own (``std = STD; std *= 255``), is told
as a fact worth knowing: a schedule means it, a constant does not. Silent for accumulators, which other lines read
(``counts = COUNTS; counts += 1``). It takes the text around the line, of a cell or of a file that is what ran.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.begun import begun_with_a_copy
from inplace_magic.hazards.references.first_passes import StartWritten, start_values_written
from inplace_magic.hazards.references.objects.defaults import TakenOver, taken_over_and_written
from inplace_magic.hazards.references.objects.ways import assigned
from inplace_magic.hazards.references.resets import StartKept, starts_written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import FUNCTIONS, Listing, whole_listing

CODE = "initial-value-written"

_CACHES = ("lru_cache", "cache", "cached_property")


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place."""
    told: set[tuple[object, ...]] = set()
    for taken in taken_over_and_written(story):
        site = taken.call.callsite
        if site is not None and (site.cell, site.file, site.line) not in told:
            told.add((site.cell, site.file, site.line))
            yield _of_an_entry(taken)
    for kept in starts_written(story):
        site = kept.call.callsite
        if site is not None and (site.cell, site.file, site.line) not in told:
            told.add((site.cell, site.file, site.line))
            yield _of_a_reset(kept)
    for start in start_values_written(story):
        site = start.call.callsite
        if site is not None and (site.cell, site.file, site.line) not in told:
            told.add((site.cell, site.file, site.line))
            yield _of_a_first_pass(story, start)
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
                found = _hazard(story, call, mutation, before.alias if again else None, maker)
                yield _worth_knowing(found, before.alias) if again and before.by_caller else found
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
    block = next((entry for entry in loop.body if entry.lineno <= site.line <= (entry.end_lineno or 0)), None)
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
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    parameters = ast.walk(node.args) if isinstance(node, FUNCTIONS) else ()
    return names | {entry.arg for entry in parameters if isinstance(entry, ast.arg)}


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


def _hazard(
    story: Story,
    call: CallEvent,
    mutation: Mutation,
    alias: AliasStatement | None,
    maker: str | None,
) -> Hazard:
    site = call.callsite
    variable = story.bindings.written_path(call, mutation.tensor)
    line = wording.spot(site)
    if alias is not None:
        message = _(
            "{line} writes `{name}`, and {code} (line {number}) made no copy: it wrote `{source}`, which the next "
            "round begins with. PyTorch gives no error."
        ).format(line=line, name=alias.target, source=alias.source, code=wording.code(alias.text), number=alias.line)
        fix = _("Begin with a copy: {code}.").format(code=wording.code(alias.text + ".clone()"))
    else:
        message = _(
            "{line} writes `{name}` for the second time, and `{function}` hands out that one tensor to all its "
            "callers, since its results are cached: each of them meets what the others wrote. PyTorch gives no error."
        ).format(line=line, name=variable or "", function=maker or "")
        fix = _("Write into a copy of what `{function}` gives: `.clone()`.").format(function=maker or "")
    return finding(
        CODE,
        "warning",
        message=message,
        fix=fix,
        variable=variable,
        tensor=mutation.tensor,
        write=call,
    )


def _of_an_entry(taken: TakenOver) -> Hazard:
    attribute, entry = taken.attribute.path, taken.entry.path
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes `{name}` and with it `{source}`, which is the same tensor: it was taken over and not "
            "copied, so what begins with it next begins with what was written. PyTorch gives no error."
        ).format(line=wording.spot(taken.call.callsite), name=attribute, source=entry),
        fix=_("Begin with a copy: {code}.").format(code=wording.code(f"{entry}.clone()")),
        variable=attribute,
        tensor=taken.attribute.tensor,
        write=taken.call,
    )


def _of_a_first_pass(story: Story, start: StartWritten) -> Hazard:
    name, site = start.owned.path, start.owned.site
    listing = whole_listing(story.trace, site)
    statement = listing.statement_at(site) if listing is not None else None
    value = assigned(listing, statement, name) if listing is not None and statement is not None else None
    source = expressions.path_text(value)
    if source is not None:
        message = _(
            "{line} writes `{name}`, which is `{source}` itself in the first pass and a new tensor in the passes after "
            "that: the next run begins with what this one left in `{source}`. PyTorch gives no error."
        )
        fix = _("Begin with a copy: {code}.").format(code=wording.code(f"{name} = {source}.clone()"))
    else:
        message = _(
            "{line} writes `{name}`, which is a tensor that somebody keeps in the first pass and a new tensor in the "
            "passes after that: the next run begins with what this one left. PyTorch gives no error."
        )
        fix = _("Begin with a copy: {code}.").format(code=wording.code(f"{name} = {name}.clone()"))
    return finding(
        CODE,
        "warning",
        message=message.format(line=wording.spot(start.call.callsite), name=name, source=source or ""),
        fix=fix,
        variable=story.bindings.written_name(start.call, start.mutation.tensor) or name,
        tensor=start.mutation.tensor,
        write=start.call,
    )


def _of_a_reset(kept: StartKept) -> Hazard:
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes `{name}`, which is `{source}` itself: `{method}` sets it back to what it is anyway, so the "
            "next round begins with what was written. PyTorch gives no error."
        ).format(line=wording.spot(kept.call.callsite), name=kept.path, source=kept.source, method=kept.method),
        fix=_("Begin with a copy: {code}.").format(code=wording.code(f"{kept.path} = {kept.source}.clone()")),
        variable=kept.path,
        tensor=kept.tensor,
        write=kept.call,
    )


def _worth_knowing(found: Hazard, alias: AliasStatement | None) -> Hazard:
    """The finding as a fact, where the program does not tell whether it is meant."""
    fix = _("If each run is to begin with the same values, begin with a copy: {code}.")
    code = wording.code(f"{alias.text}.clone()") if alias is not None else ""
    return replace(found, severity="info", fix=fix.format(code=code))


RULE = Rule(check, {CODE: Cures((begun_with_a_copy,))})
