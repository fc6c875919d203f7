"""A comparison in words: the verdict, and the rows that text and page both show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inplace_magic.comparing.comparison import Comparison, Variant
from inplace_magic.language import N_, _, clauses, listed, ngettext, sentences, together
from inplace_magic.record.outcomes import Agreement, Cost, Difference, Group
from inplace_magic.render.lettering import first_sentence, shortened
from inplace_magic.render.reading import in_its_language
from inplace_magic.render.words import bytes_of, known

_GROUPS: tuple[Group, ...] = ("output", "gradient", "state")
GROUPS: dict[Group, str] = {"output": N_("output"), "gradient": N_("gradient"), "state": N_("state")}
_PLURAL: dict[Group, str] = {"output": N_("outputs"), "gradient": N_("gradients"), "state": N_("input or state values")}


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table: a figure of both variants and their difference."""

    title: str
    first: str
    second: str
    difference: str
    better: bool | None = None
    """Whether the second variant has less of it; None where they are equal or less is not better."""


@in_its_language
def verdict(comparison: Comparison) -> str:
    """``Same outputs and gradients, same compute, 1 allocation fewer (−300.3 KiB), peak −300.3 KiB, time 0.97 ± 0.02.``

    Of the second variant against the first.
    """
    first, second = comparison.first, comparison.second
    if first.error or second.error:
        return _failure_verdict(first, second)
    parts = [_agreement(comparison.agreement), _compute(first, second), _allocations(first, second)]
    pairs = [(_("same peak"), _("peak {difference}"), first.peak_bytes, second.peak_bytes)]
    if not (first.saved_is_least or second.saved_is_least):
        words = _("same saved for backward"), _("saved for backward {difference}")
        pairs.append((*words, first.saved_bytes, second.saved_bytes))
    for same, differs, one, other in pairs:
        if one is not None and other is not None and (one or other):
            parts.append(same if one == other else differs.format(difference=signed_bytes(other - one)))
    ratio = comparison.time_ratio
    if ratio is not None:
        parts.append(_("time {ratio} ± {spread}").format(ratio=f"{ratio[0]:.2f}", spread=f"{ratio[1]:.2f}"))
    return _("`{second}` against `{first}`: {findings}.").format(
        second=second.name, first=first.name, findings=clauses(parts)
    )


def _failure_verdict(first: Variant, second: Variant) -> str:
    failed = [variant for variant in (first, second) if variant.error]
    if len(failed) == 2:
        same = first.error == second.error and first.in_backward == second.in_backward
        return sentences(_("Both raise."), "" if same else _failure(first), _failure(second))
    fine = second if first.error else first
    text = _("`{fine}` runs, `{failed}` does not.").format(fine=fine.name, failed=failed[0].name)
    return sentences(text, _failure(failed[0]))


def _failure(variant: Variant) -> str:
    """Return a sentence on a variant's exception, and the finding that explains it."""
    kind, _colon, text = (variant.error or _("unknown")).partition(": ")
    cause = next((finding for finding in variant.findings if finding.severity == "error"), None)
    why = first_sentence(cause.message) if cause is not None else f"{shortened(text, 200).rstrip('.')}."
    sentence = (
        _("`{variant}` raises {error} in backward of its result: {reason}")
        if variant.in_backward
        else _("`{variant}` raises {error}: {reason}")
    )
    return sentence.format(variant=variant.name, error=kind, reason=why)


def _agreement(agreement: Agreement | None) -> str:
    if agreement is None:
        return ""
    if not agreement.differences:
        named = [_(_PLURAL[group]) for group in _GROUPS[:2] if agreement.count(group)]
        if not named:
            return _("nothing in common to compare") if not agreement.count("state") else _("same state")
        return _("same {things}").format(things=together(named))
    counts = together([_count(agreement, group) for group in _GROUPS if agreement.differing(group)])
    equal = [_(_PLURAL[group]) for group in _GROUPS[:2] if agreement.count(group) and not agreement.differing(group)]
    first = difference_phrase(agreement.differences[0])
    differing = ngettext(
        "{counts} differs, first {difference}", "{counts} differ, first {difference}", len(agreement.differences)
    ).format(counts=counts, difference=first)
    if not equal:
        return differing
    return _("same {things}, but {differing}").format(things=together(equal), differing=differing)


def _count(agreement: Agreement, group: Group) -> str:
    """``1 of 2 outputs``."""
    count = agreement.count(group)
    told: dict[Group, str] = {
        "output": ngettext("{differing} of {count} output", "{differing} of {count} outputs", count),
        "gradient": ngettext("{differing} of {count} gradient", "{differing} of {count} gradients", count),
        "state": ngettext(
            "{differing} of {count} input or state value", "{differing} of {count} input or state values", count
        ),
    }
    return told[group].format(differing=agreement.differing(group), count=count)


def difference_phrase(difference: Difference) -> str:
    """```h[0, 3]`: 0.5 → 0.0``, the first variant's value and the second's; of an overwritten tensor it says so."""
    one, other = difference.values
    versions = difference.versions
    text = (
        _("`{place}`: {one} → {other} (written in place: version {before} → {after})")
        if None not in versions and versions[0] != versions[1] and difference.group == "output"
        else _("`{place}`: {one} → {other}")
    )
    return text.format(place=difference.place, one=one, other=other, before=versions[0], after=versions[1])


def _compute(first: Variant, second: Variant) -> str:
    if first.costs is None or second.costs is None:
        return ""
    if (first.macs, first.elements) == (second.macs, second.elements):
        return _("same compute") if first.costs == second.costs else _("as many operations")
    macs = (second.macs or 0) - (first.macs or 0)
    elements = (second.elements or 0) - (first.elements or 0)
    parts = [
        _("{count} MACs").format(count=minus(f"{macs:+,}")) if macs else "",
        _("{count} element operations").format(count=minus(f"{elements:+,}")) if elements else "",
    ]
    return together([part for part in parts if part])


def _allocations(first: Variant, second: Variant) -> str:
    if None in (first.allocations, second.allocations, first.allocated_bytes, second.allocated_bytes):
        return ""
    count = (second.allocations or 0) - (first.allocations or 0)
    nbytes = (second.allocated_bytes or 0) - (first.allocated_bytes or 0)
    if not count:
        text = _("same allocations") if not nbytes else _("as many allocations ({difference})")
    elif count < 0:
        text = ngettext(
            "{count} allocation fewer ({difference})", "{count} allocations fewer ({difference})", abs(count)
        )
    else:
        text = ngettext("{count} allocation more ({difference})", "{count} allocations more ({difference})", count)
    return text.format(count=abs(count), difference=signed_bytes(nbytes))


def minus(text: str) -> str:
    """Return a number with a minus sign as wide as a plus."""
    return text.replace("-", "−")


def signed_bytes(count: int) -> str:
    """``−300.3 KiB``, ``+16 B``."""
    return f"{'+' if count > 0 else '−' if count < 0 else ''}{bytes_of(abs(count))}"


def operations_of(count: int) -> str:
    """``15,052,800 (0.015 GMac)``, as model summaries print it; below ten million in ``MMac``, a small one alone."""
    if count < 10**4:
        return f"{count:,}"
    return f"{count:,} ({count / 10**9:.3f} GMac)" if count >= 10**7 else f"{count:,} ({count / 10**6:.3f} MMac)"


def seconds_of(seconds: float) -> str:
    """``1.52 ms``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def figures(comparison: Comparison) -> list[Figure]:
    first, second = comparison.first, comparison.second
    rows = [
        _figure(_("parameters"), first.parameters, second.parameters, less_is_better=False),
        _figure("MACs", first.macs, second.macs),
        _figure(_("FLOPs (2 per MAC)"), first.flops, second.flops),
        _figure(_("element operations"), first.elements, second.elements),
        # which model summaries give as the MACs of a layer
        _figure(_("MACs and element operations"), first.operations, second.operations, operations_of),
        _figure(_("allocations"), first.allocations, second.allocations),
        _figure(_("allocated"), first.allocated_bytes, second.allocated_bytes, exact_bytes, signed_bytes),
        _figure(_("peak"), first.peak_bytes, second.peak_bytes, exact_bytes, signed_bytes),
        _saved(first, second),
    ]
    rows = [row for row in rows if (row.first, row.second) != (_("unknown"), _("unknown"))]
    ratio = comparison.time_ratio
    if ratio is not None:
        times = [
            f"{seconds_of(each.median_seconds or 0)} ± {seconds_of(each.mad_seconds or 0)}" for each in (first, second)
        ]
        clear = abs(ratio[0] - 1) > 2 * ratio[1]
        title = _("time, median of {count} ± MAD").format(count=len(first.seconds))
        rows.append(
            Figure(title, times[0], times[1], f"× {ratio[0]:.2f} ± {ratio[1]:.2f}", ratio[0] < 1 if clear else None)
        )
    return rows


def _saved(first: Variant, second: Variant) -> Figure:
    title = _("saved for backward")
    row = _figure(title, first.saved_bytes, second.saved_bytes, exact_bytes, signed_bytes)
    marks = ["≥ " if each.saved_is_least else "" for each in (first, second)]
    if not any(marks):
        return row
    return Figure(title, f"{marks[0]}{row.first}", f"{marks[1]}{row.second}", _("unknown"))


def exact_bytes(count: int) -> str:
    """``300.3 KiB (307,520)``, ``16 B``."""
    return f"{bytes_of(count)} ({count:,})" if count >= 1024 else f"{count} B"


def _signed(count: int) -> str:
    return minus(f"{count:+,}")


def _figure(
    title: str,
    one: int | None,
    other: int | None,
    show: Callable[[int], str] = "{:,}".format,
    sign: Callable[[int], str] = _signed,
    *,
    less_is_better: bool = True,
) -> Figure:
    shown = [known(each, show) for each in (one, other)]
    if one is None or other is None:
        return Figure(title, shown[0], shown[1], "")
    if one == other:
        return Figure(title, shown[0], shown[1], _("same"))
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
            f"{100 * cost.operations / total:.1f} %",
        )
        for cost in costs
    ]
    calls, macs, elements = (
        sum(values) for values in zip(*((c.calls, c.macs, c.elements) for c in costs), strict=True)
    )
    return [*rows, (_("in all"), "", f"{calls:,}", f"{macs:,}", f"{elements:,}", f"{total:,}", "100.0 %")]


def cost_place(cost: Cost) -> str:
    """``ConvBlock.conv.2 (ReLU)``, ``backward``."""
    if cost.backward:
        return "backward"
    if not cost.module:
        return _("outside modules")
    return cost.module if cost.module == cost.cls else f"{cost.module} ({cost.cls})"


def cost_header() -> tuple[str, ...]:
    return (*(_("module"), _("operator"), _("calls"), "MACs"), *(_("element operations"), _("together"), _("share")))


def flipped_phrase(comparison: Comparison) -> str:
    """``Flipped: 3 ReLU, 1 Dropout.``; empty without ``--flip``."""
    if not comparison.flipped:
        return ""
    return _("Flipped: {modules}.").format(modules=listed(f"{count} {cls}" for cls, count in comparison.flipped))
