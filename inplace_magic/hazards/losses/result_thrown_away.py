"""A method made a new tensor and nobody took it: the tensor that it was called on stays as it was.

``masked_fill`` gives a new tensor, ``masked_fill_`` writes the one that it is called on
(https://docs.pytorch.org/docs/stable/tensors.html: "methods which mutate a tensor are marked with an underscore
suffix"). ``to``, ``float`` and ``detach`` have no form that writes.

Bad::

    scores.masked_fill(padding, -1e9)

Good::

    scores = scores.masked_fill(padding, -1e9)

Told from the record alone: a statement is nothing but the call of a method that has a form in place, or that converts;
it gave a tensor of its own; no call ever read that tensor; and another statement of the function computes with the old
one afterwards. Silent for the last line of a cell, which shows its value, and for a loop that measures time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import whole_listing

CODE = "result-thrown-away"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each such statement."""
    seen = set()
    alone = {key for key, site in story.sites.items() if site.direct and _is_all_of_its_statement(site)}
    for call in story.at(alone):
        site = call.callsite
        if site is None or site in seen or call.error is not None or len(call.outputs) != 1:
            continue
        if not (call.does("has a form in place") or call.does("may hand back")) or not call.inputs:
            continue
        made, given = call.outputs[0], call.inputs[0]
        if made.tensor == given.tensor:
            continue
        if not story.given_to.get(made.tensor) and not _is_shown(story, site) and _is_read_on(story, call, given):
            seen.add(site)
            yield _hazard(story, call)


def _is_all_of_its_statement(site: Callsite) -> bool:
    return site.expression.strip() == site.statement.strip()


def _is_shown(story: Story, site: Callsite) -> bool:
    """Whether a statement is the last one of a cell, whose value the notebook shows."""
    if site.cell is None or site.function != "<module>":
        return False
    listing = whole_listing(story.trace, site)
    body = listing.tree.body if listing is not None and isinstance(listing.tree, ast.Module) else []
    return not body or body[-1].lineno <= site.line


def _is_read_on(story: Story, call: CallEvent, given: TensorMetadata) -> bool:
    """Whether another statement of the same run computes with the tensor afterwards, as if it had been changed."""
    for later in story.given_to.get(given.tensor, ()):
        here = call.callsite is not None and any(
            call.callsite.same_run(place) and not call.callsite.same_statement(place)
            for place in (later.callsite.chain if later.callsite is not None else ())
        )
        if here and later.index > call.index and later.kind != "query":
            return True
    return False


def _hazard(story: Story, call: CallEvent) -> Hazard:
    site = call.callsite
    node = expressions.parse(site.expression) if site is not None else None
    name = _receiver(node) or story.bindings.name(call.inputs[0].tensor)
    return finding(
        CODE,
        "silent",
        message=_(
            "{line} makes a new tensor that nobody takes: `{operation}` leaves {tensor} as it is. PyTorch gives no "
            "error."
        ).format(line=wording.spot(site), operation=call.operation, tensor=f"`{name}`" if name else _("its tensor")),
        fix=_("Bind the result: `{name} = {code}`.").format(
            name=name or "x", code=" ".join(site.expression.split()) if site is not None else ""
        ),
        variable=name,
        tensor=call.inputs[0].tensor,
        write=call,
        badges=Badges(wrote=_("nobody takes it here")),
    )


def _receiver(node: ast.AST | None) -> str | None:
    """``scores`` of ``scores.masked_fill(…)``."""
    method = node.func if isinstance(node, ast.Call) else None
    return expressions.path_text(method.value) if isinstance(method, ast.Attribute) else None


def bound(write: Written) -> Fix | None:
    """``scores = scores.masked_fill(padding, 0)``."""
    statement, listing = write.statement, write.listing
    path = _receiver(statement.value) if isinstance(statement, ast.Expr) else None
    if path is None or not path.isidentifier():
        return None
    edit = listing.replace(statement, f"{path} = {listing.text(statement)}")
    return Fix(write.site, listing, (edit,)) if edit is not None else None


RULE = Rule(check, {CODE: Cures((bound,))})
