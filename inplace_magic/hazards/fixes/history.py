"""Fixes that cut a graph off, keep it, compute it again, or leave out what ended it.

Which one is right after a second backward depends on what happened between the two. A state that each pass takes from
the one before is cut off below the backward, where it is a tensor even if it began as None. Where a step has changed
the values from which the graph was built, the lines that built it run again below the step; ``retain_graph=True`` would
go on with the old values, in silence, so it is never offered then. Where nothing was changed, keeping the graph is what
the program says, and a run proves it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes import reorder
from inplace_magic.hazards.fixes.step_advice import cut_off
from inplace_magic.hazards.fixes.target import Fix, Written, text_at
from inplace_magic.hazards.late_backward import Twice
from inplace_magic.language import _, spelled
from inplace_magic.record.places import Callsite, where_they_part
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Listing, listing_of
from inplace_magic.source.out_of_place import receiver

_SIMPLE = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)


def diff_of(twice: Twice) -> str:
    """Return the change that is certain from the record; empty where none is."""
    try:
        fix = _cut_off(twice) if twice.is_carried_on else _computed_anew(twice) if twice.stepped is not None else None
    except (ValueError, IndexError):  # a line of a form that is not foreseen
        return ""
    return fix.diff if fix is not None else ""


def kept(twice: Twice, hazard: Hazard) -> Iterator[Hazard]:
    """Yield the finding with the first backward keeping its graph, where no value of that was changed since."""
    site = twice.first[0].callsite if twice.first is not None else None
    text = text_at(twice.story, site)
    if text is None or not isinstance(text.node, ast.Call) or twice.stepped is not None or twice.is_carried_on:
        return
    call = text.node
    if any(entry.arg == "retain_graph" for entry in call.keywords):
        return
    comma = ", " if call.args or call.keywords else ""
    said = _("Let {line} keep the graph, which the next backward goes through again: nothing changed its values.")
    said = said.format(line=f"`{text.site.text.strip()}`")
    fix = text.replaced(f"{text.listing.text(call)[:-1]}{comma}retain_graph=True)", None, said)
    if fix is not None:
        yield fix.offered(hazard, "")


def _cut_off(twice: Twice) -> Fix | None:
    """``h = h.detach()`` below the backward, in the loop whose passes hand on the state."""
    reader, second = twice.joints[0].reader, twice.second.callsite
    if reader is None or second is None:
        return None
    here = where_they_part(second.chain, reader.chain)[0]
    listing = listing_of(twice.story.trace, here)
    used = listing.statement_at(here) if listing is not None else None
    names = [joint.name for joint in twice.joints if joint.name is not None]
    if listing is None or used is None or len(names) < len(twice.joints):
        return None
    return cut_off(listing, used, here, names, twice.joints)


def _computed_anew(twice: Twice) -> Fix | None:
    """The lines that built the graph, once more below the step, or moved into the loop that goes through it again."""
    second, step = twice.second.callsite, twice.stepped
    here = second.outermost if second is not None else None
    listing = listing_of(twice.story.trace, here)
    if here is None or listing is None or not listing.whole or step is None or step.callsite is None:
        return None
    used, wrote = listing.statement_at(here), listing.statement_at(step.callsite.outermost)
    built = [listing.statement_on(line) for line in sorted(_lines_of_the_graph(twice, here))]
    savers = [statement for statement in built if statement is not None and statement is not used]
    if used is None or wrote is None or not savers:
        return None
    edits = reorder.computed_anew(listing, savers, wrote, used)
    return Fix(here, listing, edits) if edits else None


def _lines_of_the_graph(twice: Twice, here: Callsite) -> set[int]:
    """Return the lines of a function at which the part that was used up was built."""
    calls = (twice.story.calls.get(twice.story.nodes[number].call) for number in twice.old)
    chains = (call.callsite.chain for call in calls if call is not None and call.callsite is not None)
    return {site.line for chain in chains for site in chain if site.same_function(here)}


def kept_without_history(write: Written) -> Fix | None:
    """``total += loss.detach()``, ``losses.append(loss.detach())``."""
    statement = write.statement
    value: ast.expr | None = statement.value if isinstance(statement, ast.AugAssign) else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        value = statement.value.args[0] if len(statement.value.args) == 1 else None
    if value is None:
        return None
    sentence = _("Keep the values alone: with `.detach()` each pass's graph is freed when the pass is over.")
    return write.substituted([(value, f"{_in_brackets(write.listing, value)}.detach()")], None, sentence)


def _in_brackets(listing: Listing, value: ast.AST) -> str:
    """Return the text of an expression, in parentheses where a dot behind it needs them."""
    return listing.text(value) if isinstance(value, _SIMPLE) else f"({listing.text(value)})"


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
    text = write.listing.text(kept) if outer is value else _in_brackets(write.listing, kept)
    return write.substituted([(outer, text)])


def _behind(node: ast.AST) -> ast.expr | None:
    """``x`` of ``x.detach()``, ``x.item()``, ``x.data``, ``float(x)`` and ``torch.tensor(x)``."""
    if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Load):
        return node.value
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if not node.args:
        return receiver(node, "detach", "item")
    copies = path_text(node.func) in ("float", spelled("torch.tensor"), spelled("torch.as_tensor"))
    one = node.args[0] if copies and len(node.args) == 1 else None
    return one if isinstance(one, (*_SIMPLE, ast.BinOp)) else None
