"""The gradients of all but the last of several backwards were cleared before the step that they were to add up for.

``backward`` adds to ``.grad`` so that several batches can make one step
(https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation). Where ``zero_grad`` stands before
each backward, or before the last one of them, the step goes along one batch alone: the others served nothing.

Bad::

    for i, x in enumerate(batches):
        opt.zero_grad()                     # for each of four
        (loss_of(x) / 4).backward()
        if (i + 1) % 4 == 0:
            opt.step()

Good::

    for i, x in enumerate(batches):
        (loss_of(x) / 4).backward()
        if (i + 1) % 4 == 0:
            opt.step()
            opt.zero_grad()

Told from the record alone: all gradients that a backward had filled were cleared by one line, with no call having read
any of them, and no hook having seen them; the same backward, reached the same way, filled those that a later step was
made by; and so it went again and again, with as many cleared before each step, or with one of two numbers, as where the
batches of an epoch are no multiple. So it is where a step comes after every `n` backwards, whatever lies between them,
and a clearing threw some of the `n` away before some of the steps, as at the beginning of an epoch. Silent where one
gradient of such a backward was read or kept (that of an attacked image, a norm that is shown, those of another
optimizer's parameters), where some steps come without a clearing before them, as where a bad batch is skipped, and
where nobody steps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

from inplace_magic.analysis.gradient_sums import (
    GradientUses,
    PartThrownAway,
    leaves_of,
    part_thrown_away,
)
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Edit, listing_of

CODE = "gradients-thrown-away"
_INDEX = attrgetter("index")


@dataclass(frozen=True)
class _Ran:
    """A run of a backward, and what became of the gradients that it filled."""

    backward: CallEvent
    leaves: frozenset[int]
    clears: tuple[CallEvent, ...] = ()
    """The calls that cleared them all, unread."""
    step: CallEvent | None = None
    """The call that first moved one of the leaves after the gradients had been read."""
    read: bool = False


@dataclass(frozen=True)
class _Sums:
    """The runs of one backward, of which every so many make one step."""

    thrown: tuple[_Ran, ...]
    """Those before the first step."""
    stepped: _Ran
    """The one that the first step was made by."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that clears so."""
    runs: dict[Callsite, list[int]] = {}
    for index in story.backwards_run:
        call = story.calls[index]
        if call.callsite is not None and call.parent is None and not call.does("gives gradients"):
            runs.setdefault(call.callsite, []).append(index)
    seen, uses = set[Callsite](), GradientUses(story)
    for indices in runs.values():
        found = _sums(uses, indices)
        site = found.thrown[0].clears[0].callsite if found is not None else None
        if found is not None and site is not None and site not in seen:
            seen.add(site)
            yield _hazard(story, found)
        part = None if found is not None else part_thrown_away(uses, indices)
        if part is not None and part.clear.callsite is not None and part.clear.callsite not in seen:
            seen.add(part.clear.callsite)
            yield _hazard_of_a_part(story, part)


def _sums(uses: GradientUses, runs: list[int]) -> _Sums | None:
    """What the runs of one backward have in common, where each step comes after some that were for nothing."""
    if len(runs) < 4:
        return None
    waiting: list[_Ran] = []
    steps: list[_Sums] = []
    sites: set[Callsite | None] = set()
    for index, until in pairwise([*runs, len(uses.story.trace.calls)]):
        ran = _ran(uses, index, until)
        if ran.clears:
            waiting.append(ran)
            sites |= {call.callsite for call in ran.clears}
        elif ran.step is not None and waiting:
            steps.append(_Sums(tuple(waiting), ran))
            waiting = []
        elif ran.read or ran.step is not None:
            return None
        else:
            break  # left where they are, for ever
    numbers = {len(step.thrown) for step in steps}
    regular = len(steps) >= 2 * len(numbers) and len(numbers) <= 2
    return steps[0] if steps and regular and len(sites) == 1 and None not in sites else None


def _ran(uses: GradientUses, index: int, until: int) -> _Ran:
    """What became of the gradients of one backward.

    Args:
        uses: of the gradients of a record.
        index: the backward.
        until: its next run, or the end.
    """
    call, filled = uses.story.calls[index], uses.of(index)
    if filled is None:
        return _Ran(call, frozenset(), read=True)
    clears = [clear for clear in filled.clears if clear is not None]
    if len(clears) == len(filled.clears):
        return _Ran(call, filled.leaves, clears=tuple(sorted(clears, key=_INDEX)))
    used = [use.index for use in filled.first if use is not None]
    if not any(at < until for at in used):
        return _Ran(call, filled.leaves, read=bool(used))
    step = uses.first_step(filled, min(used), until)
    return _Ran(call, filled.leaves, step=step, read=step is None)


def _name(story: Story, clear: CallEvent, leaves: frozenset[int]) -> str | None:
    """That of a leaf whose gradient a call cleared; of one of them, where it got the gradients alone."""
    cleared = [meta.tensor for meta in clear.inputs if meta.tensor in leaves]
    return story.bindings.name((cleared or sorted(leaves))[0])


def _hazard(story: Story, found: _Sums) -> Hazard:
    last = found.thrown[-1]
    clear = last.clears[0]
    step = found.stepped.step
    site = clear.callsite
    name = _name(story, clear, last.leaves)
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{clear} clears what {backward} has left in {gradient} before anybody reads it, {thrown} times for each "
            "step: {step} goes along the gradients of the last backward alone. PyTorch gives no error."
        ).format(
            clear=wording.spot(site),
            backward=wording.spot(last.backward.callsite),
            gradient=f"`{name}.grad`" if name else _("the gradients"),
            thrown=len(found.thrown),
            step=wording.spot(step.callsite if step is not None else None),
        ),
        fix=_(
            "Clear the gradients where a step has used them, and nowhere before: move `zero_grad()` to right after "
            "`step()`."
        ),
        variable=f"{name}.grad" if name else None,
        mutation=site,
        origin=last.backward.callsite,
        read=step.callsite if step is not None else None,
        read_call=step.index if step is not None else None,
        call=clear.index,
        badges=Badges(wrote=_("cleared here"), read=_("steps by the last one alone here"), origin=_("fills them here")),
    )


def _hazard_of_a_part(story: Story, part: PartThrownAway) -> Hazard:
    clear, step = part.clear, part.step
    name = _name(story, clear, leaves_of(story, part.backward.index))
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{clear} clears what {backward} has left in {gradient} before anybody reads it: a step comes after every "
            "{usual} backwards, and {step} goes along {left} of them. PyTorch gives no error."
        ).format(
            clear=wording.spot(clear.callsite),
            backward=wording.spot(part.backward.callsite),
            gradient=f"`{name}.grad`" if name else _("the gradients"),
            usual=part.usual,
            left=part.left,
            step=wording.spot(step.callsite),
        ),
        fix=_("Clear the gradients where a step has used them, and nowhere before."),
        variable=f"{name}.grad" if name else None,
        mutation=clear.callsite,
        origin=part.backward.callsite,
        read=step.callsite,
        read_call=step.index,
        call=clear.index,
        badges=Badges(wrote=_("cleared here"), read=_("steps by the rest here"), origin=_("fills them here")),
    )


def cleared_after_its_step(write: Written) -> Fix | None:
    """The line that clears, moved to below the step of the same optimizer in the same function."""
    clear, step = write.hazard.mutation, write.hazard.read
    if clear is None or step is None or clear.direct or step.direct or not clear.same_run(step):
        return None
    listing = listing_of(write.story.trace, clear)
    if listing is None or not listing.whole:
        return None
    moved, above = listing.statement_at(clear), listing.statement_at(step)
    if moved is None or above is None or _owner(moved) is None or _owner(moved) != _owner(above):
        return None
    if (
        len(listing.block_of(moved)) == 1
        or not listing.alone(moved)
        or listing.scope_of(moved) != listing.scope_of(above)
    ):
        return None
    below = listing.replace(above, listing.text(above), listing.text(moved))
    gone = Edit(moved.lineno, moved.end_lineno or moved.lineno, ())
    return Fix(clear, listing, tuple(sorted((gone, below), key=lambda edit: edit.first))) if below is not None else None


def _owner(statement: ast.stmt) -> str | None:
    """``opt`` of ``opt.step()``, where that is all of the statement."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    return expressions.path_text(call.func.value)


RULE = Rule(check, {CODE: Cures((cleared_after_its_step,))})
