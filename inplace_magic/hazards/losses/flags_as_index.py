"""Zeros and ones were used as an index where a mask was meant: rows 0 and 1 were written, and not those flagged.

A tensor of integers names rows, a tensor of ``bool`` masks them (https://numpy.org/doc/stable/user/basics.indexing.html).

Bad::

    values[done] = 0                # done is tensor([0, 0, 1, 0, 1])

Good::

    values[done.bool()] = 0

Told from the record alone: the index of an assignment held one whole number for each row of the tensor, and nothing but
zeros and ones. Silent for fewer than four rows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _, spelled

CODE = "flags-as-index"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each such line."""
    seen = set()
    for call, mutation, dropped in story.dropping:
        site = call.callsite
        if dropped.kind != "flags" or site in seen:
            continue
        seen.add(site)
        name = story.bindings.written_name(call, mutation.tensor) or story.bindings.name(mutation.tensor)
        yield finding(
            CODE,
            "silent",
            message=_(
                "{line} writes rows 0 and 1 of {tensor}, and not the rows that are flagged: its index is a zero or a "
                "one for each of {count} rows, as whole numbers. PyTorch gives no error."
            ).format(line=wording.spot(site), tensor=f"`{name}`" if name else _("the tensor"), count=dropped.among),
            fix=_("Make a mask of it: `x[flags.bool()] = …`."),
            variable=name,
            tensor=mutation.tensor,
            write=call,
        )


def masked(write: Written) -> Fix | None:
    """``values[done.bool()] = 0``."""
    statement, listing = write.statement, write.listing
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Subscript) or not isinstance(target.slice, (ast.Name, ast.Attribute)):
        return None
    edit = listing.substitute([(target.slice, listing.text(target.slice) + spelled(".bool()"))])
    return Fix(write.site, listing, (edit,)) if edit is not None else None


RULE = Rule(check, {CODE: Cures((masked,))})
