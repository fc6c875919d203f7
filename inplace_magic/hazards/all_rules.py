"""All rules, in the order in which they run.

A new rule is a module with ``RULE``, its check and its cures, and one entry in :data:`RULES`.
"""

from __future__ import annotations

from inplace_magic.hazards.arrays import (
    array_shares_memory,
    buffer_gathered,
)
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
from inplace_magic.hazards.handed import (
    argument_written,
    default_argument_written,
    handed_part_written,
    lookup_shortened,
)
from inplace_magic.hazards.losses import (
    index_repeats,
    out_is_input,
    out_outgrown,
    overwritten_unread,
    rebound_lost,
    result_thrown_away,
    source_in_order,
    values_cut_off,
    write_lost,
)
from inplace_magic.hazards.notes import could_be_in_place, graph_grows, in_place_saved_nothing, kept_by_the_graph
from inplace_magic.hazards.of_paddle import NOT_FOR_PADDLE
from inplace_magic.hazards.rule import Rule
from inplace_magic.hazards.rules import (
    expanded_tensor_written,
    graph_used_twice,
    leaf_written,
    overlap_refused,
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
    one_tensor_many_slots,
    written_as_two,
)
from inplace_magic.hazards.stale import (
    alias_written,
    conversion_written,
    dataset_item_edited,
    initial_value_written,
    joined_with_itself,
    kept_activation_overwritten,
    kept_then_written,
    memory_not_filled,
    results_share_memory,
    row_overwritten_first,
    same_memory_compared,
    taken_memory_trained,
    view_overwritten_unread,
)

RULES: tuple[Rule, ...] = (
    saved_tensor_overwritten.RULE,
    saved_values_changed.RULE,
    graph_used_twice.RULE,
    graph_grows.RULE,
    recomputed_with_other_values.RULE,
    overlapping_write.RULE,
    swapped_through_views.RULE,
    view_overwritten_unread.RULE,
    buffer_gathered.RULE,
    row_overwritten_first.RULE,
    out_is_input.RULE,
    out_outgrown.RULE,
    taken_memory_trained.RULE,
    write_lost.RULE,
    result_thrown_away.RULE,
    index_repeats.RULE,
    source_in_order.RULE,
    values_cut_off.RULE,
    overwritten_unread.RULE,
    rebound_lost.RULE,
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
    expanded_tensor_written.RULE,
    shared_gradient_edited.RULE,
    kept_gradient_added_to.RULE,
    conversion_written.RULE,
    handed_part_written.RULE,
    alias_written.RULE,
    written_as_two.RULE,
    joined_with_itself.RULE,
    parameters_share_memory.RULE,
    kept_then_written.RULE,
    kept_activation_overwritten.RULE,
    one_tensor_many_slots.RULE,
    results_share_memory.RULE,
    memory_not_filled.RULE,
    dataset_item_edited.RULE,
    default_argument_written.RULE,
    initial_value_written.RULE,
    objects_share_state.RULE,
    class_attribute_written.RULE,
    model_moved_on.RULE,
    copy_shares_parameters.RULE,
    array_shares_memory.RULE,
    argument_written.RULE,
    lookup_shortened.RULE,
    same_memory_compared.RULE,
    leaf_written.RULE,
    view_written.RULE,
    overlap_refused.RULE,
    in_place_saved_nothing.RULE,
    could_be_in_place.RULE,
    kept_by_the_graph.RULE,
)


NEED_EVERY_CALL = frozenset(
    rule.name
    for rule in (
        memory_not_filled.RULE,
        view_overwritten_unread.RULE,
        write_lost.RULE,
        result_thrown_away.RULE,
        overwritten_unread.RULE,
        rebound_lost.RULE,
        gradient_edited_late.RULE,
        gradient_not_cleared.RULE,
        gradient_not_renewed.RULE,
        gradient_of_another_loss.RULE,
        gradients_left_over.RULE,
        gradients_thrown_away.RULE,
        step_without_gradients.RULE,
        bucket_left_behind.RULE,
        model_moved_on.RULE,
    )
)
"""The rules that rest on something not having happened. Where calls were forgotten it may have, or within a replay of a
CUDA graph, so they are silent."""


FOR_PADDLE: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.name not in NOT_FOR_PADDLE)
"""The rules that run on Paddle's tensors."""
