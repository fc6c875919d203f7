"""All rules, in the order in which they run, and the page of each, which the site shows as well.

A new rule is a module with its rows, or its check and its cures, one entry in :data:`RULES`, and a page.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from inplace_magic.hazards import notes
from inplace_magic.hazards.dead import dropped, overwritten, unread
from inplace_magic.hazards.gradients import history, sequences, shared, steps, sums, unarrived
from inplace_magic.hazards.handed import argument_written, default_argument_written
from inplace_magic.hazards.of_paddle import NOT_FOR_PADDLE
from inplace_magic.hazards.overlap import beyond, in_one_call, in_turn, swapped
from inplace_magic.hazards.rule import Rule
from inplace_magic.hazards.rules import graph_used_twice, refused, saved_tensor_overwritten, saved_values_changed
from inplace_magic.hazards.shared import (
    copy_shares_parameters,
    objects_share_state,
    one_tensor_many_slots,
    written_as_two,
)
from inplace_magic.hazards.stale import (
    alias_written,
    array_shares_memory,
    dataset_item_edited,
    decisions,
    initial_value_written,
    kept_activation_overwritten,
    parts,
    results_share_memory,
)
from inplace_magic.hazards.twice import compared, joined, run_again

RULES: tuple[Rule, ...] = (
    saved_tensor_overwritten.RULE,
    saved_values_changed.RULE,
    graph_used_twice.RULE,
    *notes.LOOPS,
    *in_one_call.RULES,
    *swapped.RULES,
    *in_turn.RULES,
    *beyond.RULES,
    *unread.RULES,
    *dropped.RULES,
    *overwritten.RULES,
    *run_again.RULES,
    *sequences.RULES,
    *sums.RULES,
    *steps.RULES,
    *unarrived.RULES,
    *history.RULES,
    *shared.RULES,
    *alias_written.RULES,
    *written_as_two.RULES,
    *joined.RULES,
    *decisions.RULES,
    *kept_activation_overwritten.RULES,
    *one_tensor_many_slots.RULES,
    *results_share_memory.RULES,
    *dataset_item_edited.RULES,
    *default_argument_written.RULES,
    *initial_value_written.RULES,
    *objects_share_state.RULES,
    *copy_shares_parameters.RULES,
    *array_shares_memory.RULES,
    *parts.RULES,
    *argument_written.RULES,
    *compared.RULES,
    *refused.RULES,
    *notes.RULES,
)

FOR_PADDLE: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.name not in NOT_FOR_PADDLE)
"""The rules that run on Paddle's tensors."""

PAGES = Path(__file__).parent / "pages"
"""``pages/<room>.md`` has the pages of a folder of rules, each below its heading: the name of the rule."""


def page_of(code: str) -> str | None:
    """Return the page of a code; None where no rule has it."""
    return _pages().get(code)


@cache
def _pages() -> dict[str, str]:
    """Return the page of each code, without its heading."""
    files = (file.read_text(encoding="utf-8") for file in PAGES.glob("*.md"))
    pages = (page.partition("\n") for text in files for page in re.split(r"^# ", text, flags=re.MULTILINE)[1:])
    by_name = {name: text.strip() for name, _line, text in pages}
    return {code: by_name[rule.name] for rule in RULES for code in rule.cures}
