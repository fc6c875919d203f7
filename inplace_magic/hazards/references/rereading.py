"""Who reads a written tensor again, after the write and by a name that stood for the old values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from inplace_magic.analysis.ledger import Owned
from inplace_magic.analysis.overlap import may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.names import is_bound_anew
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import argument_for, level, paths_in, paths_read
from inplace_magic.source.expressions import operands_given
from inplace_magic.source.spots import spot_of
from inplace_magic.source.statements import spans
from inplace_magic.source.vocabulary import WITHOUT_VALUES

Names = Mapping[str, AliasStatement | None]
"""Names of a written tensor, each with the statement that gave it; the written name itself has none."""


@dataclass(frozen=True)
class Rereading:
    """A read of a written tensor by one of its names."""

    call: CallEvent
    tensor: int
    at: Callsite
    """The place in the function that has the name."""
    path: str
    alias: AliasStatement | None


def read_again(
    story: Story, write: CallEvent, mutation: Mutation, owned: Owned, names: Names, tensors: Iterable[int]
) -> Iterator[Rereading]:
    """Yield the reads, after a write and in the function that owns the written name, of tensors by some names, as long
    as these still stand for them."""
    said: dict[Callsite | None, list[tuple[Callsite, str, str]]] = {}

    def says_a_name(site: Callsite | None) -> bool:
        at = level(site, owned.site)
        if site is None or at is None or not _can_come_after(story, at, site, owned, names):
            return False
        paths = sorted(paths_read(site, owned.site))
        named = ((path, path if path in names else f"{path.split('[')[0]}[]") for path in paths)
        said[site] = [(at, path, name) for path, name in named if name in names]
        return bool(said[site])

    for tensor in tensors:
        for read in story.readers(tensor, write.index, says_a_name):
            for at, path, name in said[read.callsite] if read.parent is None else ():
                if not reads_it_as(read, at, tensor, path) or not _meets(read, mutation):
                    continue
                anew = is_bound_anew(story, owned, path, write.index, read.index, tensor)
                if not anew and not _is_given_again(story, owned, names[name], at, write.index, read.index):
                    yield Rereading(read, tensor, at, path, names[name])


def _can_come_after(story: Story, at: Callsite, read: Callsite, owned: Owned, names: Names) -> bool:
    """True if a place in the owner's function can be reached after the write, before its names are bound anew."""
    return (
        comes_later(at, owned)
        or _is_beside(at, owned, read)
        or _is_in_the_next_pass(story, at, owned, names)
        or _is_in_the_next_run(story, at, owned, names)
    )


def comes_later(at: Callsite, owned: Owned) -> bool:
    """True if the same run of the owner's function can reach a place after the write. The cell itself runs once; in any
    other function only what stands below the write counts, since a read above it belongs to another run, in which the
    names are bound anew. After ``return`` there is nothing."""
    if owned.site.function == "<module>":
        return (at.line, at.expression) != (owned.site.line, owned.site.expression)
    return at.line > owned.site.line and not isinstance(expressions.parse(owned.site.statement), ast.Return)


def _is_beside(at: Callsite, owned: Owned, read: Callsite) -> bool:
    """True if a read in the very statement of the write is the statement's own other operand: ``self.branch(x) + x``;
    and not a call that takes what the write gave: ``self.fc(dropout(x, inplace=True))``."""
    same_statement = (at.line, at.statement) == (owned.site.line, owned.site.statement)
    if not same_statement or at != read or at.expression == owned.site.expression:
        return False
    return owned.path in paths_in(at.expression.replace(owned.site.expression, "None"))


def _is_in_the_next_pass(story: Story, at: Callsite, owned: Owned, names: Names) -> bool:
    """True if a place is in the loop of the write and the second name was given above that loop: the next pass then
    reads what this one wrote. Example: ``new = u`` above ``for i in …: new[i] = u[i - 1]``."""
    given = [alias.line for alias in names.values() if alias is not None]
    if not given or at.caller != owned.site.caller or owned.site.function == "<module>":
        return False
    spot = spot_of(story.trace, owned.site)
    around = next((loop for loop in (spot.loops if spot is not None else ()) if spans(loop, at.line)), None)
    return around is not None and not any(spans(around, line) for line in given)


def _is_in_the_next_run(story: Story, at: Callsite, owned: Owned, names: Names) -> bool:
    """True if a place is where the function begins with ``bias = mask.float()``, which gave `mask` itself, and its
    caller hands the same `mask` to each run: the next one then takes what this one wrote for the mask."""
    site = owned.site
    for alias in names.values():
        if alias is None or site.caller is None or (alias.line, alias.target) != (at.line, owned.path):
            continue
        if not any(given == got for given, got in story.aliases.pairs(alias)):
            continue
        argument = argument_for(site, alias.source)
        path, targets = expressions.path_text(argument), site.caller.bound
        if path is not None and targets is not None and path not in targets:
            return True
    return False


def _meets(read: CallEvent, mutation: Mutation) -> bool:
    """True if a read can see the written elements; ``u[i + 1]`` does not where ``new[i] = …`` wrote."""
    if not read.does("gives item") or read.kind != "view" or mutation.region is None:
        return True
    return may_meet(region_of(read.outputs[0]), mutation.region)


def _is_given_again(
    story: Story, owned: Owned, alias: AliasStatement | None, at: Callsite, wrote: int, read: int
) -> bool:
    """True if a statement between the write and the read gave the tensor that name once more: it is read as written."""
    if alias is None:
        return False
    both = alias.target, alias.source
    again = [other for other in story.aliases.beside(owned.site) if (other.target, other.source) == both]
    return any(
        owned.site.line < other.line < at.line or (other.line >= at.line and ran_between(story, other, at, wrote, read))
        for other in again
    )


def ran_between(story: Story, alias: AliasStatement, like: Callsite | None, first: int, last: int) -> bool:
    """True if a statement was passed between two calls, by the lines of the calls in its function: each goes on below
    the one before, or a loop came round."""
    previous: int | None = None
    for index in range(first, last + 1):
        place = story.calls[index].callsite if index in story.calls else None
        at = level(place, like) if like is not None else None
        if at is None:
            if index == first:
                return True  # written before this function began
            continue
        passed = previous is not None and (
            previous <= alias.line < at.line
            if at.line > previous
            else at.line < previous and (alias.line >= previous or alias.line < at.line)
        )
        if passed:
            return True
        previous = at.line
    return False


def reads_it_as(read: CallEvent, at: Callsite, tensor: int, path: str) -> bool:
    """True if a call can have read the tensor by this name: in ``span = high - low`` it is the operand in its place."""
    pairs = operands_given(read) if at == read.callsite else None
    if pairs is None:
        return True
    if read.does("copies in"):
        pairs = pairs[1:]  # what a copy goes to is not read
    return any(given.tensor == tensor and _is_read_in(node, path) for given, node in pairs)


def _is_read_in(operand: ast.expr, path: str) -> bool:
    """True if an operand is the path, or may have been computed from it."""
    name = expressions.path_text(operand)
    if name is not None:
        return name == path
    parts = [node for node in ast.walk(operand) if isinstance(node, ast.expr)]
    asked = {id(node.value) for node in parts if isinstance(node, ast.Attribute) and node.attr in WITHOUT_VALUES}
    named = {expressions.path_text(node) for node in parts if id(node) not in asked} - {None}
    return not named or not named.isdisjoint((path, path.split("[")[0]))


def declared_in_place(story: Story, write: CallEvent, read: CallEvent, tensor: int) -> bool:
    """True if a custom ``Function`` wrote its input and said so with ``mark_dirty``: what was written then has the
    history of that function, also for those who held it before."""
    owner = write.callsite.function.rpartition(".")[0].rpartition(".")[2] if write.callsite is not None else ""
    given = next((meta for meta in read.inputs if meta.tensor == tensor), None)
    node = story.nodes.get(given.node) if given is not None and given.node is not None else None
    return bool(owner) and node is not None and node.name == f"{owner}Backward"
