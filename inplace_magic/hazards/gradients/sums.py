"""What became of the gradients of each run of one backward: one letter a run, and bad sequences of those.

``s``: a step was made by them. ``t``: they were thrown away, all of them cleared unread. ``.``: they were left for the
next run to add to. ``r``: somebody else read them, or it is not known. Runs from one step to the next are a period:
``...s...s`` are two of four runs each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.gradients.cures import moved_below_the_step
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

_STEPS = 4
"""So few steps say nothing of how often there is one."""


@dataclass
class _Runs:
    """The runs of one backward line, and what became of what each of them left."""

    story: Story
    backwards: list[int]
    letters: str = ""
    clears: dict[int, CallEvent] = field(default_factory=dict)
    """By the place of the run: the first call that cleared."""
    steps: dict[int, CallEvent] = field(default_factory=dict)

    def periods(self) -> list[tuple[int, str]]:
        """(place of the first run, letters) of each whole period, up to a run of which it is not known."""
        known = self.letters.partition("r")[0]
        return [(match.start(), match[0]) for match in re.finditer(r"[.t]*s", known)]

    def lines_that_clear(self) -> set[Callsite | None]:
        return {call.callsite for call in self.clears.values()}

    def found(self, last: int, step: int, **words: int) -> Found:
        """Return a finding of the run whose gradients were thrown away last, and the step after it."""
        story, clear = self.story, self.clears[last]
        leaves = story.gradients.leaves_of(self.backwards[last])
        leaf = next((meta.tensor for meta in clear.inputs if meta.tensor in leaves), min(leaves))
        calls = {"clear": clear, "backward": story.calls[self.backwards[last]], "step": self.steps[step]}
        return Found(calls, words=words, leaf=leaf)


def all_thrown_away(story: Story) -> Iterator[Found]:
    """Yield the lines that throw away all but the last gradients of each period."""
    for runs in story.once(_runs):
        periods = runs.periods()
        sizes = {len(letters) for _first, letters in periods}
        regular = len(periods) >= 2 * len(sizes) > 0 and len(sizes) <= 2 and "r" not in runs.letters
        if regular and len(runs.lines_that_clear()) == 1 and all(re.fullmatch(r"[.t]*ts", p) for _at, p in periods):
            first, letters = periods[0]
            last = first + len(letters) - 2
            yield runs.found(last, last + 1, thrown=len(letters) - 1)


def part_thrown_away(story: Story) -> Iterator[Found]:
    """Yield the lines that throw away a part of the gradients of some periods, where all periods are equally long."""
    for runs in story.once(_runs):
        periods = runs.periods()
        cut = [(first, letters) for first, letters in periods if "t" in letters]
        equal = len({len(letters) for _first, letters in periods}) == 1 and len(periods[0][1]) > 1
        if equal and len(periods) >= _STEPS and 2 <= len(cut) <= len(periods) - 2 and len(runs.lines_that_clear()) == 1:
            first, letters = cut[0]
            last, step = first + letters.rindex("t"), first + len(letters) - 1
            yield runs.found(last, step, usual=len(letters), left=step - last)


def left_over(story: Story) -> Iterator[Found]:
    """Yield the backwards of which some are left in a gradient at regular distances, as at the end of an epoch."""
    for runs in story.once(_runs):
        sizes = [len(letters) for _first, letters in runs.periods()]
        if len(sizes) < _STEPS - 1 or set(runs.letters) != {".", "s"}:
            continue
        places = [place for place, size in enumerate(sizes) if size != sizes[0]]
        extra = len(runs.letters) - sum(sizes)
        if not places or {sizes[place] for place in places} != {sizes[0] + extra} or not extra < sizes[0]:
            continue
        leaf = min(story.gradients.leaves_of(runs.backwards[0]))
        regular = places == [*range(places[0], len(sizes), places[0])] and len(sizes) % places[0] == 0
        if regular and story.came_to_leaf(leaf) == runs.backwards:
            first = sum(sizes[: places[0]])
            calls = {"backward": story.calls[runs.backwards[first]], "step": runs.steps[first + sizes[0] + extra - 1]}
            words = {"usual": sizes[0], "larger": sizes[0] + extra, "extra": extra}
            yield Found(calls, words=words, leaf=leaf)


def _runs(story: Story) -> list[_Runs]:
    """Return the lines that ran backward several times."""
    found = []
    lines: dict[Callsite, list[int]] = {}
    for index in story.backwards_run:
        call = story.calls[index]
        if call.callsite is not None and call.parent is None and not call.does("gives gradients"):
            lines.setdefault(call.callsite, []).append(index)
    for backwards in lines.values():
        if len(backwards) >= _STEPS:
            runs = _Runs(story, backwards)
            for place, (backward, until) in enumerate(pairwise([*backwards, len(story.trace.calls)])):
                runs.letters += _letter(runs, place, backward, until)
                if runs.letters.endswith("r"):
                    break  # nobody asks what came after it
            found.append(runs)
    return found


def _letter(runs: _Runs, place: int, backward: int, until: int) -> str:
    """Return what became of the gradients that one run filled, before the next run."""
    story, gradients = runs.story, runs.story.gradients
    leaves = gradients.leaves_of(backward)
    added = {entry.storage for entry in story.backwards[backward].added_to}
    memories = added | set(story.born_in.get(backward, ()))
    if not leaves or len(memories) != len(leaves) or _is_hooked(story, backward, leaves):
        return "r"
    uses = [gradients.of(memory).first_use(backward) for memory in memories]
    known = [use for use in uses if use is not None and use.at < until]
    clears = [use.call for use in known if use.letter in "cd" and _is_a_clearing(use.call, leaves)]
    if len(clears) == len(memories):
        runs.clears[place] = min(clears, key=lambda call: call.index)
        return "t"
    reads = [use.at for use in known if use.letter not in "cd"]
    if clears or not reads:
        return "r" if clears else "."
    moved = [call for leaf in leaves if (call := gradients.moved(leaf, min(reads), until)) is not None]
    if not moved:
        return "r"
    runs.steps[place] = min(moved, key=lambda call: call.index)
    return "s"


def _is_a_clearing(call: CallEvent, leaves: frozenset[int]) -> bool:
    """True if a call set gradients to zero, or took one away."""
    if call.does("sets gradient"):
        return len(call.inputs) == 1 and call.got(leaves)
    return call.parent is None and (call.does("zeroes") or call.does("fills"))


def _is_hooked(story: Story, backward: int, leaves: frozenset[int]) -> bool:
    """True if code of the user's may have seen the gradients while backward ran."""
    if not story.went_through(backward).isdisjoint(story.once(nodes_with_hooks)):
        return True
    return any(call.got(leaves) for call in story.doing("registers hook"))


def nodes_with_hooks(story: Story) -> frozenset[int]:
    """Return the nodes at which a backward runs code of the user's."""
    hooked = (call.inputs[0].node for call in story.doing("registers hook") if call.inputs)
    running = (node.node for node in story.trace.nodes if node.does("runs a module's hook"))
    return frozenset(node for node in (*hooked, *running) if node is not None)


RULES = rules_of(
    Row(
        "gradients-left-over",
        "warning",
        left_over,
        Calls(write="backward", read="step"),
        message=N_(
            "{step} uses the sum of {usual} backwards, and some passes later the sum of {larger}: {backward} left "
            "{extra} in {gradient}, which no step had used and nothing had cleared by then. PyTorch gives no error."
        ),
        fix=N_("Step and clear after the last batch of an epoch as well, or clear the gradients before the next one."),
        badges=Badges(wrote=N_("left here"), read=N_("uses the sum here")),
    ),
    Row(
        "gradients-thrown-away",
        "warning",
        all_thrown_away,
        Calls(write="clear", read="step", origin="backward"),
        message=N_(
            "{clear} clears {gradient} after {backward} filled it and before anything reads it, {thrown} times "
            "for each step: {step} uses the gradients of the last backward alone. PyTorch gives no error."
        ),
        fix=N_(
            "Clear the gradients after a step has used them, and nowhere before: move `zero_grad()` to right "
            "after `step()`."
        ),
        ways=(moved_below_the_step,),
        badges=Badges(wrote=N_("cleared here"), read=N_("uses the last one alone here"), origin=N_("fills them here")),
    ),
    Row(
        "gradients-thrown-away",
        "warning",
        part_thrown_away,
        Calls(write="clear", read="step", origin="backward"),
        message=N_(
            "{clear} clears {gradient} after {backward} filled it and before anything reads it: a step comes "
            "after every {usual} backwards, and {step} uses {left} of them. PyTorch gives no error."
        ),
        fix=N_("Clear the gradients after a step has used them, and nowhere before."),
        badges=Badges(wrote=N_("cleared here"), read=N_("uses the rest here"), origin=N_("fills them here")),
    ),
    every_call=True,
)
