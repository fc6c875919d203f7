"""A state that the passes of a loop hand on, cut off from the pass before: one line at the top of the loop."""

from __future__ import annotations

import ast

from inplace_magic.hazards.fixes.step_advice import detached, state_names
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.stepped import Carried
from inplace_magic.language import _
from inplace_magic.record.places import Callsite
from inplace_magic.source.listing import Edit, Listing


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
    top, indent = loop.body[0].lineno, listing.indent(loop.body[0])
    return (Edit(top, top - 1, (f"{indent}{detached(names, carried)}",)),)


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
    text = listing.text(value)
    simple = isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    edit = listing.substitute([(value, f"{text}.detach()" if simple else f"({text}).detach()")])
    sentence = _("Keep the values alone: with `.detach()` each pass's graph is freed when the pass is over.")
    return Fix(write.site, listing, (edit,), None, sentence) if edit is not None else None
