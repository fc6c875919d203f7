"""The sentences of findings. First what happened, with the names and lines of the user's code; then why PyTorch
cares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from inplace_magic.hazards.finding import Hazard
from inplace_magic.language import _
from inplace_magic.record.places import Callsite
from inplace_magic.record.places import code as code
from inplace_magic.record.places import line_of as line_of


def place(site: Callsite | None) -> str:
    """``Cell In[7], line 4``; with the line that called the helper, where there is one."""
    if site is None:
        return _("a place that the watch did not see")
    around = site.around
    via = around.caller
    if via is None:
        return site.place
    name = around.function.rsplit(".<locals>.", 1)[-1]
    return _("{place}, in `{name}`, called from {caller}").format(place=site.place, name=name, caller=via.place)


def spot(site: Callsite | None) -> str:
    """Return the line's code and, in brackets, its place."""
    if site is None or (site.statement or site.text).strip():
        return _("{line} ({place})").format(line=line_of(site), place=place(site))
    if site.outdated:
        return place(site)
    if site.caller is None:
        return _("{place} (its source is not there)").format(place=site.place)
    return _("{place} (its source is not there; in `{name}`, called from {caller})").format(
        place=site.place, name=site.function.rsplit(".<locals>.", 1)[-1], caller=site.caller.place
    )


def some_of(names: Sequence[str], count: int, nameless: str) -> str:
    """```net.weight` and 3 more``: the first of some names, and how many things it stands for."""
    named = f"`{names[0]}`" if names else nameless
    return _("{named} and {count} more").format(named=named, count=count - 1) if count > 1 else named


def of_an_older_version(hazard: Hazard) -> Hazard:
    """Return the finding; with another advice where a line that it is about is no longer what its file holds, since
    nothing can be said of how to change that."""
    places = (hazard.mutation, hazard.saved, hazard.read, hazard.origin, *hazard.mutations)
    older = next((site for site in places if site is not None and site.outdated), None)
    if older is None:
        return hazard
    told = _(
        "Load {file} again (restart the kernel, or `importlib.reload`) and run again: the file was changed "
        "after it was loaded, and {place} is no longer there to be read."
    )
    name = (older.file or "").replace("\\", "/").rsplit("/", 1)[-1]
    return replace(hazard, fix=told.format(file=name, place=older.place), diff="", price_bytes=None)


def forward_name(node: str) -> str:
    """``Sigmoid`` of ``SigmoidBackward0``, and of Paddle's ``SigmoidGradNode``, for a sentence."""
    return re.sub(r"(Backward\d*|GradNode)$", "", node) or node
