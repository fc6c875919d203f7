"""Gradients were used, added to and used again: nobody cleared them in between.

``backward`` adds to ``.grad``, it does not replace it
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html). Where the same buffer serves two steps and
nothing clears it between them, the second step goes along the sum of both gradients; and where a line reads the
gradient of one output after the other, it reads sums.

Bad::

    for x in batches:
        model(x).sum().backward()
        opt.step()

    for k in range(3):
        y[k].backward(retain_graph=True)
        rows.append(w.grad.clone())

Good::

    for x in batches:
        opt.zero_grad()
        model(x).sum().backward()
        opt.step()

    rows = [torch.autograd.grad(y[k], w, retain_graph=True)[0] for k in range(3)]

Told from the record: a parameter was moved after its gradient had been read, a backward then added to that very buffer,
and the parameter was moved by it again; or one line read the gradient, a backward added to it, and the same line read
it again, where nobody moves the leaf. Silent where the gradient was cleared, overwritten or made anew in between, and
for several backwards before one step, as gradients are accumulated on purpose.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.gradients import GradientEvent, gradient_histories
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _, spelled
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import listing_of

CODE = "gradient-not-cleared"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each backward that added to gradients which had served a step."""
    seen = set()
    for leaf, events in gradient_histories(story):
        for first, added, second in (*_between_two_steps(events), *_between_two_reads(events)):
            if added.call.callsite not in seen:
                seen.add(added.call.callsite)
                yield _hazard(story, leaf, first, added, second)


def _between_two_steps(events: list[GradientEvent]) -> Iterator[tuple[GradientEvent, GradientEvent, GradientEvent]]:
    """(step, backward, next step) with nothing that cleared the gradient from the one to the other."""
    first = added = None
    for event in events:
        if event.kind == "cleared":
            first = added = None
        elif event.kind == "added" and first is not None and added is None:
            added = event
        elif event.kind == "stepped":
            if first is not None and added is not None:
                yield first, added, event
            first, added = event, None


def _between_two_reads(events: list[GradientEvent]) -> Iterator[tuple[GradientEvent, GradientEvent, GradientEvent]]:
    """(read, backward, next read by the same line) of a leaf that is never moved."""
    if any(event.kind == "stepped" for event in events):
        return
    first = added = None
    for event in events:
        site = event.call.callsite
        if event.kind == "cleared":
            first = added = None
        elif event.kind == "added" and first is not None:
            added = event
        elif event.kind == "read" and site is not None and site.direct and first is not None and added is not None:
            if first.call.callsite == site:
                yield first, added, event
            first, added = event, None
        elif event.kind == "read" and site is not None and site.direct:
            first = first or event


def _hazard(story: Story, leaf: int, first: GradientEvent, added: GradientEvent, second: GradientEvent) -> Hazard:
    name = story.bindings.name(leaf)
    site = added.call.callsite
    return Hazard(
        code=CODE,
        severity="warning",
        message=(
            _(
                "{backward} adds to {gradient}, which {step} had used already and nobody cleared, so {next} goes along "
                "the sum of the gradients of several steps. PyTorch gives no error."
            )
            if second.kind == "stepped"
            else _(
                "{backward} adds to {gradient}, which {step} had read already and nobody cleared, so the next time it "
                "reads the sum of several gradients. PyTorch gives no error."
            )
        ).format(
            backward=wording.spot(site),
            gradient=f"`{name}.grad`" if name else _("the gradients"),
            step=wording.spot(first.call.callsite),
            next=wording.line_of(second.call.callsite),
        ),
        fix=_("Clear the gradients between two steps: `optimizer.zero_grad()`, or `model.zero_grad()`.")
        if second.kind == "stepped"
        else _("Ask for the gradient itself, which adds to nothing: `torch.autograd.grad(output, input)`."),
        variable=f"{name}.grad" if name else None,
        mutation=site,
        origin=first.call.callsite,
        read=second.call.callsite,
        read_call=second.at,
        call=added.at,
        badges=Badges(wrote=_("adds to it here"), read=_("steps by the sum here"), origin=_("used here")),
    )


def cleared_after_the_step(write: Written) -> Fix | None:
    """``opt.zero_grad()`` below ``opt.step()``."""
    site = write.hazard.origin
    listing = listing_of(write.story.trace, site)
    statement = listing.statement_at(site) if listing is not None and site is not None else None
    if listing is None or site is None or not isinstance(statement, ast.Expr):
        return None
    call = statement.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or site.direct:
        return None  # only a library's own step is known to have the method beside it
    if not _is_moved_by(write.story, site, write.hazard.variable):
        return None  # an optimizer clears the gradients of its own parameters
    owner = expressions.path_text(call.func.value)
    edit = (
        listing.replace(statement, listing.text(statement), f"{owner}.{spelled('zero_grad()')}")
        if owner is not None
        else None
    )
    return Fix(site, listing, (edit,)) if edit is not None else None


def _is_moved_by(story: Story, step: Callsite, gradient: str | None) -> bool:
    """Whether a step writes the leaf of a gradient, by the leaf's name."""
    moved = {mutation.tensor for call in story.trace.calls if call.callsite == step for mutation in call.mutations}
    return any(f"{story.bindings.name(tensor)}.grad" == gradient for tensor in moved)


RULE = Rule(check, {CODE: Cures((cleared_after_the_step,))})
