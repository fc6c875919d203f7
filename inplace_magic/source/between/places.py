"""The places of statements without a recorded call, which can have written memory between two calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from inplace_magic.record.places import Callsite, Whose, where_they_part
from inplace_magic.source.between.statements import only_between
from inplace_magic.source.statements import place_in
from inplace_magic.source.targets import targets_at
from inplace_magic.source.text import Text


class Between:
    """Finds them, each pair of places once.

    Args:
        line_in: a line of the text that holds a place, as the user sees it.
    """

    def __init__(self, texts: Mapping[Whose, Text], line_in: Callable[[Callsite, Text, int], str]) -> None:
        self._texts = texts
        self._line_in = line_in
        self._known: dict[tuple[Callsite, Callsite | None, tuple[str, ...], bool], Callsite | None] = {}

    def only_statement(
        self,
        before: Callsite,
        after: Callsite | None,
        names: tuple[str, ...],
        called: Iterable[Callsite],
        *,
        alone: bool = True,
    ) -> Callsite | None:
        """Return the one statement between two places of straight-line code that can have written memory; None if there
        are several or none. If several assign in place to the same name, it is the first, if that one surely ran. If a
        loop came round between the two places, it is one that assigns in place below the first.

        Args:
            after: place of the first call after it; None at the end of the block.
            names: names of the written tensor; if any candidate mentions one, only such candidates count.
            called: all places of recorded calls, which are no candidates.
            alone: no other user thread ran meanwhile. Otherwise only a statement that assigns to one of the names
                counts: a line that sleeps is no more to blame than the other thread.
        """
        key = before, after, names, alone
        if key not in self._known:
            first, last = before.outermost, None
            in_two_cells = after is not None and not first.same_function(after.outermost)
            if after is not None and not in_two_cells:
                first, last = where_they_part(before.chain, after.chain)
            # What else ran between two cells nobody saw.
            self._known[key] = None if in_two_cells else self._within_lines(first, last, names, called, alone)
        return self._known[key]

    def only_write_below(self, before: Callsite, names: tuple[str, ...], called: Iterable[Callsite]) -> Callsite | None:
        """Return the one statement below a place, in its own function, that writes to one of the names; None when there
        are several or none. For a function that has returned before the next recorded call."""
        return self._within_lines(before, None, names, called, alone=False)

    def _within_lines(
        self, first: Callsite, last: Callsite | None, names: tuple[str, ...], called: Iterable[Callsite], alone: bool
    ) -> Callsite | None:
        text = self._texts.get(first.whose) if not first.outdated else None
        seen = {site.expression for site in called if site.whose == first.whose}
        node = only_between(text, first, last, names, seen, alone=alone) if text is not None else None
        if text is None or node is None:
            return None
        return place_in(
            text,
            node,
            text=self._line_in(first, text, node.lineno),
            cell=first.cell,
            file=first.file,
            function=first.function,
            caller=first.caller,
            parameters=first.parameters,
            shared_defaults=first.shared_defaults,
            targets=targets_at(node, (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)),
        )
