"""A value to begin with was written in place, so the next round begins with what the last one left.

``h = h0`` gives the initial state a second name and copies nothing: a loop that then writes ``h`` in place writes
``h0``. A constant of the module that a function scales under a local name is scaled again in each call, and so is what
a function behind ``functools.lru_cache`` hands out, which is one tensor for all its callers.

Bad::

    h0 = torch.zeros(3)
    for sequence in sequences:
        h = h0
        for x in sequence:
            h += x                  # the next sequence begins here
        finals.append(h.sum())

Good::

    for sequence in sequences:
        h = h0.clone()
        for x in sequence:
            h += x

Found where a loop binds a name to another one of the same function, the statement ran again after a write that
depends on the old values, and the other name serves for nothing else from the loop on: a statement that gives the same
tensor each time has an effect only where it is to begin anew. And where a tensor was made in a cached function, written
outside of it, and met there again by others or read by another function; memory to work in (``torch.empty``) is none.
And where an object took over what a dict of its own keeps by the name of the attribute (``setattr(self, name, value)``
for each of ``self.defaults``), in place of another tensor, and a line writes that on top of its values.
And wherever the value to begin with is kept (an attribute, an entry, a default, an argument): where a line wrote it in
one pass, under the same name in the next pass of the same run a tensor that had been computed from it, and it again in
a later run, on top of what was left (``h = self.h0`` above ``h += f(x); h = torch.tanh(h)``). A name that goes on as
another tensor is no handle on a state. Silent where the end of a run is put back, and where the write is taken back.
And where a method that is called again sets an attribute back to another one (``self.state = self.start``), every
statement of the class gives it that very tensor, which serves for nothing else, and a line writes it in place.
A function that moves a value of the module by constants, under a name of its own (``std = STD; std *= 255``), is told
as a fact worth knowing: a schedule means it, a constant does not. Silent for accumulators, which other lines read
(``counts = COUNTS; counts += 1``). It takes the text around the line, of a cell or of a file that is what ran.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.begun import begun_with_a_copy
from inplace_magic.hazards.references.first_passes import StartWritten, start_values_written
from inplace_magic.hazards.references.objects.defaults import TakenOver, taken_over_and_written
from inplace_magic.hazards.references.objects.ways import assigned
from inplace_magic.hazards.references.resets import StartKept, starts_written
from inplace_magic.hazards.references.two_rounds import TwoRounds, written_in_two_rounds
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.source import expressions
from inplace_magic.source.listing import whole_listing

CODE = "initial-value-written"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place."""
    told: set[tuple[object, ...]] = set()
    for found in chain(
        map(_of_an_entry, taken_over_and_written(story)),
        map(_of_a_reset, starts_written(story)),
        (_of_a_first_pass(story, start) for start in start_values_written(story)),
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


def _of_a_first_pass(story: Story, start: StartWritten) -> Hazard:
    name, site = start.owned.path, start.owned.site
    listing = whole_listing(story.trace, site)
    statement = listing.statement_at(site) if listing is not None else None
    value = assigned(listing, statement, name) if listing is not None and statement is not None else None
    source = expressions.path_text(value)
    if source is not None:
        message = _(
            "{line} writes `{name}`, which is `{source}` itself in the first pass and a new tensor in the passes after "
            "that: the next run begins with what this one left in `{source}`. PyTorch gives no error."
        )
        fix = _("Begin with a copy: {code}.").format(code=wording.code(f"{name} = {source}.clone()"))
    else:
        message = _(
            "{line} writes `{name}`, which is a tensor that somebody keeps in the first pass and a new tensor in the "
            "passes after that: the next run begins with what this one left. PyTorch gives no error."
        )
        fix = _("Begin with a copy: {code}.").format(code=wording.code(f"{name} = {name}.clone()"))
    return finding(
        CODE,
        "warning",
        message=message.format(line=wording.spot(start.call.callsite), name=name, source=source or ""),
        fix=fix,
        variable=story.bindings.written_name(start.call, start.mutation.tensor) or name,
        tensor=start.mutation.tensor,
        write=start.call,
    )


def _of_a_reset(kept: StartKept) -> Hazard:
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes `{name}`, which is `{source}` itself: `{method}` sets it back to what it is anyway, so the "
            "next round begins with what was written. PyTorch gives no error."
        ).format(line=wording.spot(kept.call.callsite), name=kept.path, source=kept.source, method=kept.method),
        fix=_("Begin with a copy: {code}.").format(code=wording.code(f"{kept.path} = {kept.source}.clone()")),
        variable=kept.path,
        tensor=kept.tensor,
        write=kept.call,
    )


RULE = Rule(check, {CODE: Cures((begun_with_a_copy,))})
