"""A dataset's ``__getitem__`` edits the stored data in place, so every epoch gets it edited once more.

``self.images[i]`` is a view: normalising it in place normalises the stored image, and the next epoch normalises the
result again (pytorch/vision issue 680).

Bad::

    def __getitem__(self, i):
        image = self.images[i]
        return image.sub_(0.5).div_(0.25)

Good::

    def __getitem__(self, i):
        return (self.images[i] - 0.5) / 0.25

Found when one line of a ``__getitem__`` has written the same elements twice, with arithmetic that depends on the old
values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.written import FORGETS_OLD_VALUES
from inplace_magic.language import _
from inplace_magic.trace import CallEvent, Callsite

CODE = "dataset-item-edited"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    met: dict[tuple[Callsite, object], int] = {}
    told: set[tuple[int | None, str | None, int]] = set()
    for call in story.trace.calls:
        site = call.callsite
        if site is None or call.kind != "in-place" or not site.function.endswith("__getitem__"):
            continue
        line = (site.cell, site.file, site.line)
        if line in told:
            continue
        if call.name.endswith(FORGETS_OLD_VALUES):
            continue
        for mutation, after in zip(call.mutations, call.mutated, strict=False):
            key = (replace(site, caller=None), (after.storage, region_of(after)))
            met[key] = met.get(key, 0) + 1
            if met[key] == 2:
                told.add(line)
                yield _hazard(story, call, mutation.tensor, site)
                break


def _hazard(story: Story, call: CallEvent, tensor: int, site: Callsite) -> Hazard:
    variable = story.bindings.written_name(call, tensor)
    what = f"`{variable}`" if variable else _("the item")
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{line} edited {tensor} in place for the second time: the item is a view of the stored data, so each time "
            "it is fetched the edit is made on top of the last one. PyTorch gives no error."
        ).format(line=wording.spot(site), tensor=what),
        fix=_("Edit out of place, or fetch a copy first (`.clone()`)."),
        variable=variable,
        mutation=site,
        mutations=(site,),
        tensor=tensor,
        call=call.index,
    )
