"""A comparison as pandas tables: plain numbers and strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

from inplace_magic.comparing.comparison import Comparison, ComparisonView
from inplace_magic.render.tables.frames import frame_of

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]

_COLUMNS = {
    "variants": (
        "variant error parameters macs flops element_operations operations allocations allocated_bytes "
        "peak_bytes saved_bytes saved_is_least seconds seconds_mad repetitions"
    ),
    "costs": "variant module class operator backward calls macs element_operations share",
    "differences": "group name element first second differing elements",
    "times": "repetition variant seconds",
}
COLUMNS = {view: tuple(names.split()) for view, names in _COLUMNS.items()}
"""Columns of each view, in order; ``docs/tables.md`` describes them."""


def to_frame(comparison: Comparison, view: ComparisonView = "variants") -> pd.DataFrame:
    if view not in _ROWS:
        raise ValueError(f"There is no view {view!r}; choose one of {', '.join(map(repr, get_args(ComparisonView)))}.")
    return frame_of(_ROWS[view](comparison), COLUMNS[view])


def _row(view: str, entry: object, **others: Any) -> Row:
    """Return a row of what stands in columns of its own name, and of others."""
    return {name: others[name] if name in others else getattr(entry, name) for name in COLUMNS[view]}


def _variants(comparison: Comparison) -> list[Row]:
    return [
        _row(
            "variants",
            each,
            variant=each.name,
            error=each.error or "",
            element_operations=each.elements,
            seconds=each.median_seconds,
            seconds_mad=each.mad_seconds,
            repetitions=len(each.seconds),
        )
        for each in comparison.variants
    ]


def _costs(comparison: Comparison) -> list[Row]:
    return [
        _row(
            "costs",
            cost,
            variant=each.name,
            element_operations=cost.elements,
            share=cost.operations / (each.operations or 1),
            **{"class": cost.cls},
        )
        for each in comparison.variants
        for cost in each.costs or ()
    ]


def _differences(comparison: Comparison) -> list[Row]:
    return [
        _row(
            "differences",
            each,
            element="" if each.element is None else str(each.element),
            first=each.values[0],
            second=each.values[1],
        )
        for each in comparison.differences
    ]


def _times(comparison: Comparison) -> list[Row]:
    pairs = zip(*(variant.seconds for variant in comparison.variants), strict=True)
    return [
        {"repetition": number, "variant": variant.name, "seconds": seconds}
        for number, pair in enumerate(pairs)
        for variant, seconds in zip(comparison.variants, pair, strict=True)
    ]


_ROWS: dict[str, Callable[[Comparison], list[Row]]] = {
    "variants": _variants,
    "costs": _costs,
    "differences": _differences,
    "times": _times,
}
