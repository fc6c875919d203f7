"""The source lines beside the graph: the watched cell whole, of other files and cells the lines that made calls."""

from __future__ import annotations

from typing import Any

from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.render import lettering
from inplace_magic.render.excerpt import source_name

MAX_LINES = 200
"""Lines of the watched cell; of a longer one those that made calls."""
MAX_CODE = 160
"""Characters of a line."""


class Sources:
    """Gives each place of a trace its number, and lists the places that were asked for."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.names: dict[tuple[int | None, str | None], str] = {}
        self.lines: dict[tuple[int | None, str | None], dict[int, str]] = {}
        self.order: list[tuple[int | None, str | None]] = []
        if trace.source and len(trace.source) <= MAX_LINES:
            own = self._source(Callsite(1, cell=trace.cell))
            self.lines[own] = dict(enumerate(trace.source, 1))

    def places(self, site: Callsite | None) -> list[list[int]]:
        """``[source, line]`` of a place and of the places that led to it, the nearest first."""
        found: list[list[int]] = []
        while site is not None:
            if site.line:
                key = self._source(site)
                self.lines[key].setdefault(site.line, site.text)
                found.append([self.order.index(key), site.line])
            site = site.caller
        return found

    def listed(self) -> list[dict[str, Any]]:
        """``name`` and ``lines`` of each source, a line as ``[number, text]``."""
        return [
            {
                "name": self.names[key],
                "lines": [
                    [number, lettering.printable(lettering.shortened(text.rstrip().expandtabs(4), MAX_CODE))]
                    for number, text in sorted(self.lines[key].items())
                ],
            }
            for key in self.order
        ]

    def _source(self, site: Callsite) -> tuple[int | None, str | None]:
        key = (site.cell, site.file)
        if key not in self.names:
            self.names[key] = lettering.printable(source_name(site))
            self.lines[key] = {}
            self.order.append(key)
        return key
