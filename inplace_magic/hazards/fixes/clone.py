"""Fixes that put ``.clone()`` where a second reference was taken: by the op that saved, a second name, a call.

A copy at the place of saving leaves every write of the program as it is: backward reads the copy. It is right wherever
the saving line names the saved tensor, or is the expression that gave it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from inplace_magic.hazards.fixes.target import Change, Fix, Text, Written, fix_of, text_at
from inplace_magic.language import N_, _
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import is_no_tensor, operands, path_text
from inplace_magic.source.listing import Listing, listing_of
from inplace_magic.source.out_of_place import chain_base, cloned

WHERE_SAVED = N_("Copy it on the line that saves it: the write then leaves alone what backward needs.")


def where_it_was_saved(write: Written) -> Fix | None:
    """Let every op that saved the written memory save a copy of it."""
    return _saved_copied(write, _stale(write))


def where_it_was_saved_unseen(write: Written) -> Fix | None:
    """The same for a write that moved no version: also what ``x.data = …`` replaced."""
    return _saved_copied(write, _replaced_or_written_unseen(write))


def _saved_copied(write: Written, stale: Iterable[tuple[SavedTensor, CallEvent]]) -> Fix | None:
    first = write.hazard.saved
    listing = listing_of(write.story.trace, first)
    if first is None or listing is None:
        return None
    changes: dict[Callsite, Change] = {}
    price = 0
    for saved, call in stale:
        site = call.callsite
        if site is None or (site.cell, site.file) != (first.cell, first.file) or not site.direct:
            return None
        price += saved.nbytes or 0
        if site not in changes:
            in_sight = listing.whole or site.line == first.line
            node = _saved_expression(listing, site, call, saved) if in_sight else None
            if node is None:
                return None
            changes[site] = cloned(listing, node)
    return fix_of(first, listing, changes.values(), price or None, _(WHERE_SAVED))


def _stale(write: Written) -> Iterator[tuple[SavedTensor, CallEvent]]:
    """Yield what was saved of the memory that the call wrote, is still held, and was written since."""
    story, wrote = write.story, write.call
    if wrote is None or write.mutation is None or write.mutation.counter is None:
        return
    calls = (each for each in story.trace.calls if each.callsite == write.site)  # `for m in maps: m += 1` writes each
    counters = {mutation.counter for call in calls for mutation in call.mutations}
    for saved in story.trace.saved:
        node = story.nodes[saved.node]
        call = story.calls.get(node.call)
        if call is None or saved.counter not in counters or saved.version is None:
            continue
        let_go = node.ended is not None and node.ended <= wrote.index
        if not let_go and story.writes_after(saved, saved.version):
            yield saved, call


def _replaced_or_written_unseen(write: Written) -> Iterator[tuple[SavedTensor, CallEvent]]:
    """Yield what was saved of the memory that the call wrote or, by ``x.data = …``, replaced; on the line of the
    finding's saver, also what other lines replaced."""
    story, wrote = write.story, write.call
    if wrote is None:
        return
    tensors = {meta.tensor for meta in wrote.inputs[:1]} if wrote.does("takes memory") else set()
    for saved in story.trace.saved:
        call = story.calls.get(story.nodes[saved.node].call)
        if call is None or saved.storage is None:
            continue
        setters = story.data_setters.get(saved.tensor, ()) if saved.tensor is not None else ()
        site = call.callsite
        replaced = any(s.index > call.index and s.inputs[0].storage == saved.storage for s in setters)
        own = saved.tensor in tensors or (site is not None and site.same_line(write.hazard.saved))
        written = write.mutation is not None and saved.storage == write.mutation.storage
        if (replaced and own) or (written and call.index < wrote.index):
            yield saved, call


def _saved_expression(listing: Listing, site: Callsite, call: CallEvent, saved: SavedTensor) -> ast.expr | None:
    """Return the expression in the saving call that gives what was saved: an operand, or the call itself."""
    node = listing.expression_at(site)
    if node is None:
        return None
    inputs = [meta for meta in call.inputs if meta.storage == saved.storage]
    if not inputs:
        gave = any(meta.storage == saved.storage for meta in call.outputs)
        return node if gave and len(call.outputs) == 1 else None
    given = [each for each in operands(node, method=call.does("method")) if not is_no_tensor(each)]
    if len(inputs) != 1 or len(given) != len(call.inputs):
        return None
    return given[call.inputs.index(inputs[0])]


def in_the_same_statement(write: Written) -> Fix | None:
    """``p[:, 1] = softplus(p[:, 1])``: the right-hand side saves what the left-hand side then writes."""
    statement = write.statement
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    sentence = _(
        "Let the right-hand side read from a copy: backward then keeps the copy, which the write leaves alone."
    )
    return _reads_cloned(write, statement.value, sentence)


def of_what_is_read(write: Written) -> Fix | None:
    """An op that reads elements which it also writes reads a copy."""
    statement = write.statement
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        return _reads_cloned(write, statement.value)
    call = statement.value if isinstance(statement, ast.Expr) else None
    plain = isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords
    return _reads_cloned(write, call.args[0]) if isinstance(call, ast.Call) and plain else None


def _reads_cloned(write: Written, value: ast.expr, sentence: str = "") -> Fix | None:
    reads = _reads(value, write.path) if write.path is not None else ()
    return write.substituted([cloned(write.listing, node) for node in reads], None, sentence)


def _reads(value: ast.expr, path: str) -> list[ast.expr]:
    """Return the outermost reads of a variable, or of parts of it, in an expression."""
    if path_text(value) == path or (isinstance(value, ast.Subscript) and path_text(value.value) == path):
        return [value]
    children = (child for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr))
    return [read for child in children for read in _reads(child, path)]


def where_it_is_handed(write: Written) -> Fix | None:
    """``F.embedding(rows, table.clone(), max_norm=1.0)``: a call that writes an argument gets a copy of it."""
    node = write.expression if write.site.direct else None
    if not isinstance(node, ast.Call) or write.path is None or write.path == path_text(chain_base(node)):
        return None
    return write.copied(*(given for given in node.args if path_text(given) == write.path))


def where_it_was_made(write: Written) -> Fix | None:
    """``x.expand(3, 4).clone()``: the origin of the written tensor gives memory of its own."""
    text = text_at(write.story, write.hazard.origin)
    made = _last_call_at(write, write.hazard.origin)
    price = sum(each.nbytes or 0 for each in made.outputs) if made is not None else None  # a part may be written
    return copied_as_given(write, text, price or write.nbytes) if text is not None else None


def copied_as_given(write: Written, text: Text, price: int | None) -> Fix | None:
    """The fix that copies what an expression gives: ``x.clone()``, and of several tensors each."""
    made = _last_call_at(write, text.site)
    if made is None or not (len(made.outputs) > 1 or made.does("gives gradients")):
        return text.copied(price)
    each = f"tuple(each.clone() for each in {text.listing.text(text.node)})"
    return text.replaced(each if isinstance(text.node, ast.Call) else None, price)


def _last_call_at(write: Written, origin: Callsite | None) -> CallEvent | None:
    calls = reversed(write.story.trace.calls) if origin is not None else ()
    return next((call for call in calls if call.callsite == origin), None)


def at_the_second_name(write: Written) -> Fix | None:
    """``labels = ids.clone()``: the statement that gave the second name makes a copy."""
    site, listing = write.site, write.listing
    if not listing.whole or write.path is None:
        return None
    for alias in write.story.aliases.beside(site):
        statement = listing.statement_on(alias.line)
        if alias.line >= site.line or write.path not in (alias.target, alias.source):
            continue
        if not isinstance(statement, ast.Assign):
            continue
        if len(statement.targets) > 1:
            return _in_two_statements(write, statement)
        other = alias.source if alias.target == write.path else alias.target
        if path_text(statement.targets[0]) == alias.target and write.is_read_after(other):
            return write.copied(statement.value)
    return None


def _in_two_statements(write: Written, statement: ast.Assign) -> Fix | None:
    """``m = torch.zeros(3)`` and ``v = m.clone()`` for ``m = v = torch.zeros(3)``."""
    listing, names = write.listing, [path_text(target) for target in statement.targets]
    lines = [f"{names[0]} = {listing.text(statement.value)}", *(f"{name} = {names[0]}.clone()" for name in names[1:])]
    return write.fix(listing.replace(statement, *lines) if None not in names else None, write.nbytes)
