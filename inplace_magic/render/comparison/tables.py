"""A comparison as pandas tables: plain numbers and strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

from inplace_magic.comparing.comparison import Comparison, ComparisonView
from inplace_magic.render.tables.frames import frame_of

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]

COLUMNS: dict[str, dict[str, str]] = {
    "variants": {
        "variant": "its name",
        "error": "what it raised; empty when it ran",
        "parameters": "elements of the parameters of all modules that ran",
        "macs": "multiply-accumulates of matrix products and convolutions",
        "flops": "two per MAC",
        "element_operations": "one per element: elementwise operators, normalisation, pooling, biases, reductions",
        "operations": "MACs and element operations together",
        "allocations": "storages that the run made",
        "allocated_bytes": "their bytes",
        "peak_bytes": "the most that was alive at once",
        "saved_bytes": "what autograd kept for backward",
        "saved_is_least": "whether that is a lower bound: CopySlices and saved-tensor hooks do not show what they keep",
        "seconds": "median wall time",
        "seconds_mad": "median distance of the repetitions from it",
        "repetitions": "how many there were",
    },
    "costs": {
        "variant": "its name",
        "module": "path from the outermost module that ran; empty outside modules and in backward",
        "class": "class of that module",
        "operator": "aten operator, without the underscore of in-place ones",
        "backward": "whether it ran in backward",
        "calls": "how often it ran",
        "macs": "multiply-accumulates of matrix products and convolutions",
        "element_operations": "one per element",
        "share": "of all operations of the variant",
    },
    "differences": {
        "group": "output, gradient or state",
        "name": "as the code reaches it",
        "element": "index of the first element that differs",
        "first": "its value in the first variant",
        "second": "its value in the second variant",
        "differing": "how many elements differ, bit for bit",
        "elements": "of how many",
    },
    "times": {
        "repetition": "its number",
        "variant": "its name",
        "seconds": "wall time",
    },
}
"""Columns of each view, in order, and what they hold."""


def to_frame(comparison: Comparison, view: ComparisonView = "variants") -> pd.DataFrame:
    """One view of a comparison as a data frame.

    Args:
        comparison: where the rows come from.
        view: ``variants``, ``costs``, ``differences`` or ``times``.

    Raises:
        ValueError: another view; the text lists them.
    """
    if view not in _ROWS:
        raise ValueError(f"There is no view {view!r}; choose one of {', '.join(map(repr, get_args(ComparisonView)))}.")
    return frame_of(_ROWS[view](comparison), COLUMNS[view])


def _variants(comparison: Comparison) -> list[Row]:
    return [
        {
            "variant": each.name,
            "error": each.error or "",
            "parameters": each.parameters,
            "macs": each.macs,
            "flops": each.flops,
            "element_operations": each.elements,
            "operations": each.operations,
            "allocations": each.allocations,
            "allocated_bytes": each.allocated_bytes,
            "peak_bytes": each.peak_bytes,
            "saved_bytes": each.saved_bytes,
            "saved_is_least": each.saved_is_least,
            "seconds": each.median_seconds,
            "seconds_mad": each.mad_seconds,
            "repetitions": len(each.seconds),
        }
        for each in (comparison.first, comparison.second)
    ]


def _costs(comparison: Comparison) -> list[Row]:
    return [
        {
            "variant": each.name,
            "module": cost.module,
            "class": cost.cls,
            "operator": cost.operator,
            "backward": cost.backward,
            "calls": cost.calls,
            "macs": cost.macs,
            "element_operations": cost.elements,
            "share": cost.operations / (each.operations or 1),
        }
        for each in (comparison.first, comparison.second)
        for cost in each.costs or ()
    ]


def _differences(comparison: Comparison) -> list[Row]:
    return [
        {
            "group": each.group,
            "name": each.name,
            "element": "" if each.element is None else str(each.element),
            "first": each.values[0],
            "second": each.values[1],
            "differing": each.differing,
            "elements": each.elements,
        }
        for each in (comparison.agreement.differences if comparison.agreement is not None else ())
    ]


def _times(comparison: Comparison) -> list[Row]:
    pairs = zip(comparison.first.seconds, comparison.second.seconds, strict=True)
    names = comparison.first.name, comparison.second.name
    return [
        {"repetition": number, "variant": name, "seconds": seconds}
        for number, pair in enumerate(pairs)
        for name, seconds in zip(names, pair, strict=True)
    ]


_ROWS: dict[str, Callable[[Comparison], list[Row]]] = {
    "variants": _variants,
    "costs": _costs,
    "differences": _differences,
    "times": _times,
}
