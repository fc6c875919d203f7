"""Changes for a backward into a graph that was used up: a state is cut off, a result computed anew, or a graph kept.

Which one is right depends on what happened between the two backwards. A state that each pass takes from the one before
is cut off below the backward, where it is a tensor even if it began as None. Where a step has changed the values from
which the graph was built, the lines that built it run again below the step; ``retain_graph=True`` would go on with the
old values, in silence, so it is never offered then. Where nothing was changed, keeping the graph is what the program
says, and a run proves it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.step_advice import detached
from inplace_magic.hazards.fixes.target import Fix
from inplace_magic.hazards.used_twice import Twice
from inplace_magic.language import _
from inplace_magic.record.places import Callsite, where_they_part
from inplace_magic.source.expressions import parse, path_text
from inplace_magic.source.hunks import diff
from inplace_magic.source.listing import Block, Edit, Listing, listing_of
from inplace_magic.source.statements import spans
from inplace_magic.source.variables import variables_bound, variables_read

_LOOPS = (ast.For, ast.While)


def diff_of(twice: Twice) -> str:
    """The change that is certain from the record; empty where none is."""
    try:
        fix = _cut_off(twice) if twice.is_carried_on else _computed_anew(twice) if twice.stepped is not None else None
    except (ValueError, IndexError):  # a line of a form that is not foreseen
        return ""
    return diff(fix.site, fix.listing, fix.edits) if fix is not None else ""


def kept(twice: Twice, hazard: Hazard) -> Iterator[Hazard]:
    """The finding with the first backward keeping its graph, where no value of that was changed since."""
    site = twice.first[0].callsite if twice.first is not None else None
    listing = listing_of(twice.story.trace, site)
    call = listing.expression_at(site) if listing is not None and site is not None else None
    if site is None or listing is None or twice.stepped is not None or twice.is_carried_on:
        return
    if not isinstance(call, ast.Call) or any(entry.arg == "retain_graph" for entry in call.keywords):
        return
    text = listing.text(call)
    comma = ", " if call.args or call.keywords else ""
    edit = listing.substitute([(call, f"{text[:-1]}{comma}retain_graph=True)")])
    if edit is not None:
        sentence = _(
            "Let {line} keep the graph, which the next backward goes through again: nothing changed its values."
        )
        said = sentence.format(line=f"`{site.text.strip()}`")
        yield replace(hazard, diff=diff(site, listing, (edit,)), price_bytes=None, fix=said)


def _cut_off(twice: Twice) -> Fix | None:
    """``h = h.detach()`` below the backward, in the loop whose passes hand on the state."""
    reader, second = twice.joints[0].reader, twice.second.callsite
    if reader is None or second is None:
        return None
    here = where_they_part(second.chain, reader.chain)[0]
    listing = listing_of(twice.story.trace, here)
    used = listing.statement_at(here) if listing is not None else None
    names = [joint.name for joint in twice.joints if joint.name is not None]
    if (
        listing is None
        or used is None
        or len(names) < len(twice.joints)
        or not isinstance(used, (ast.Expr, ast.Assign))
    ):
        return None
    loop = next((node for node in listing.around(used) if isinstance(node, _LOOPS)), None)
    if loop is None or not listing.alone(used) or not all(_can_be_bound(name, here, loop) for name in names):
        return None
    line = f"{listing.indent(used)}{detached(names, twice.joints)}"
    end = used.end_lineno or used.lineno
    return Fix(here, listing, (Edit(end + 1, end, (line,)),))


def _can_be_bound(name: str, site: Callsite, loop: ast.stmt) -> bool:
    """Whether ``name = …`` in a loop binds what the next pass reads: a variable that the loop binds, or what a variable
    of the notebook leads to."""
    node = parse(name)
    if isinstance(node, ast.Name):
        return name in variables_bound(loop)
    root = node
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    return root is not node and isinstance(root, ast.Name) and root.id != "self" and site.function == "<module>"


def _computed_anew(twice: Twice) -> Fix | None:
    """The lines that built the graph, moved into the loop that goes through it again, or once more above the second
    backward."""
    second = twice.second.callsite
    here = second.outermost if second is not None else None
    listing = listing_of(twice.story.trace, here)
    used = listing.statement_at(here) if listing is not None and here is not None else None
    if here is None or listing is None or used is None or not listing.whole or not listing.alone(used):
        return None
    lines = _lines_of_the_graph(twice, here)
    block: Block = listing.block_of(used)
    top: ast.stmt = used
    again = _built(listing, block[: block.index(used)], variables_read(used), lines)
    if again:
        indented = _indented(listing, again, listing.indent(used))
        return Fix(here, listing, (Edit(used.lineno, used.lineno - 1, indented),))
    for around in listing.around(used):
        if not isinstance(around, ast.stmt) or isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        top = around
        if isinstance(around, _LOOPS):
            break
    if not isinstance(top, _LOOPS) or top.body[0].lineno == top.lineno:
        return None
    block = listing.block_of(top)
    moved = _built(listing, block[: block.index(top)], variables_read(top), lines)
    bound = {name for entry in moved for name in variables_bound(entry)}
    others = [entry for entry in block[: block.index(top)] if entry not in moved]
    if not moved or any(variables_read(entry) & bound for entry in others if entry.lineno > moved[0].lineno):
        return None
    first = top.body[0]
    deleted = [Edit(entry.lineno, entry.end_lineno or entry.lineno, ()) for entry in moved]
    inserted = Edit(first.lineno, first.lineno - 1, _indented(listing, moved, listing.indent(first)))
    return Fix(here, listing, (*deleted, inserted))


def _built(listing: Listing, above: Block, needed: set[str], lines: set[int]) -> list[ast.stmt]:
    """The assignments among some statements whose lines built the graph, as far as names lead from what is needed."""
    wanted: list[ast.stmt] = []
    for entry in reversed(above):
        if not variables_bound(entry) & needed or not any(spans(entry, line) for line in lines):
            continue
        plain = isinstance(entry, ast.Assign) and all(path_text(target) is not None for target in entry.targets)
        if not plain or not listing.alone(entry):
            return []
        wanted.insert(0, entry)
        needed = needed | variables_read(entry)
    return wanted


def _lines_of_the_graph(twice: Twice, here: Callsite) -> set[int]:
    """The lines of a function at which the part that was used up was built."""
    calls = (twice.story.calls.get(twice.story.nodes[number].call or -1) for number in twice.old)
    chains = (call.callsite.chain for call in calls if call is not None and call.callsite is not None)
    return {site.line for chain in chains for site in chain if site.same_function(here)}


def _indented(listing: Listing, statements: list[ast.stmt], indent: str) -> tuple[str, ...]:
    rows = []
    for entry in statements:
        own = len(listing.indent(entry))
        rows += [f"{indent}{line[own:]}" for line in listing.whole_lines(entry)]
    return tuple(rows)
