"""Whether a place reads a written tensor again, after the write and by the name in question."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from inplace_magic.analysis.overlap import may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.owners import Owned
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import argument_for, paths_in
from inplace_magic.source.listing import whole_listing
from inplace_magic.source.vocabulary import WITHOUT_VALUES


def comes_later(at: Callsite, owned: Owned) -> bool:
    """True if a place in the owner's function can be reached, by the same run of that function, after the write. The
    cell itself runs once; in any other function only what stands below the write counts, since a read above it
    belongs to another run, in which the names are bound anew. After ``return`` there is nothing."""
    if owned.site.function == "<module>":
        return (at.line, at.expression) != (owned.site.line, owned.site.expression)
    return at.line > owned.site.line and not isinstance(expressions.parse(owned.site.statement), ast.Return)


def in_the_next_pass(story: Story, at: Callsite, owned: Owned, aliases: Sequence[int]) -> bool:
    """True if `at` is in the loop of the write and the second name was given above that loop: the next pass then reads
    what this one wrote. Example: ``new = u`` above ``for i in …: new[i] = u[i - 1]``."""
    site, listing = owned.site, whole_listing(story.trace, owned.site)
    if listing is None or not aliases or at.caller != site.caller or site.function == "<module>":
        return False
    statement = listing.statement_at(site)
    for loop in listing.around(statement) if statement is not None else ():
        end = getattr(loop, "end_lineno", None)
        if isinstance(loop, (ast.For, ast.While)) and end is not None and loop.lineno <= at.line <= end:
            return not any(loop.lineno <= line <= end for line in aliases)
    return False


def in_the_next_run(story: Story, at: Callsite, owned: Owned, names: dict[str, AliasStatement | None]) -> bool:
    """True if `at` is where the function begins with ``bias = mask.float()``, which gave `mask` itself, and its caller
    hands the same `mask` to each run: the next one then takes what this one wrote for the mask."""
    site = owned.site
    for alias in names.values():
        if alias is None or site.caller is None or (alias.line, alias.target) != (at.line, owned.path):
            continue
        if not any(given == got for given, got in story.aliases.pairs(alias)):
            continue
        argument = argument_for(site, alias.source)
        path = expressions.path_text(argument) if argument is not None else None
        targets = site.caller.bound
        if path is not None and targets is not None and path not in targets:
            return True
    return False


def reads_what_was_written(read: CallEvent, write: CallEvent, mutation: Mutation) -> bool:
    """True if a read can see the written elements; ``u[i + 1]`` does not where ``new[i] = …`` wrote."""
    if not read.does("gives item") or read.kind != "view" or mutation.region is None:
        return True
    return may_meet(region_of(read.outputs[0]), mutation.region)


def reads_beside(at: Callsite, owned: Owned, read: Callsite) -> bool:
    """True if a read in the very statement of the write is the statement's own other operand: ``self.branch(x) + x``;
    and not a call that takes what the write gave: ``self.fc(dropout(x, inplace=True))``."""
    same_statement = (at.line, at.statement) == (owned.site.line, owned.site.statement)
    if not same_statement or at != read or at.expression == owned.site.expression:
        return False
    beside = at.expression.replace(owned.site.expression, "None")
    return owned.path in paths_in(beside)


def reads_it_as(read: CallEvent, at: Callsite, tensor: int, path: str) -> bool:
    """True if a call can have read the tensor by this name: in ``span = high - low`` it is the operand in its place."""
    if at != read.callsite or not at.direct:
        return True
    listed = expressions.operands(at.expression, method=read.does("method"))
    operands = [node for node in listed if not is_no_tensor(node)]
    if len(operands) != len(read.inputs):
        return True
    pairs = list(zip(read.inputs, operands, strict=True))
    if read.does("copies in"):
        pairs = pairs[1:]  # what a copy goes to is not read
    return any(given.tensor == tensor and _is_read_in(node, path) for given, node in pairs)


def is_no_tensor(node: ast.AST) -> bool:
    """``2``, ``x.shape``: an operand that brings no tensor into a call."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Attribute) and node.attr in WITHOUT_VALUES)


def _is_read_in(operand: ast.expr, path: str) -> bool:
    """True if an operand is the path, or may have been computed from it."""
    name = expressions.path_text(operand)
    if name is not None:
        return name == path
    facts = {
        id(node.value) for node in ast.walk(operand) if isinstance(node, ast.Attribute) and node.attr in WITHOUT_VALUES
    }
    parts = [node for node in ast.walk(operand) if isinstance(node, ast.expr) and id(node) not in facts]
    roots = {path, path.split("[")[0]}
    named = {expressions.path_text(node) for node in parts}
    return bool(named & roots) or not any(named - {None})
