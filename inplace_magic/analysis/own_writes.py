"""Whose writes in place: of the reader's own lines, or of what those lines called."""

from __future__ import annotations

from collections.abc import Iterable

from inplace_magic.record.events import CallEvent


def is_own_write(call: CallEvent) -> bool:
    """Whether a line of the user's wrote in place: by a call of its own, or by one that was told to, as the ``F.relu``
    of an ``nn.ReLU(inplace=True)`` is. What layers, initialisation and optimizers do besides is not the line's."""
    asked = call.callsite is not None and (call.callsite.direct or call.does("takes a flag"))
    return call.kind == "in-place" and asked


def count_writes(calls: Iterable[CallEvent]) -> tuple[int, int]:
    """How many calls wrote in place by the user's lines, and how many others did."""
    written = [is_own_write(call) for call in calls if call.kind == "in-place"]
    return sum(written), len(written) - sum(written)
