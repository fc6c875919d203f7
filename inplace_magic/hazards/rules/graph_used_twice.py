"""A backward went into a graph that an earlier backward had used up."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes import history
from inplace_magic.hazards.fixes.step_advice import detached, state_names
from inplace_magic.hazards.late_backward import Twice
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _, sentences
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite, where_they_part

CODE = "graph-used-twice"


def check(story: Story) -> Iterator[Hazard]:
    """Yields a finding for each backward that PyTorch refused so."""
    for call, refusal in story.refusals():
        if call is not None and refusal.kind == "graph used up" and call.index in story.backwards:
            yield _hazard(Twice(story, call))


def _hazard(twice: Twice) -> Hazard:
    first, node = twice.first if twice.first is not None else (None, None)
    saver, made = twice.story.saver_site(node) if node is not None else (None, None)
    message, fix = _not_in_the_record(twice) if first is None else _told(twice, first, made)
    names = [joint.name for joint in twice.joints if joint.name is not None]
    return Hazard(
        code=CODE,
        severity="error",
        message=message,
        fix=fix,
        diff=history.diff_of(twice),
        variable=names[0] if names else None,
        saved=made,
        saved_by=node.name if node is not None else None,
        freed=first.callsite if first is not None else None,
        saved_call=saver.index if saver is not None else None,
        read_call=twice.second.index,
        raised=True,
    )


def _told(twice: Twice, first: CallEvent, made: Callsite | None) -> tuple[str, str]:
    second, forward = twice.second.callsite, wording.spot(made)
    again, before = wording.spot(second), wording.spot(first.callsite)
    if first.error is not None:
        message = _(
            "{second} enters a graph that {first} went through before: that backward failed on its way and "
            "freed the part that it had passed."
        )
        fix = _("Compute {result} again before {second}: a backward that fails leaves its graph half freed.")
        fix = fix.format(result=twice.result, second=wording.line_of(second))
        return message.format(second=again, first=before), fix
    if twice.is_of_one_result and first.callsite == second:
        message = _(
            "{second} goes through the same graph in each pass, and {forward} made that graph before: the first "
            "pass freed its saved tensors."
        )
    elif twice.is_of_one_result:
        message = _(
            "{second} goes through the graph of {result} again: {first} went through it before and freed its "
            "saved tensors. {forward} made the graph."
        )
    elif twice.is_carried_on and first.callsite == second:
        message = _(
            "{second} runs back through {names} into the graph of an earlier pass, whose saved tensors it freed "
            "in that pass already."
        )
    elif twice.is_carried_on:
        message = _(
            "{second} runs back through {names} into the graph of an earlier pass, whose saved tensors {first} "
            "has freed already."
        )
    else:
        message = _(
            "{second} runs back through {names} into a part of the graph whose saved tensors {first} has freed "
            "already. {forward} made that part."
        )
    message = message.format(second=again, first=before, forward=forward, result=twice.result, names=_names(twice))
    return message, _fix(twice, first, made)


def _fix(twice: Twice, first: CallEvent, made: Callsite | None) -> str:
    second, before = wording.line_of(twice.second.callsite), wording.spot(first.callsite)
    wrote = twice.stepped
    if twice.is_carried_on:
        return _cut_off(twice)
    what = twice.result if twice.is_of_one_result else _names(twice)
    if wrote is not None and first.callsite != twice.second.callsite:
        return _(
            "Compute {what} again after {step}, from {forward} on: {step} changed the values that the graph was "
            "built from, so `retain_graph=True` would not help."
        ).format(what=what, step=wording.line_of(wrote.callsite), forward=wording.line_of(made))
    if first.callsite == twice.second.callsite:
        return _(
            "Compute {what} again in each pass: put {forward}, and what follows from it, into the loop. "
            "`retain_graph=True` is right only if the same graph, with the same values, is to be used again."
        ).format(what=what, forward=wording.line_of(made))
    if twice.is_of_one_result:
        return _(
            "Compute {what} again before {second}, or run backward once. To use one graph twice, pass "
            "`retain_graph=True` to {first}."
        ).format(what=what, second=second, first=before)
    return _(
        "If both backwards need it, run backward once, on the sum of the two results, or pass `retain_graph=True` to "
        "{first}. If only one does, give the other the values alone, by `.detach()` of {what}."
    ).format(first=before, what=what)


def _cut_off(twice: Twice) -> str:
    reader, second = twice.joints[0].reader, twice.second.callsite
    names = state_names(where_they_part(reader.chain, second.chain)[0], twice.joints) if reader and second else []
    keeps = _(
        "`retain_graph=True` would keep the graphs of all passes, and each backward would go back through all of them."
    )
    if not names:
        return sentences(_("Detach the state between two passes, by `.detach()`."), keeps)
    cut = _("Detach the state between two passes, by {detached}: gradients then end where a pass begins.")
    return sentences(cut.format(detached=wording.code(detached(names, twice.joints))), keeps)


def _names(twice: Twice) -> str:
    names = dict.fromkeys(f"`{joint.name}`" for joint in twice.joints if joint.name is not None)
    if names:
        return _(" and ").join(list(names)[:3])
    return wording.spot(twice.joints[0].reader) if twice.joints else _("the graph's earlier part")


def _not_in_the_record(twice: Twice) -> tuple[str, str]:
    """What is said where no backward of the record had gone through that graph."""
    second = wording.spot(twice.second.callsite)
    if twice.old and not twice.story.trace.threads_started:
        message = _(
            "{second} enters a graph from before this watch began: another backward had freed its saved tensors "
            "by then."
        )
    else:
        message = _(
            "{second} enters a graph whose saved tensors another backward has freed. The record does not show "
            "which backward."
        )
    fix = _(
        "Compute the result again before {line}, or pass on detached values of earlier results (`.detach()`). A "
        "watch that begins before the forward pass names the first backward."
    )
    return message.format(second=second), fix.format(line=wording.line_of(twice.second.callsite))


RULE = Rule(CODE, "error", check, {CODE: Cures()})
