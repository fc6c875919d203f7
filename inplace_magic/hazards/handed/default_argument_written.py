"""A function adds to a default argument in place, so every later call begins with what the calls before have left."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.engine import Again, written_again
from inplace_magic.hazards.references.objects.shared_containers import (
    SharedContainer,
    shared_by_objects,
)
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Edit

CODE = "default-argument-written"

_CALLED_BY_THE_OBJECT = ("forward", "__call__")
"""Methods that ``model(x)`` enters with the arguments as they stand there."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    for again in written_again(story, partial(_left_out_by, story)):
        yield _hazard(story, again)
    for shared in shared_by_objects(story):
        yield _of_objects(shared)


def _left_out_by(story: Story, call: CallEvent, site: Callsite, tensor: int) -> Callsite | None:
    """Who left the written argument out, and so got the default."""
    name = story.bindings.written_path(call, tensor)
    return site.caller if name is not None and _left_out(site, name) else None


def _left_out(site: Callsite, name: str) -> bool:
    """Whether a name is a parameter with a default, bound to nothing else, that the caller gave no argument for."""
    node = expressions.parse(site.caller.expression) if site.caller is not None else None
    if site.caller is None or name not in site.shared_defaults or not isinstance(node, ast.Call):
        return False
    if any(isinstance(arg, ast.Starred) for arg in node.args) or any(entry.arg is None for entry in node.keywords):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
    function = site.function.rpartition(".")[2]
    if called != function and function not in _CALLED_BY_THE_OBJECT:
        return False  # a partial, another name: what stands at the call need not be what the function gets
    return expressions.parameter_argument(site.caller.expression, site.parameters, name) is None


def _of_objects(shared: SharedContainer) -> Hazard:
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes an entry of `self.{attribute}` for one object on top of what it wrote for another one: both "
            "left out `{parameter}`, and its default is one for all objects. PyTorch gives no error."
        ).format(line=wording.spot(shared.site), attribute=shared.attribute, parameter=shared.owner),
        fix=_("Make it in `__init__`, anew each time that `{name}` is left out.").format(name=shared.owner),
        variable=f"self.{shared.attribute}",
        tensor=shared.tensor,
        write=shared.call,
    )


def _hazard(story: Story, again: Again[Callsite]) -> Hazard:
    name = story.bindings.written_path(again.call, again.tensor) or ""
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes `{name}`, which was left out at {place} and at the call before: a default argument is one "
            "tensor for all calls, so this call began with what that one had left in it. PyTorch gives no error."
        ).format(line=wording.spot(again.site), name=name, place=again.now.place),
        fix=_("Make the tensor in the function, anew each time that `{name}` is left out.").format(name=name),
        variable=name,
        tensor=again.tensor,
        write=again.call,
    )


def made_in_the_function(write: Written) -> Fix | None:
    """``state=None`` in the head, and ``state = torch.zeros(3) if state is None else state`` below it."""
    listing, name = write.listing, write.hazard.variable
    scope = listing.scope_of(write.statement)
    if not isinstance(scope, ast.FunctionDef) or scope.body[0].lineno != scope.lineno + 1:
        return None
    positional = [*scope.args.posonlyargs, *scope.args.args]
    defaults = zip(reversed(positional), reversed(scope.args.defaults), strict=False)
    default = next((value for argument, value in defaults if argument.arg == name), None)
    head = listing.substitute([(default, "None")]) if default is not None else None
    if default is None or head is None:
        return None
    line = f"{listing.indent(scope.body[0])}{name} = {listing.text(default)} if {name} is None else {name}"
    return Fix(write.site, listing, (Edit(scope.lineno, scope.lineno, (*head.new, line)),))


RULE = Rule(check, {CODE: Cures((made_in_the_function,))})
