"""Fixes that cut a graph off, keep it, compute it anew, or leave out what ended it.

Which one is right after a second backward depends on what happened between the two. A state that each pass takes from
the one before is cut off below the backward, where it is a tensor even if it began as None. Where a step has changed
the values from which the graph was built, the lines that built it run again below the step; ``retain_graph=True`` would
go on with the old values, in silence, so it is never offered then. Where nothing was changed, keeping the graph is what
the program says, and a run proves it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.step_advice import detached, state_names
from inplace_magic.hazards.fixes.target import Fix, Written, above, below, fix_of, indented, moved_into
from inplace_magic.hazards.stepped import Carried
from inplace_magic.hazards.used_twice import Twice
from inplace_magic.language import _, spelled
from inplace_magic.record.places import Callsite, where_they_part
from inplace_magic.source.expressions import parse, path_text
from inplace_magic.source.hunks import diff
from inplace_magic.source.listing import Block, Edit, Listing, listing_of
from inplace_magic.source.statements import spans
from inplace_magic.source.variables import variables_bound, variables_read

_LOOPS = (ast.For, ast.While)
_SIMPLE = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
_METHODS = ("detach", "item")


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
    comma = ", " if call.args or call.keywords else ""
    fix = fix_of(site, listing, [(call, f"{listing.text(call)[:-1]}{comma}retain_graph=True)")])
    if fix is not None:
        said = _("Let {line} keep the graph, which the next backward goes through again: nothing changed its values.")
        yield replace(
            hazard,
            diff=diff(site, listing, fix.edits),
            price_bytes=None,
            fix=said.format(line=f"`{site.text.strip()}`"),
        )


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
    return Fix(here, listing, (below(used, f"{listing.indent(used)}{detached(names, twice.joints)}"),))


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
        return Fix(here, listing, (above(used, *indented(listing, again, listing.indent(used))),))
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
    return Fix(here, listing, moved_into(listing, moved, top))


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


def cut_off(listing: Listing, statement: ast.stmt, reader: Callsite, carried: list[Carried]) -> tuple[Edit, ...]:
    """``h, c = h.detach(), c.detach()`` at the top of the loop; nothing where it is not plain that it can stand there.

    Args:
        listing: the text in which the loop stands.
        statement: a statement of the loop, such as the one that steps or goes backward.
        reader: the line by which a pass goes on from the one before.
        carried: what it goes on from.
    """
    loop = next((node for node in listing.around(statement) if isinstance(node, (ast.For, ast.While))), None)
    names, reading = state_names(reader, carried), listing.statement_at(reader)
    if loop is None or not listing.whole or not names or reading is None or reading not in set(ast.walk(loop)):
        return ()
    bound = [node for name in names for node in listing.stores.get(name, ()) if node.lineno < loop.lineno]
    if {node.id for node in bound} != set(names) or loop.body[0].lineno == loop.lineno:
        return ()
    if any(_may_be_none(listing, node) for node in bound):
        return ()
    return (above(loop.body[0], f"{listing.indent(loop.body[0])}{detached(names, carried)}"),)


def _may_be_none(listing: Listing, name: ast.Name) -> bool:
    """Whether an assignment before the loop is not plainly one of a tensor: ``h = None``, ``state = model.initial()``
    of several."""
    statement = listing.parents.get(name)
    while statement is not None and not isinstance(statement, ast.stmt):
        statement = listing.parents.get(statement)
    value = getattr(statement, "value", None)
    return value is None or any(isinstance(node, ast.Constant) and node.value is None for node in ast.walk(value))


def kept_without_history(write: Written) -> Fix | None:
    """``total += loss.detach()``, ``losses.append(loss.detach())``."""
    statement, listing = write.statement, write.listing
    value: ast.expr | None = statement.value if isinstance(statement, ast.AugAssign) else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        value = statement.value.args[0] if len(statement.value.args) == 1 else None
    if value is None:
        return None
    text = listing.text(value) if isinstance(value, _SIMPLE) else f"({listing.text(value)})"
    sentence = _("Keep the values alone: with `.detach()` each pass's graph is freed when the pass is over.")
    return fix_of(write.site, listing, [(value, f"{text}.detach()")], None, sentence)


def with_its_history(write: Written) -> Fix | None:
    """The line at which a graph ended, without the one thing that ended it."""
    value = write.statement.value if isinstance(write.statement, (ast.Assign, ast.Return, ast.Expr)) else None
    if value is None:
        return None
    outer = next((node for node in ast.walk(value) if _behind(node) is not None), None)
    kept = outer
    while kept is not None and (behind := _behind(kept)) is not None:
        kept = behind
    if not isinstance(outer, ast.expr) or kept is None or any(_behind(node) is not None for node in ast.walk(kept)):
        return None
    if any(_behind(node) is not None for node in set(ast.walk(value)) - set(ast.walk(outer))):
        return None
    text = write.listing.text(kept)
    return fix_of(
        write.site, write.listing, [(outer, text if isinstance(kept, _SIMPLE) or outer is value else f"({text})")]
    )


def _behind(node: ast.AST) -> ast.expr | None:
    """``x`` of ``x.detach()``, ``x.item()``, ``x.data``, ``float(x)`` and ``torch.tensor(x)``."""
    if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Load):
        return node.value
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and not node.args:
        return node.func.value
    copies = path_text(node.func) in ("float", spelled("torch.tensor"), spelled("torch.as_tensor"))
    one = node.args[0] if copies and len(node.args) == 1 else None
    return one if isinstance(one, (*_SIMPLE, ast.BinOp)) else None
