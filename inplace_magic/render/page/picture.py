"""The graph of a report as an object of its own, which shows itself where it is the last value of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from inplace_magic.render.page.html import to_picture
from inplace_magic.report import Report


@dataclass(frozen=True, slots=True, repr=False)
class Graph:
    """The autograd graph of a report; ``report.save("graph.svg")`` writes it, ``report.to_dot()`` gives it as DOT."""

    report: Report

    def __repr__(self) -> str:
        return f"<Graph: {self.report.verdict}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": to_picture(self.report), "text/plain": repr(self)}
