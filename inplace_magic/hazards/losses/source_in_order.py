"""``masked_scatter_`` was given a source of the tensor's own shape: it takes the first elements, not those masked.

``x.masked_scatter_(mask, source)`` fills the masked places with the elements of the source one after the other
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_scatter_.html), as if it had been picked before.

Bad::

    filled.masked_scatter_(gaps, estimate)

Good::

    filled[gaps] = estimate[gaps]

Told from the record alone: tensor, mask and source have one shape of more than one element. Silent for a source of
another shape, which was picked to fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _

CODE = "source-in-order"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each such line."""
    seen = set()
    for call in story.doing("takes in order"):
        site = call.callsite
        if call.kind != "in-place" or site is None or site in seen:
            continue
        shapes = {meta.shape for meta in call.inputs}
        shape = call.inputs[0].shape
        if len(call.inputs) != 3 or len(shapes) != 1 or shape is None or math.prod(shape) < 2:
            continue
        seen.add(site)
        name = story.bindings.written_name(call, call.mutations[0].tensor)
        yield finding(
            CODE,
            "warning",
            message=_(
                "{line} fills the masked places of {tensor} with the first elements of its source, one after the "
                "other, and not with those at the same places. PyTorch gives no error."
            ).format(line=wording.spot(site), tensor=f"`{name}`" if name else _("the tensor")),
            fix=_("Take the elements under the mask: `x[mask] = source[mask]`, or `torch.where(mask, source, x)`."),
            variable=name,
            tensor=call.mutations[0].tensor,
            write=call,
        )


RULE = Rule(check)
