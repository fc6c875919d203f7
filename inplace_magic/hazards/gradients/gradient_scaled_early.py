"""A gradient was scaled or clipped between two backwards that add to it: the first one's share was scaled again and
again, the last one's once.

Gradients that are accumulated over several backwards are a sum. Whoever divides or clips inside the loop changes what
stands there already, and not what is still to be added.

Bad::

    for part in parts:
        loss(part).backward()
        w.grad /= len(parts)        # the first part is divided each time

Good::

    for part in parts:
        (loss(part) / len(parts)).backward()

Told from the record: the buffer was scaled by numbers that changed it, a backward added to it afterwards, nobody had
stepped or cleared in between, and a step followed. Silent for gradients that are scaled after a step, as some do to
keep a share of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.gradients import GradientEvent, gradient_histories
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _

CODE = "gradient-scaled-early"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that scales a gradient too early."""
    seen = set()
    for leaf, events in gradient_histories(story):
        for scaled, added in _scaled_between(events):
            if scaled.call.callsite not in seen and _changed(scaled):
                seen.add(scaled.call.callsite)
                yield _hazard(story, leaf, scaled, added)


def _scaled_between(events: list[GradientEvent]) -> Iterator[tuple[GradientEvent, GradientEvent]]:
    """(scaling, later backward) of one sum, where a step follows."""
    filled = False
    scaled: GradientEvent | None = None
    found: tuple[GradientEvent, GradientEvent] | None = None
    for event in events:
        if event.kind == "added":
            if scaled is not None and found is None:
                found = scaled, event
            filled = True
        elif event.kind == "scaled":
            scaled = event if filled and scaled is None else scaled
        elif event.kind != "read":
            if event.kind == "stepped" and found is not None:
                yield found
            filled, scaled, found = False, None, None


def _changed(scaled: GradientEvent) -> bool:
    """Whether the numbers are others than before, as far as is known: clipping multiplies by 1 where it need not."""
    return any(m.values_before is None or m.values_before != m.values_after for m in scaled.call.mutations)


def _hazard(story: Story, leaf: int, scaled: GradientEvent, added: GradientEvent) -> Hazard:
    name = story.bindings.name(leaf)
    site, call = scaled.call.callsite, scaled.call
    return Hazard(
        code=CODE,
        severity="silent",
        message=_(
            "{line} scales {gradient} in the middle of a sum: {backward} adds to it afterwards, so the shares of the "
            "backwards are scaled differently. PyTorch gives no error."
        ).format(
            line=wording.spot(site),
            gradient=f"`{name}.grad`" if name else _("the gradients"),
            backward=wording.spot(added.call.callsite),
        ),
        fix=_(
            "Scale the loss of each part before its backward (`(loss / n).backward()`), or scale and clip once, below "
            "the last backward and above the step."
        ),
        variable=f"{name}.grad" if name else None,
        mutation=site,
        read=added.call.callsite,
        read_call=added.at,
        tensor=call.mutations[0].tensor if call.mutations else None,
        call=call.index,
        badges=Badges(wrote=_("scaled here"), read=_("adds to it here")),
    )


RULE = Rule(check)
