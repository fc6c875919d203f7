"""The rules: each reads a story and yields findings. One rule, one file, one page, one test.

A new rule is a module with ``check(story) -> Iterator[Hazard]`` and one entry in :data:`RULES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.cures import with_fix
from inplace_magic.hazards.finding import SEVERITIES, Hazard, Severity
from inplace_magic.hazards.grouping import grouped, told_once
from inplace_magic.hazards.notes import could_be_in_place, in_place_saved_nothing, kept_by_the_graph
from inplace_magic.hazards.notes.note import quiet
from inplace_magic.hazards.rules import (
    alias_written,
    array_shares_memory,
    class_attribute_written,
    copy_shares_parameters,
    dataset_item_edited,
    default_argument_written,
    expanded_tensor_written,
    graph_used_twice,
    initial_value_written,
    kept_activation_overwritten,
    leaf_written,
    one_tensor_many_slots,
    operand_overwritten_first,
    overlapping_write,
    parameters_share_memory,
    recomputed_with_other_values,
    results_share_memory,
    same_memory_compared,
    saved_tensor_overwritten,
    saved_values_changed,
    shared_gradient_edited,
    swapped_through_views,
    view_written,
)
from inplace_magic.hazards.wording import of_an_older_version
from inplace_magic.language import _
from inplace_magic.record.trace import Trace

__all__ = ["RULES", "SEVERITIES", "Hazard", "Severity", "find_hazards"]

RULES: tuple[Callable[[Story], Iterable[Hazard]], ...] = (
    saved_tensor_overwritten.check,
    saved_values_changed.check,
    graph_used_twice.check,
    recomputed_with_other_values.check,
    overlapping_write.check,
    operand_overwritten_first.check,
    swapped_through_views.check,
    expanded_tensor_written.check,
    shared_gradient_edited.check,
    alias_written.check,
    parameters_share_memory.check,
    kept_activation_overwritten.check,
    one_tensor_many_slots.check,
    results_share_memory.check,
    dataset_item_edited.check,
    default_argument_written.check,
    initial_value_written.check,
    class_attribute_written.check,
    copy_shares_parameters.check,
    array_shares_memory.check,
    same_memory_compared.check,
    leaf_written.check,
    view_written.check,
    in_place_saved_nothing.check,
    could_be_in_place.check,
    kept_by_the_graph.check,
)


def find_hazards(trace: Trace) -> tuple[tuple[Hazard, ...], tuple[str, ...]]:
    """Runs every rule; gives the findings, worst first, and a line for each rule that failed."""
    story = Story(trace)
    found: list[Hazard] = []
    faults: list[str] = []
    for rule in RULES:
        try:
            found.extend(rule(story))
        except Exception as fault:  # containment: one broken rule must not hide what the others found
            name = rule.__module__.rsplit(".", 1)[-1].replace("_", "-")
            faults.append(
                _("The rule {name} failed ({fault}); its findings are missing. Please report it.").format(
                    name=name, fault=f"{type(fault).__name__}: {fault}"
                )
            )
    found = quiet(told_once(found))
    found.sort(key=lambda h: (SEVERITIES.index(h.severity), not h.raised, -(h.nbytes or 0), h.call or 0))
    return tuple(_with_fix(story, hazard, faults) for hazard in grouped(found)), tuple(faults)


def _with_fix(story: Story, hazard: Hazard, faults: list[str]) -> Hazard:
    try:
        return of_an_older_version(with_fix(story, hazard))
    except Exception as fault:  # containment: a finding without a diff is worth more than none
        faults.append(
            _("No fix for {code} ({fault}). Please report it.").format(
                code=hazard.code, fault=f"{type(fault).__name__}: {fault}"
            )
        )
        return hazard
