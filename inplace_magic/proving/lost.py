"""Whether a fix throws a write away: an object held the written tensor, and keeps the old values with the fix.

``for buf in net.buffers(): buf.copy_(new)`` is to change the network's buffers. With ``buf = buf.clone()`` above the
write the program runs, and no loss of this run need tell that the buffers stay as they were.
"""

from __future__ import annotations

import re

from inplace_magic.analysis.story import Story, story_of
from inplace_magic.hazards import Hazard
from inplace_magic.proving.bench import Changes
from inplace_magic.record.names import Holding
from inplace_magic.record.paths import before_last_step, without_keys
from inplace_magic.report import Report
from inplace_magic.source.hunks import new_lines


def holder_without_the_write(report: Report, hazard: Hazard, patched: Report, changes: Changes) -> str:
    """Return what held the written tensor and has neither the write nor a new tensor with a fix: ``net.scale``; empty
    if nothing is known to. An entry of a list or dict that no object holds counts only if nobody uses the new values.

    Args:
        report: of the program as written.
        hazard: the finding whose fix it is.
        patched: the report of the program with the fix.
        changes: what the fix changes.
    """
    about_saved = hazard.raised or hazard.saved is not None  # else that another holder sees it is the finding
    held = story_of(report.trace).holdings.get(hazard.call, ()) if hazard.call is not None and about_saved else ()
    if not held:
        return ""
    still = {_slot(holding) for holding in _written(story_of(patched.trace))}
    new = [line for hunks in changes.values() for hunk in hunks for line in hunk.new if line not in hunk.old]
    if any(_slot(holding) in still or _binds(line, holding.path) for holding in held for line in ("", *new)):
        return ""
    kept = [
        holding for holding in held if "." in without_keys(holding.path)
    ]  # an object; a list or dict may be there for a moment
    if not kept and _is_used(story_of(patched.trace), changes):
        return ""
    return max(kept or held, key=lambda holding: holding.level).path


def _is_used(story: Story, changes: Changes) -> bool:
    """True if what the changed lines made and wrote is read by others, or has a name in the end."""
    new: set[int] = set()
    lines = {whose: new_lines(hunks) for whose, hunks in changes.items()}
    for call in story.trace.calls:
        site = call.callsite
        if site is not None and any(site.line in each for each in lines.get((site.cell, site.file), ())):
            new.update(meta.tensor for meta in (*call.outputs, *call.mutated))
        elif any(meta.tensor in new for meta in call.inputs):
            return True
    return any(entry.tensor in new for entry in story.trace.names)


def _written(story: Story) -> list[Holding]:
    held = story.holdings.items()
    return [each for index, found in held if story.calls[index].mutations for each in found]


def _slot(holding: Holding) -> tuple[str, str]:
    """Return the class of an object and its attribute or entry, whatever the function calls the object."""
    return holding.kind, before_last_step(holding.path)[1]


def _binds(line: str, path: str) -> bool:
    """True if a line gives the slot of a path, or what the path goes through, something new: ``self.scale = …``."""
    while path:
        if re.match(rf"\s*{re.escape(path)} = ", line):
            return True
        path, step = before_last_step(path)
        path = path if step else ""
    return False
