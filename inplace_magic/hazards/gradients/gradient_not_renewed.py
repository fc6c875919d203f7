"""Two steps were made by one gradient, though backward ran in between: it filled other tensors than the step reads.

``zero_grad`` drops the gradients (``set_to_none=True`` since PyTorch 2.0,
https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html) and backward makes new ones; who
kept the old ones, as ``shared.grad = local.grad``, steps by them for ever.

Bad::

    for x in batches:
        local.grad = None
        (local * x).sum().backward()
        if shared.grad is None:
            shared.grad = local.grad        # the first one, for all steps
        opt.step()

Good::

    for x in batches:
        local.grad = None
        (local * x).sum().backward()
        shared.grad = local.grad
        opt.step()

Told from the record: an optimizer read the memory of a gradient, a backward ran, and the optimizer read it again
without anybody having written it. Silent for several steps after one backward.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from inplace_magic.analysis.gradients import steps_by
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent

CODE = "gradient-not-renewed"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that steps so."""
    ran = story.backwards_run
    seen = set()
    given = Counter([meta.storage for index in story.stepping_calls for meta in story.calls[index].inputs])
    for storage in story.trace.storages:
        if given[storage.storage] < 2 or storage.born not in story.backwards:
            continue  # as where each step begins without gradients
        for first, second in pairwise(steps_by(story, storage.storage)):
            last = bisect_left(ran, second.index) - 1
            site = second.callsite
            if last < 0 or ran[last] <= first.index or site in seen or first.callsite != site:
                continue
            if not story.is_written_between(storage.storage, first.index - 1, second.index + 1):
                seen.add(site)
                yield _hazard(story, first, second, story.calls[ran[last]])


def _hazard(story: Story, first: CallEvent, second: CallEvent, backward: CallEvent) -> Hazard:
    site = second.callsite
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{step} steps by a gradient that it had used before: {backward} ran in between and did not write it, so it "
            "filled the `.grad` of other tensors. PyTorch gives no error."
        ).format(step=wording.spot(site), backward=wording.spot(backward.callsite)),
        fix=_(
            "Hand the new gradients over before each step (`shared.grad = local.grad`), or let backward fill those of "
            "the tensors that the optimizer moves."
        ),
        mutation=site,
        origin=backward.callsite,
        call=second.index,
        badges=Badges(wrote=_("steps by the older one here"), origin=_("fills others here")),
    )


RULE = Rule(check)
