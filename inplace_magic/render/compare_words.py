"""A comparison in words: the verdict, and the rows that text and page both show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inplace_magic.comparison import Comparison, Variant
from inplace_magic.outcomes import Agreement, Cost, Difference, Group
from inplace_magic.render.words import bytes_of, first_sentence, plural, shortened

_GROUPS: tuple[Group, ...] = ("output", "gradient", "state")
_NOUN: dict[Group, tuple[str, str]] = {
    "output": ("output", "outputs"),
    "gradient": ("gradient", "gradients"),
    "state": ("input or state value", "input or state values"),
}
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table: a figure of both variants and their difference."""

    title: str
    first: str
    second: str
    difference: str
    better: bool | None = None
    """Whether the second variant has less of it; None where they are equal or less is not better."""


def verdict(comparison: Comparison) -> str:
    """``Same outputs and gradients, same compute, 1 allocation fewer (−300.3 KiB), peak −300.3 KiB, time 0.97 ± 0.02.``

    Of the second variant against the first.
    """
    first, second = comparison.first, comparison.second
    if first.error or second.error:
        return _failure_verdict(first, second)
    parts = [_agreement(comparison.agreement), _compute(first, second), _allocations(first, second)]
    pairs = [("peak", first.peak_bytes, second.peak_bytes)]
    if not (first.saved_is_least or second.saved_is_least):
        pairs.append(("saved for backward", first.saved_bytes, second.saved_bytes))
    for title, one, other in pairs:
        if one is not None and other is not None and (one or other):
            parts.append(f"same {title}" if one == other else f"{title} {signed_bytes(other - one)}")
    ratio = comparison.time_ratio
    if ratio is not None:
        parts.append(f"time {ratio[0]:.2f} ± {ratio[1]:.2f}")
    text = ", ".join(part for part in parts if part)
    return f"`{second.name}` against `{first.name}`: {text}."


def _failure_verdict(first: Variant, second: Variant) -> str:
    failed = [variant for variant in (first, second) if variant.error]
    if len(failed) == 2:
        same = first.error == second.error and first.in_backward == second.in_backward
        return f"Both raise. {_failure(second)}" if same else f"Both raise. {_failure(first)} {_failure(second)}"
    fine = second if first.error else first
    return f"`{fine.name}` runs, `{failed[0].name}` does not. {_failure(failed[0])}"


def _failure(variant: Variant) -> str:
    """What a variant raised, and the finding that explains it."""
    kind, _, text = (variant.error or UNKNOWN).partition(": ")
    where = " in backward of its result" if variant.in_backward else ""
    cause = next((finding for finding in variant.findings if finding.severity == "error"), None)
    why = first_sentence(cause.message) if cause is not None else f"{shortened(text, 200).rstrip('.')}."
    return f"`{variant.name}` raises {kind}{where}: {why}"


def _agreement(agreement: Agreement | None) -> str:
    if agreement is None:
        return ""
    if not agreement.differences:
        named = [_NOUN[group][1] for group in _GROUPS[:2] if agreement.count(group)]
        if not named:
            return "nothing in common to compare" if not agreement.count("state") else "same state"
        return f"same {' and '.join(named)}"
    counts = [
        f"{agreement.differing(group)} of {plural(agreement.count(group), *_NOUN[group])}"
        for group in _GROUPS
        if agreement.differing(group)
    ]
    equal = [_NOUN[group][1] for group in _GROUPS[:2] if agreement.count(group) and not agreement.differing(group)]
    but = f"same {' and '.join(equal)}, but " if equal else ""
    verb = "differs" if len(agreement.differences) == 1 else "differ"
    return f"{but}{' and '.join(counts)} {verb}, first {difference_phrase(agreement.differences[0])}"


def difference_phrase(difference: Difference) -> str:
    """```h[0, 3]`: 0.5 against 0.0``; of an overwritten tensor it says so."""
    one, other = difference.values
    phrase = f"`{difference.place}`: {one} against {other}"
    versions = difference.versions
    if None not in versions and versions[0] != versions[1] and difference.group == "output":
        return f"{phrase} (written in place: version {versions[0]} against {versions[1]})"
    return phrase


def _compute(first: Variant, second: Variant) -> str:
    if first.costs is None or second.costs is None:
        return ""
    if (first.macs, first.elements) == (second.macs, second.elements):
        return "same compute" if first.costs == second.costs else "as many operations"
    macs = (second.macs or 0) - (first.macs or 0)
    elements = (second.elements or 0) - (first.elements or 0)
    parts = [f"{macs:+,} MACs" if macs else "", f"{elements:+,} element operations" if elements else ""]
    return " and ".join(minus(part) for part in parts if part)


def _allocations(first: Variant, second: Variant) -> str:
    if None in (first.allocations, second.allocations, first.allocated_bytes, second.allocated_bytes):
        return ""
    count = (second.allocations or 0) - (first.allocations or 0)
    nbytes = (second.allocated_bytes or 0) - (first.allocated_bytes or 0)
    if not count:
        return "same allocations" if not nbytes else f"as many allocations ({signed_bytes(nbytes)})"
    return f"{plural(abs(count), 'allocation')} {'fewer' if count < 0 else 'more'} ({signed_bytes(nbytes)})"


def minus(text: str) -> str:
    """With a minus sign that is as wide as a plus."""
    return text.replace("-", "−")


def signed_bytes(count: int) -> str:
    """``−300.3 KiB``, ``+16 B``."""
    return f"{'+' if count > 0 else '−' if count < 0 else ''}{bytes_of(abs(count))}"


def macs_of(count: int) -> str:
    """``0.015 GMac``, as model summaries print it; below ten million in ``MMac``, below ten thousand in ``Mac``."""
    if count >= 10**7:
        return f"{count / 10**9:.3f} GMac"
    return f"{count / 10**6:.3f} MMac" if count >= 10**4 else f"{count:,} Mac"


def seconds_of(seconds: float) -> str:
    """``1.52 ms``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def figures(comparison: Comparison) -> list[Figure]:
    """The rows of the table of figures."""
    first, second = comparison.first, comparison.second
    rows = [
        _whole("parameters", first.parameters, second.parameters, better=False),
        _whole("MACs", first.macs, second.macs),
        _whole("FLOPs (2 per MAC)", first.flops, second.flops),
        _whole("element operations", first.elements, second.elements),
        _together(first.operations, second.operations),
        _whole("allocations", first.allocations, second.allocations),
        _bytes("allocated", first.allocated_bytes, second.allocated_bytes),
        _bytes("peak", first.peak_bytes, second.peak_bytes),
        _saved(first, second),
    ]
    rows = [row for row in rows if (row.first, row.second) != (UNKNOWN, UNKNOWN)]
    ratio = comparison.time_ratio
    if ratio is not None:
        times = [
            f"{seconds_of(each.median_seconds or 0)} ± {seconds_of(each.mad_seconds or 0)}" for each in (first, second)
        ]
        clear = abs(ratio[0] - 1) > 2 * ratio[1]
        title = f"time, median of {len(first.seconds)} ± MAD"
        rows.append(
            Figure(title, times[0], times[1], f"× {ratio[0]:.2f} ± {ratio[1]:.2f}", ratio[0] < 1 if clear else None)
        )
    return rows


def _whole(title: str, one: int | None, other: int | None, better: bool = True) -> Figure:
    return _figure(title, (one, other), "{:,}".format, lambda count: minus(f"{count:+,}"), better)


def _together(one: int | None, other: int | None) -> Figure:
    """The sum that ptflops calls MACs, as it prints it and exactly."""
    return _figure(
        "both together, as ptflops sums",
        (one, other),
        lambda count: f"{macs_of(count)} ({count:,})",
        lambda count: minus(f"{count:+,}"),
        True,
    )


def _bytes(title: str, one: int | None, other: int | None) -> Figure:
    return _figure(title, (one, other), exact_bytes, signed_bytes, True)


def _saved(first: Variant, second: Variant) -> Figure:
    row = _bytes("saved for backward", first.saved_bytes, second.saved_bytes)
    marks = ["≥ " if each.saved_is_least else "" for each in (first, second)]
    if not any(marks):
        return row
    return Figure(row.title, f"{marks[0]}{row.first}", f"{marks[1]}{row.second}", UNKNOWN)


def exact_bytes(count: int) -> str:
    """``300.3 KiB (307,520)``, ``16 B``."""
    return f"{bytes_of(count)} ({count:,})" if count >= 1024 else f"{count} B"


def _figure(
    title: str,
    values: tuple[int | None, int | None],
    show: Callable[[int], str],
    sign: Callable[[int], str],
    less_is_better: bool,
) -> Figure:
    one, other = values
    shown = [UNKNOWN if each is None else show(each) for each in values]
    if one is None or other is None:
        return Figure(title, shown[0], shown[1], "")
    if one == other:
        return Figure(title, shown[0], shown[1], "same")
    return Figure(title, shown[0], shown[1], sign(other - one), other < one if less_is_better else None)


def cost_rows(costs: tuple[Cost, ...]) -> list[tuple[str, ...]]:
    """Module, operator, calls, MACs, element operations, both, and their share; the last row is the total."""
    total = sum(cost.operations for cost in costs)
    rows = [
        (
            cost_place(cost),
            cost.operator,
            f"{cost.calls:,}",
            f"{cost.macs:,}",
            f"{cost.elements:,}",
            f"{cost.operations:,}",
            f"{100 * cost.operations / total:.3f} %",
        )
        for cost in costs
    ]
    calls, macs, elements = (
        sum(values) for values in zip(*((c.calls, c.macs, c.elements) for c in costs), strict=True)
    )
    return [*rows, ("in all", "", f"{calls:,}", f"{macs:,}", f"{elements:,}", f"{total:,}", "100.000 %")]


def cost_place(cost: Cost) -> str:
    """``ConvBlock.conv.2 (ReLU)``, ``backward``."""
    if cost.backward:
        return "backward"
    if not cost.module:
        return "outside modules"
    return cost.module if cost.module == cost.cls else f"{cost.module} ({cost.cls})"


COST_HEADER = ("module", "operator", "calls", "MACs", "element operations", "together", "share")


def flipped_phrase(comparison: Comparison) -> str:
    """``Flipped: 3 ReLU, 1 Dropout.``; empty without ``--flip``."""
    if not comparison.flipped:
        return ""
    return f"Flipped: {', '.join(f'{count} {cls}' for cls, count in comparison.flipped)}."
