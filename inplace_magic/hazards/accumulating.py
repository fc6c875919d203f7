"""Writes in functions that build on the old values: where a tensor outlives the run, the next run begins with them."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.record.trace import CallEvent, Callsite

Line = tuple[object, ...]
"""Cell, file and line of a place."""


def accumulating_writes(story: Story) -> Iterator[tuple[Line, Callsite, CallEvent, int]]:
    """Yields (line, place, call, serial number of the tensor) of each such write whose caller is known."""
    for call in story.trace.calls:
        site = call.callsite
        if site is None or site.caller is None or call.kind != "in-place" or call.does("repeatable"):
            continue
        line = (site.cell, site.file, site.line)
        for mutation in call.mutations:
            yield line, site, call, mutation.tensor
