"""One tensor stands in two places as two states, and is written by both: each write changes the other state."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.of_origin import copied
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.objects.given_again import GivenAgain, given_again
from inplace_magic.hazards.references.objects.two_slots import WrittenAsTwo, written_as_two
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

CODE = "written-as-two"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that writes on top of the other state."""
    for again in given_again(story):
        yield _given(again)
    seen = set()
    for found in written_as_two(story):
        if found.second.callsite not in seen:
            seen.add(found.second.callsite)
            yield _hazard(story, found)


def _given(found: GivenAgain) -> Hazard:
    site = found.given.callsite
    one, other = _sides(site)
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} gives `{one}` the memory of `{other}`, and no copy: {first} and {second} both write it from then "
            "on, so each changes both. PyTorch gives no error."
        ).format(
            line=wording.spot(site),
            one=one,
            other=other,
            first=wording.line_of(found.own.site),
            second=wording.line_of(found.theirs.site),
        ),
        fix=_("Give it a copy: {code}.").format(code=wording.code(f"{one} = {other}.clone()")),
        variable=one.removesuffix(".data"),
        tensor=found.tensor,
        write=found.given,
        origin=site,
        read=found.theirs.call,
        badges=Badges(read=_("writes the same memory here")),
    )


def _sides(site: Callsite | None) -> tuple[str, str]:
    """Both sides of the assignment, as the line says them."""
    node = expressions.parse(site.statement) if site is not None else None
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return "q.data", "p.data"
    return ast.unparse(node.targets[0]), ast.unparse(node.value)


def memory_copied(write: Written) -> Fix | None:
    """``q.data = p.data.clone()``."""
    node, call = write.statement, write.call
    if call is None or not call.does("takes memory") or not isinstance(node, ast.Assign):
        return None
    return copied(write, write.listing, node.value)


def _hazard(story: Story, found: WrittenAsTwo) -> Hazard:
    first, second = found.first.callsite, found.second.callsite
    told = finding(
        CODE,
        "warning",
        message=_(
            "{line} goes on from what {first} wrote: `{other}` and `{one}` are one tensor, so each write changes both. "
            "PyTorch gives no error."
        ).format(line=wording.spot(second), first=wording.spot(first), one=found.one, other=found.other),
        fix=_("Give `{one}` and `{other}` each a tensor of its own where they begin.").format(
            one=found.one, other=found.other
        ),
        variable=story.bindings.written_name(found.second, found.tensor) or found.other,
        tensor=found.tensor,
        write=found.second,
        origin=story.bindings.made_at.get(found.tensor),
    )
    return replace(told, mutations=tuple(place for place in (first, second) if place is not None))


RULE = Rule(check, {CODE: Cures((memory_copied,))})
