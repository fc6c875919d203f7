"""The rules: each reads a story and yields findings. One rule, one file, one page, one test.

A new rule is a module with ``RULE``, its check and its cures, and one entry in :data:`RULES`.
"""

from __future__ import annotations

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.arrays import (
    array_argument_written,
    array_shares_memory,
    array_written_inside,
    buffer_gathered,
)
from inplace_magic.hazards.cures import with_fix
from inplace_magic.hazards.finding import SEVERITIES, Hazard, Severity
from inplace_magic.hazards.gradients import (
    bucket_left_behind,
    frozen_but_moved,
    gradient_edited_by_step,
    gradient_edited_late,
    gradient_not_cleared,
    gradient_not_renewed,
    gradient_of_another_loss,
    gradient_scaled_early,
    gradients_left_over,
    gradients_thrown_away,
    history_cut,
    history_missed,
    kept_gradient_added_to,
    step_without_gradients,
)
from inplace_magic.hazards.grouping import grouped, told_once
from inplace_magic.hazards.handed import (
    argument_written,
    default_argument_written,
    handed_part_written,
    lookup_shortened,
)
from inplace_magic.hazards.losses import (
    added_again,
    entry_replaced,
    flags_as_index,
    frame_written,
    index_repeats,
    out_is_input,
    out_outgrown,
    overwritten_unread,
    rebound_lost,
    result_thrown_away,
    scaled_again,
    source_in_order,
    standardised_again,
    updated_again,
    values_cut_off,
    write_lost,
)
from inplace_magic.hazards.notes import could_be_in_place, in_place_saved_nothing, kept_by_the_graph
from inplace_magic.hazards.notes.note import quiet
from inplace_magic.hazards.of_paddle import NOT_FOR_PADDLE
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.hazards.rules import (
    expanded_tensor_written,
    graph_used_twice,
    leaf_written,
    overlapping_write,
    parameters_share_memory,
    recomputed_with_other_values,
    saved_tensor_overwritten,
    saved_values_changed,
    shared_gradient_edited,
    swapped_through_views,
    view_written,
)
from inplace_magic.hazards.shared import (
    class_attribute_written,
    copy_shares_parameters,
    model_moved_on,
    objects_share_state,
    one_model_many_times,
    one_tensor_many_slots,
    state_of_two,
    written_as_two,
)
from inplace_magic.hazards.stale import (
    alias_written,
    cache_outdated,
    choice_of_one_tensor,
    conversion_written,
    dataset_item_edited,
    first_becomes_total,
    initial_value_written,
    joined_with_itself,
    kept_activation_overwritten,
    kept_then_written,
    memory_not_filled,
    operand_overwritten_first,
    results_share_memory,
    ring_overrun,
    row_overwritten_first,
    same_memory_compared,
    taken_memory_trained,
    tie_undone,
    view_outdated,
    view_overwritten_unread,
)
from inplace_magic.hazards.training import (
    averages_trained_on,
    cast_outdated,
    counted_twice,
    layers_left_out,
    parameter_given_up,
    statistics_left_behind,
    statistics_moved,
)
from inplace_magic.hazards.wording import of_an_older_version
from inplace_magic.language import _, use_language
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace

__all__ = ["RULES", "SEVERITIES", "Hazard", "Severity", "find_cure", "find_hazards"]

RULES: tuple[Rule, ...] = (
    saved_tensor_overwritten.RULE,
    saved_values_changed.RULE,
    graph_used_twice.RULE,
    recomputed_with_other_values.RULE,
    overlapping_write.RULE,
    operand_overwritten_first.RULE,
    swapped_through_views.RULE,
    view_overwritten_unread.RULE,
    view_outdated.RULE,
    buffer_gathered.RULE,
    row_overwritten_first.RULE,
    out_is_input.RULE,
    out_outgrown.RULE,
    state_of_two.RULE,
    taken_memory_trained.RULE,
    tie_undone.RULE,
    write_lost.RULE,
    result_thrown_away.RULE,
    index_repeats.RULE,
    flags_as_index.RULE,
    source_in_order.RULE,
    values_cut_off.RULE,
    overwritten_unread.RULE,
    updated_again.RULE,
    scaled_again.RULE,
    added_again.RULE,
    standardised_again.RULE,
    rebound_lost.RULE,
    entry_replaced.RULE,
    gradient_not_cleared.RULE,
    gradient_not_renewed.RULE,
    gradient_of_another_loss.RULE,
    gradient_scaled_early.RULE,
    gradients_left_over.RULE,
    gradients_thrown_away.RULE,
    bucket_left_behind.RULE,
    gradient_edited_by_step.RULE,
    gradient_edited_late.RULE,
    step_without_gradients.RULE,
    frozen_but_moved.RULE,
    history_cut.RULE,
    history_missed.RULE,
    averages_trained_on.RULE,
    counted_twice.RULE,
    statistics_left_behind.RULE,
    statistics_moved.RULE,
    parameter_given_up.RULE,
    layers_left_out.RULE,
    expanded_tensor_written.RULE,
    shared_gradient_edited.RULE,
    kept_gradient_added_to.RULE,
    conversion_written.RULE,
    handed_part_written.RULE,
    alias_written.RULE,
    written_as_two.RULE,
    first_becomes_total.RULE,
    joined_with_itself.RULE,
    parameters_share_memory.RULE,
    kept_then_written.RULE,
    choice_of_one_tensor.RULE,
    kept_activation_overwritten.RULE,
    one_tensor_many_slots.RULE,
    results_share_memory.RULE,
    ring_overrun.RULE,
    memory_not_filled.RULE,
    dataset_item_edited.RULE,
    frame_written.RULE,
    default_argument_written.RULE,
    initial_value_written.RULE,
    objects_share_state.RULE,
    class_attribute_written.RULE,
    model_moved_on.RULE,
    copy_shares_parameters.RULE,
    one_model_many_times.RULE,
    array_shares_memory.RULE,
    array_written_inside.RULE,
    array_argument_written.RULE,
    cache_outdated.RULE,
    cast_outdated.RULE,
    argument_written.RULE,
    lookup_shortened.RULE,
    same_memory_compared.RULE,
    leaf_written.RULE,
    view_written.RULE,
    in_place_saved_nothing.RULE,
    could_be_in_place.RULE,
    kept_by_the_graph.RULE,
)


NEED_EVERY_CALL = frozenset(
    rule.name
    for rule in (
        memory_not_filled.RULE,
        cast_outdated.RULE,
        frame_written.RULE,
        view_overwritten_unread.RULE,
        write_lost.RULE,
        result_thrown_away.RULE,
        overwritten_unread.RULE,
        updated_again.RULE,
        scaled_again.RULE,
        rebound_lost.RULE,
        gradient_edited_late.RULE,
        gradient_not_cleared.RULE,
        gradient_not_renewed.RULE,
        gradient_of_another_loss.RULE,
        gradients_left_over.RULE,
        gradients_thrown_away.RULE,
        averages_trained_on.RULE,
        statistics_left_behind.RULE,
        statistics_moved.RULE,
        step_without_gradients.RULE,
        bucket_left_behind.RULE,
        tie_undone.RULE,
        parameter_given_up.RULE,
        layers_left_out.RULE,
        model_moved_on.RULE,
    )
)
"""The rules that rest on something not having happened. Where calls were forgotten it may have, so they are silent."""


FOR_PADDLE: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.name not in NOT_FOR_PADDLE)
"""The rules that run on Paddle's tensors."""


def find_hazards(trace: Trace) -> tuple[tuple[Hazard, ...], tuple[str, ...]]:
    """Runs every rule of the trace's framework; gives the findings, worst first, and a line for each rule that
    failed."""
    with use_language(None, trace.framework):
        return _findings(trace, _rules_for(trace))


def _rules_for(trace: Trace) -> tuple[Rule, ...]:
    if trace.level == "writes":
        return (saved_tensor_overwritten.RULE,)
    rules = FOR_PADDLE if trace.framework == "paddle" else RULES
    has_gaps = bool(trace.calls) and trace.calls[-1].index - trace.calls[0].index >= len(trace.calls)
    return tuple(rule for rule in rules if not (has_gaps and rule.name in NEED_EVERY_CALL))


def _findings(trace: Trace, rules: tuple[Rule, ...]) -> tuple[tuple[Hazard, ...], tuple[str, ...]]:
    story = Story(trace)
    found: list[Hazard] = []
    weaker: list[Hazard] = []
    faults: list[str] = []
    for rule in rules:
        try:
            (weaker if rule.gives_way else found).extend(rule.check(story))
        except Exception as fault:  # containment: one broken rule must not hide what the others found
            faults.append(
                _("The rule {name} failed ({fault}); its findings are missing. Please report it.").format(
                    name=rule.name, fault=f"{type(fault).__name__}: {fault}"
                )
            )
    blamed = {hazard.mutation for hazard in found if hazard.is_alarm}
    found += [hazard for hazard in weaker if not any(_are_one_mistake(hazard.mutation, site) for site in blamed)]
    found = quiet(told_once(found))
    found.sort(key=lambda h: (SEVERITIES.index(h.severity), not h.raised, -(h.nbytes or 0), h.call or 0))
    cures = {code: known for rule in rules for code, known in rule.cures.items()}
    return tuple(_cured(story, hazard, cures.get(hazard.code, Cures()), faults) for hazard in grouped(found)), tuple(
        faults
    )


def _are_one_mistake(one: Callsite | None, other: Callsite | None) -> bool:
    """Whether two places are one line, or lie in one run of a function of the user's."""
    if one is None or other is None:
        return one is other
    return one.same_line(other) or (one.function != "<module>" and one.same_run(other))


def find_cure(story: Story, hazard: Hazard) -> Hazard:
    """A finding that no rule made, with the fix that the rule of its code would give it."""
    cures = {code: known for rule in RULES for code, known in rule.cures.items()}
    return _cured(story, hazard, cures.get(hazard.code, Cures()), [])


def _cured(story: Story, hazard: Hazard, cures: Cures, faults: list[str]) -> Hazard:
    try:
        return of_an_older_version(with_fix(story, hazard, cures))
    except Exception as fault:  # containment: a finding without a diff is worth more than none
        faults.append(
            _("No fix for {code} ({fault}). Please report it.").format(
                code=hazard.code, fault=f"{type(fault).__name__}: {fault}"
            )
        )
        return hazard
