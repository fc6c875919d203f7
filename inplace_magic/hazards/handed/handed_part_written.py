"""A function changed the part of a tensor that it was handed and gave it back, and the whole is read as if
unchanged."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.references.handed import Handed, goes_on, handed_tensor
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

CODE = "handed-part-written"
_NAMED = 16
"""Writes of a line that are looked at, where its function is handed a name."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    seen = set()
    asked: Counter[tuple[object, ...]] = Counter()
    for call in story.in_place:
        site = call.callsite
        if site is None or site.caller is None or not site.direct or call.error is not None:
            continue
        line = site.cell, site.file, site.line
        for mutation in call.mutations if line not in seen else ():
            argument = _handed(story, call, mutation.tensor, site)
            named = isinstance(argument, ast.Name)
            asked[line] += named
            if argument is None or (named and asked[line] > _NAMED) or not builds_on_itself(story, call, mutation):
                continue
            handed = handed_tensor(story, call, mutation, site.caller, site)
            view = story.innermost_new(handed.tensor, handed.run.first) if handed is not None else None
            whole = view.inputs[0] if view is not None and view.kind == "view" and view.inputs else None
            if (
                handed is None
                or view is None
                or whole is None
                or whole.storage != mutation.storage
                or whole.is_trainable
            ):
                continue
            if isinstance(argument, ast.Name) and not _is_a_part_for_this(story, handed, view, argument.id):
                continue
            read = next(story.readers(whole.tensor, call.index, partial(_outside, site)), None)
            if read is not None and not any(each.tensor == whole.tensor for each in read.mutations):
                seen.add(line)
                yield _hazard(story, call, mutation.tensor, whole.tensor, argument, read)
                break


def _handed(story: Story, call: CallEvent, tensor: int, site: Callsite) -> ast.expr | None:
    """``population[i]``, ``self.select()`` or a name, where the function returns the parameter that it wrote and the
    result is used."""
    path = story.bindings.written_path(call, tensor)
    caller = site.caller
    if path is None or caller is None or path not in site.parameters or path in ("self", "cls"):
        return None
    gives = any((a.target, a.source) == ("return", path) for a in story.aliases.beside(site))
    used = caller.targets is not None or caller.expression != caller.statement
    argument = expressions.parameter_argument(caller.expression, site.parameters, path) if gives and used else None
    return argument if isinstance(argument, (ast.Call, ast.Subscript, ast.Name)) else None


def _is_a_part_for_this(story: Story, handed: Handed, view: CallEvent, name: str) -> bool:
    """Whether a name is that of a part which the caller took in this run, ``held_out = table[low:high]``, and keeps
    beside what came back; no part of a state, which each run of the line moves on."""
    caller = handed.run.caller
    taken = view.callsite is not None and view.callsite.direct and view.callsite.same_run(caller)
    anew = caller.bound is not None and name in caller.bound
    return taken and view.does("gives item") and not anew and not goes_on(story, handed, in_other_runs=True)


def _outside(own: Callsite, place: Callsite | None) -> bool:
    return place is not None and not place.is_below_function(own)


def _hazard(story: Story, call: CallEvent, tensor: int, whole: int, argument: ast.expr, read: CallEvent) -> Hazard:
    site = call.callsite
    caller = site.caller if site is not None else None
    name = story.bindings.name(whole)
    return finding(
        CODE,
        "warning",
        message=_(
            "{write} changes what {call} handed to it, and {argument} is a view of {tensor}: {read} reads the changed "
            "values there. PyTorch gives no error."
        ).format(
            write=wording.spot(site),
            call=wording.spot(caller),
            argument=wording.code(ast.unparse(argument)),
            tensor=f"`{name}`" if name else _("a tensor"),
            read=wording.spot(read.callsite),
        ),
        fix=_("Hand over a copy: {code}, or let the function make a new tensor.").format(
            code=wording.code(f"{ast.unparse(argument)}.clone()")
        ),
        variable=story.bindings.written_path(call, tensor),
        origin=caller,
        read=read,
        tensor=tensor,
        write=call,
        badges=Badges(origin=_("handed over here")),
    )


RULE = Rule(check)
