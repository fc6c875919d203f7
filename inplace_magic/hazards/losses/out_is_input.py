"""``out=`` names a tensor that the same operation reads, in an operation that reads each element more than once.

An elementwise operation may write its own input. A product of matrices has not read all when it writes the first
element, so what it gives depends on the library behind it.

Bad::

    torch.mv(step, state, out=state)

Good::

    state = torch.mv(step, state)

Told from the record alone: a product, a gather or the like wrote a memory that it was given as an input as well. Silent
for what ``addmm`` and its like add the product to: ``torch.addmm(x, a, b, out=x)`` is ``x.addmm_(a, b)``.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.overlap import may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.new_tensor import made_out_of_place
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _

CODE = "out-is-input"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each such line."""
    seen = set()
    for call in story.doing("mixes"):
        site = call.callsite
        if call.kind != "in-place" or call.error is not None or site is None or site in seen:
            continue
        written = call.mutated[0]
        given = call.inputs[1:] if call.does("adds a product") else call.inputs  # `x.addmm_(a, b)` writes `x`, too
        on_it = [meta for meta in given if meta.storage is not None and meta.storage == written.storage]
        if len(on_it) < 2 or not all(may_meet(region_of(meta), region_of(written)) for meta in on_it):
            continue
        seen.add(site)
        name = story.bindings.written_name(call, written.tensor)
        yield finding(
            CODE,
            "silent",
            message=_(
                "{line} writes its result over {tensor}, which it still reads: elements that it needs later are gone. "
                "PyTorch gives no error."
            ).format(line=wording.spot(site), tensor=f"`{name}`" if name else _("an input")),
            fix=_("Let it make a new tensor: leave `out=` out and bind the result."),
            variable=name,
            tensor=written.tensor,
            write=call,
        )


RULE = Rule(check, {CODE: Cures((made_out_of_place,))})
