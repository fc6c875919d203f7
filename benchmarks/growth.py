"""How the time to the display and the size of the output grow with the calls of a cell."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass

import shapes

from inplace_magic.render import to_mimebundle


@dataclass(frozen=True)
class Growth:
    """One cell."""

    shape: str
    level: str
    calls: int
    """Recorded."""
    report_s: float
    """From the end of the cell to the report."""
    display_s: float
    """From the report to what the notebook shows, the picture included."""
    html_bytes: int
    text_bytes: int


LENGTHS = (100, 1_000, 10_000, 100_000)


def measured(shape: str, calls: int, level: str = "calls") -> Growth:
    """Runs a program of about so many calls, and times what comes after it."""
    end = shapes.record(shapes.SHAPES[shape](calls), level=level)
    gc.collect()
    start = time.perf_counter()
    report = end()
    made = time.perf_counter()
    bundle = to_mimebundle(report)
    shown = time.perf_counter()
    html, text = (len(bundle[mime].encode()) for mime in ("text/html", "text/plain"))
    return Growth(shape, level, len(report.trace.calls), made - start, shown - made, html, text)


def growth(longest: int = LENGTHS[-1]) -> list[Growth]:
    """The training loop at every length and level, the other programs at 1,000 and 10,000 calls."""
    measured("training loop", 200)  # loads what is loaded once: pandas, Graphviz
    found = [measured("training loop", calls) for calls in LENGTHS if calls <= longest]
    found += [measured("training loop", calls, "ops") for calls in LENGTHS[1:3] if calls <= longest]
    others = [shape for shape in shapes.SHAPES if shape != "training loop"]
    return found + [measured(shape, calls) for shape in others for calls in LENGTHS[1:3] if calls <= longest]
