"""Tables of which a lookup with ``max_norm`` shortened rows, and who reads them elsewhere as if they were as before."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.engine import Reference, Stale, gone_stale, is_there_to_be_written
from inplace_magic.record.events import CallEvent


def shortened(story: Story) -> Iterator[Stale]:
    """Yields one for each line that looks something up in a table that is not trained."""
    lookups = [call for call in story.doing("looks up") if call.kind == "in-place"]
    tables = {
        mutation.tensor: Reference(mutation.tensor, mutation.storage, call.index - 1, None)
        for call in reversed(lookups)
        for mutation in call.mutations
        if not is_there_to_be_written(story, mutation)
    }

    def looks_up(_table: Reference, write: Write) -> bool:
        return write.call is not None and write.call.does("looks up")

    def read_elsewhere(table: Reference, write: Write) -> CallEvent | None:
        for read in story.given_memory(table.storage):
            asks = read.does("looks up") or read.kind == "query" or read.does("compares")
            if read.index > write.at and not asks:
                return None if read.mutated else read
        return None

    return gone_stale(story, tables.values(), looks_up, read_elsewhere)
