"""The tables of a comparison: as pandas frames of plain numbers and strings; and each shaped once for text and page,
figures, differences, compute by module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from inplace_magic.comparing.comparison import Comparison, ComparisonView, Variant
from inplace_magic.language import _
from inplace_magic.record.outcomes import Cost
from inplace_magic.render.comparison.words import GROUPS, difference_phrase, minus, signed_bytes
from inplace_magic.render.tables.frames import frame_of
from inplace_magic.render.tables.memory_rows import Row
from inplace_magic.render.words import bytes_of, known

if TYPE_CHECKING:
    import pandas as pd

Rows = Sequence[tuple[str, ...]]
MOST_ROWS = 40
"""Rows of a table that are shown; the frames hold all."""
LESS, MORE = "▼ ", "▲ "
"""What a difference of a figure begins with, if less of it is better."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it is read; backticks in a cell mark code."""

    header: tuple[str, ...]
    rows: Rows
    title: str = ""
    more: str = ""
    """A sentence on rows that are left out."""


def figure_table(comparison: Comparison) -> Table | None:
    """Return the figures of both variants, with their difference; None if none is known."""
    pair = comparison.variants
    rows = [
        _figure(_("parameters"), pair, "parameters", less_is_better=False),
        _figure("MACs", pair, "macs"),
        _figure(_("FLOPs (2 per MAC)"), pair, "flops"),
        _figure(_("element operations"), pair, "elements"),
        # which model summaries give as the MACs of a layer
        _figure(_("MACs and element operations"), pair, "operations", _operations_of),
        _figure(_("allocations"), pair, "allocations"),
        _figure(_("allocated"), pair, "allocated_bytes", _exact_bytes, signed_bytes),
        _figure(_("peak"), pair, "peak_bytes", _exact_bytes, signed_bytes),
        _saved(pair),
    ]
    rows = [row for row in rows if row[1:3] != (_("unknown"), _("unknown"))]
    ratio = comparison.time_ratio
    if ratio is not None:
        times = [f"{_seconds_of(each.median_seconds or 0)} ± {_seconds_of(each.mad_seconds or 0)}" for each in pair]
        clear = abs(ratio[0] - 1) > 2 * ratio[1]
        sign = "" if not clear else LESS if ratio[0] < 1 else MORE
        title = _("time, median of {count} ± MAD").format(count=len(pair[0].seconds))
        rows.append((title, *times, f"{sign}× {ratio[0]:.2f} ± {ratio[1]:.2f}"))
    return Table(("", pair[0].name, pair[1].name, _("difference")), rows) if rows else None


def _signed(count: int) -> str:
    return minus(f"{count:+,}")


def _figure(
    title: str,
    pair: tuple[Variant, Variant],
    attribute: str,
    show: Callable[[int], str] = "{:,}".format,
    sign: Callable[[int], str] = _signed,
    *,
    less_is_better: bool = True,
) -> tuple[str, ...]:
    one, other = (getattr(variant, attribute) for variant in pair)
    row = title, known(one, show), known(other, show)
    if one is None or other is None:
        return (*row, "")
    if one == other:
        return (*row, _("same"))
    better = (LESS if other < one else MORE) if less_is_better else ""
    return (*row, f"{better}{sign(other - one)}")


def _saved(pair: tuple[Variant, Variant]) -> tuple[str, ...]:
    row = _figure(_("saved for backward"), pair, "saved_bytes", _exact_bytes, signed_bytes)
    marks = ["≥ " if each.saved_is_least else "" for each in pair]
    return (row[0], f"{marks[0]}{row[1]}", f"{marks[1]}{row[2]}", _("unknown")) if any(marks) else row


def _operations_of(count: int) -> str:
    """``15,052,800 (0.015 GMac)``, as model summaries print it; below ten million in ``MMac``, a small one alone."""
    if count < 10**4:
        return f"{count:,}"
    return f"{count:,} ({count / 10**9:.3f} GMac)" if count >= 10**7 else f"{count:,} ({count / 10**6:.3f} MMac)"


def _exact_bytes(count: int) -> str:
    """``300.3 KiB (307,520)``, ``16 B``."""
    return f"{bytes_of(count)} ({count:,})" if count >= 1024 else f"{count} B"


def _seconds_of(seconds: float) -> str:
    """``1.52 ms``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def difference_table(comparison: Comparison) -> Table | None:
    """Return the values that differ; None if there are none."""
    found = comparison.differences
    text = _("{some} of {all}")
    rows = [
        (
            _(GROUPS[each.group]),
            difference_phrase(each),
            text.format(some=f"{each.differing:,}", all=f"{each.elements:,}") if each.element is not None else "",
        )
        for each in found[:MOST_ROWS]
    ]
    more = len(found) - MOST_ROWS
    rest = _("{count} more are in to_frame('differences').").format(count=more) if more > 0 else ""
    title = _("{title} ({count})").format(title=_("What differs, bit for bit"), count=len(found))
    return Table(("", _("first element that differs"), _("elements")), rows, title, rest) if found else None


def cost_tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the compute by module and operator: one table if both variants have the same, else one for each. The last
    row is the total."""
    first, second = comparison.variants
    header = (*(_("module"), _("operator"), _("calls"), "MACs"), *(_("element operations"), _("together"), _("share")))
    if first.costs and first.costs == second.costs:
        yield Table(header, _cost_rows(first.costs), _("Compute of both"))
        return
    for each in comparison.variants:
        if each.costs:
            yield Table(header, _cost_rows(each.costs), _("Compute of `{variant}`").format(variant=each.name))


def _cost_rows(costs: tuple[Cost, ...]) -> Rows:
    total = sum(cost.operations for cost in costs) or 1
    counts = [(cost.calls, cost.macs, cost.elements, cost.operations) for cost in costs]
    rows: Rows = [
        (_place_of(cost), cost.operator, *map("{:,}".format, count), f"{100 * cost.operations / total:.1f} %")
        for cost, count in zip(costs, counts, strict=True)
    ]
    if len(rows) >= MOST_ROWS:
        more = _("{count} rows more in to_frame('costs')").format(count=len(rows) - MOST_ROWS + 1)
        rows = [*rows[: MOST_ROWS - 1], (more, *[""] * 6)]
    sums = map("{:,}".format, map(sum, zip(*counts, strict=True)))
    return [*rows, (_("in all"), "", *sums, "100.0 %")]


def _place_of(cost: Cost) -> str:
    """``ConvBlock.conv.2 (ReLU)``, ``backward``."""
    if cost.backward:
        return "backward"
    if not cost.module:
        return _("outside modules")
    return cost.module if cost.module == cost.cls else f"{cost.module} ({cost.cls})"


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
