"""A comparison in words: the verdict, and what text and page both say."""

from __future__ import annotations

from inplace_magic.comparing.comparison import Comparison, Variant
from inplace_magic.language import N_, _, clauses, listed, ngettext, sentences, together
from inplace_magic.record.outcomes import Agreement, Difference, Group
from inplace_magic.render.lettering import first_sentence, shortened
from inplace_magic.render.reading import in_its_language
from inplace_magic.render.words import bytes_of

GROUPS: dict[Group, str] = {"output": N_("output"), "gradient": N_("gradient"), "state": N_("state")}
_PLURAL: dict[Group, str] = {"output": N_("outputs"), "gradient": N_("gradients"), "state": N_("input or state values")}


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
    text = _("`{second}` against `{first}`: {findings}.")
    return text.format(second=second.name, first=first.name, findings=clauses(parts))


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
    text = _("`{variant}` raises {error}: {reason}")
    if variant.in_backward:
        text = _("`{variant}` raises {error} in backward of its result: {reason}")
    return text.format(variant=variant.name, error=kind, reason=why)


def _agreement(agreement: Agreement | None) -> str:
    if agreement is None:
        return ""
    shared = [group for group in GROUPS if agreement.count(group)]
    equal = [_(_PLURAL[group]) for group in shared if group != "state" and not agreement.differing(group)]
    if not agreement.differences and not equal:
        return _("same state") if shared else _("nothing in common to compare")
    if not agreement.differences:
        return _("same {things}").format(things=together(equal))
    counts = together([_count(agreement, group) for group in GROUPS if agreement.differing(group)])
    first = difference_phrase(agreement.differences[0])
    text = ngettext(
        "{counts} differs, first {difference}", "{counts} differ, first {difference}", len(agreement.differences)
    )
    differing = text.format(counts=counts, difference=first)
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
    text = _("`{place}`: {one} → {other}")
    if None not in versions and versions[0] != versions[1] and difference.group == "output":
        text = _("`{place}`: {one} → {other} (written in place: version {before} → {after})")
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


def flipped_phrase(comparison: Comparison) -> str:
    """``Flipped: 3 ReLU, 1 Dropout.``; empty without ``--flip``."""
    if not comparison.flipped:
        return ""
    return _("Flipped: {modules}.").format(modules=listed(f"{count} {cls}" for cls, count in comparison.flipped))
