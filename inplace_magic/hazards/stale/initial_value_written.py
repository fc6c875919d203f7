"""A value to begin with was written in place, so the next round begins with what the last one left."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.of_origin import begun_with_a_copy
from inplace_magic.hazards.references.objects.defaults import TakenOver, taken_over_and_written
from inplace_magic.hazards.references.two_rounds import TwoRounds, written_in_two_rounds
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _

CODE = "initial-value-written"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place."""
    told: set[tuple[object, ...]] = set()
    for found in chain(
        map(_of_an_entry, taken_over_and_written(story)),
        (_of_a_round(story, rounds) for rounds in written_in_two_rounds(story)),
    ):
        site = found.mutation
        if site is not None and (site.cell, site.file, site.line) not in told:
            told.add((site.cell, site.file, site.line))
            yield found


def _of_a_round(story: Story, rounds: TwoRounds) -> Hazard:
    variable = story.bindings.written_path(rounds.call, rounds.mutation.tensor)
    line, alias = wording.spot(rounds.call.callsite), rounds.alias
    if alias is not None:
        message = _(
            "{line} writes `{name}`, and {code} (line {number}) made no copy: it wrote `{source}`, which the next "
            "round begins with. PyTorch gives no error."
        ).format(line=line, name=alias.target, source=alias.source, code=wording.code(alias.text), number=alias.line)
        fix = _("Begin with a copy: {code}.")
        if rounds.by_caller:
            fix = _("If each run is to begin with the same values, begin with a copy: {code}.")
        fix = fix.format(code=wording.code(alias.text + ".clone()"))
    else:
        message = _(
            "{line} writes `{name}` for the second time, and `{function}` hands out that one tensor to all its "
            "callers, since its results are cached: each of them meets what the others wrote. PyTorch gives no error."
        ).format(line=line, name=variable or "", function=rounds.maker or "")
        fix = _("Write into a copy of what `{function}` gives: `.clone()`.").format(function=rounds.maker or "")
    return finding(
        CODE,
        "info" if rounds.by_caller else "warning",
        message=message,
        fix=fix,
        variable=variable,
        tensor=rounds.mutation.tensor,
        write=rounds.call,
    )


def _of_an_entry(taken: TakenOver) -> Hazard:
    attribute, entry = taken.attribute.path, taken.entry.path
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes `{name}` and with it `{source}`, which is the same tensor: it was taken over and not "
            "copied, so what begins with it next begins with what was written. PyTorch gives no error."
        ).format(line=wording.spot(taken.call.callsite), name=attribute, source=entry),
        fix=_("Begin with a copy: {code}.").format(code=wording.code(f"{entry}.clone()")),
        variable=attribute,
        tensor=taken.attribute.tensor,
        write=taken.call,
    )


RULE = Rule(check, {CODE: Cures((begun_with_a_copy,))})
