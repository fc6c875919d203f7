"""Values were centred or scaled in place by what was measured of them, and then once more by the same measure.

Whoever keeps ``mean`` and ``std`` of a table to use them again expects the table as it was. Where the first use wrote
the table, the second one works on values that have it behind them.

Bad::

    mean, std = table.mean(0), table.std(0)
    table -= mean
    table /= std
    scores = ((table - mean) / std) @ axes      # a second time

Good::

    mean, std = table.mean(0), table.std(0)
    scores = ((table - mean) / std) @ axes

Told from the record alone: a tensor was computed from another one, that other one was divided by it in place or had it
subtracted, and another line then did the same to the same tensor with the same measure; or the same line did, in a
loop, by way of the loop's next object (``for part in (train, check): part.dataset.standardise(mean, std)``, where both
are parts of one dataset). Silent where the values were
written by anything else in between, as when they are scaled back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import whole_listing

CODE = "standardised-again"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    if not story.doing("subtracts or divides"):
        return
    written: dict[tuple[int, int, str], CallEvent] = {}
    told: set[Callsite | None] = set()
    given: list[CallEvent] = []
    for call in story.trace.calls:
        if not call.mutations and not written:
            continue
        pair = _pair(call)
        first = written.get(pair) if pair is not None else None
        if first is None or first.callsite in told:
            pass
        elif _is_another_line(first, call):
            told.add(first.callsite)
            yield _hazard(story, first, call)
        elif first.mutations and call.mutations and first.callsite == call.callsite:
            told.add(first.callsite)
            name = _of_a_loop(story, call.callsite)
            if name is not None and not any(_same_statement(first, told_of) for told_of in given):
                given.append(first)
                yield _of_two_objects(story, first, name)
        if call.mutations and not (call.does("subtracts or divides") and call.kind == "in-place"):
            tensors = {mutation.tensor for mutation in call.mutations}
            written = {key: write for key, write in written.items() if key[0] not in tensors}
        elif call.mutations and pair is not None and _is_measured(story, *pair[:2], call.index):
            written.setdefault(pair, call)


def _pair(call: CallEvent) -> tuple[int, int, str] | None:
    """What a call of two tensors works on, what by, and the operation, which is the same in place and not."""
    if len(call.inputs) != 2 or call.error is not None or not (call.mutations or call.does("has a form in place")):
        return None
    one, other = call.inputs
    return (one.tensor, other.tensor, call.operation.rstrip("_")) if one.tensor != other.tensor else None


def _is_another_line(first: CallEvent, call: CallEvent) -> bool:
    one, other = first.callsite, call.callsite
    return one is not None and other is not None and not one.same_line(other)


def _is_measured(story: Story, tensor: int, measure: int, before: int) -> bool:
    """Whether a tensor was computed from another one alone, or from elements picked from it."""
    maker = story.innermost_new(measure, before)
    if maker is None or maker.kind != "ordinary" or len({meta.tensor for meta in maker.inputs}) != 1:
        return False
    source = maker.inputs[0].tensor
    picking = story.innermost_new(source, maker.index)
    picked = picking is not None and picking.does("picks") and picking.inputs[0].tensor == tensor
    return source == tensor or picked


def _same_statement(one: CallEvent, other: CallEvent) -> bool:
    return one.callsite is not None and one.callsite.same_line(other.callsite)


def _of_a_loop(story: Story, site: Callsite | None) -> str | None:
    """The variable of a loop over objects by which a line, or one that led to it, comes to what it writes."""
    node = expressions.parse(site.expression) if site is not None else None
    while site is not None and isinstance(node, ast.AST):
        root = _root(node)
        if root is None or root in _loop_variables(story, site):
            return root
        outer = site.caller
        if outer is None or root not in site.parameters:
            return None
        node = expressions.parse(outer.expression)
        if root != site.parameters[0] or root not in ("self", "cls"):
            node = expressions.parameter_argument(outer.expression, site.parameters, root)
        site = outer
    return None


def _root(node: ast.AST) -> str | None:
    """``part`` of ``part.dataset.standardise(mean, std)``."""
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _loop_variables(story: Story, site: Callsite) -> set[str]:
    """The variables of the loops around a place in its function."""
    listing = whole_listing(story.trace, site)
    statement = listing.statement_at(site) if listing is not None else None
    found: set[str] = set()
    for loop in listing.around(statement) if listing is not None and statement is not None else ():
        if isinstance(loop, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            break
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name):
            found.add(loop.target.id)
    return found


def _of_two_objects(story: Story, first: CallEvent, loop: str) -> Hazard:
    tensor = first.mutations[0].tensor
    name = story.bindings.written_name(first, tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} did to {tensor} in place, with the same measure, what it had done to it in the pass before: the "
            "objects that `{loop}` goes through hold one tensor. PyTorch gives no error."
        ).format(line=wording.spot(first.callsite), tensor=f"`{name}`" if name else _("a tensor"), loop=loop),
        fix=_("Do it once, where the tensor is made, or give each object a copy of its own."),
        variable=name,
        tensor=tensor,
        write=first,
    )


def _hazard(story: Story, first: CallEvent, call: CallEvent) -> Hazard:
    tensor, measure = (meta.tensor for meta in first.inputs)
    name = story.bindings.written_name(first, tensor)
    by = story.bindings.name(measure)
    return finding(
        CODE,
        "warning",
        message=_(
            "{again} does to {tensor} what {write} had done to it in place, with the same {measure}, which was "
            "measured before. PyTorch gives no error."
        ).format(
            again=wording.spot(call.callsite),
            write=wording.spot(first.callsite),
            tensor=f"`{name}`" if name else _("a tensor"),
            measure=f"`{by}`" if by else _("measure"),
        ),
        fix=_(
            "Work on a copy where it is written first, or use the values that were written and not the measure again."
        ),
        variable=name,
        read=call,
        tensor=tensor,
        write=first,
    )


RULE = Rule(check)
