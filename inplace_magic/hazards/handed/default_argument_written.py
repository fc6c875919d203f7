"""A function adds to a default argument in place, so every later call begins with what the calls before have left."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.engine import Again, written_again
from inplace_magic.hazards.references.objects.shared_containers import (
    SharedContainer,
    default_of,
    entry_root,
    is_container,
    shared_by_objects,
)
from inplace_magic.hazards.references.runs import run_around
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Edit, whole_listing

CODE = "default-argument-written"

_ASKED = 16
"""Tensors of one place of which it is asked whether a default holds them."""
_CALLED_BY_THE_OBJECT = ("forward", "__call__")
"""Methods that ``model(x)`` enters with the arguments as they stand there."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    told = set()
    for again in written_again(story, partial(_left_out_by, story)):
        told.add((again.site.cell, again.site.file, again.site.line))
        yield _hazard(story, again)
    for shared in shared_by_objects(story):
        yield _of_objects(shared)
    for call, site, name in _written_in_a_later_run(story):
        if (site.cell, site.file, site.line) in told:
            continue
        if site.caller is not None and story.bindings.written_path(call, call.mutations[0].tensor) == name:
            yield _hazard(story, Again(call, site, call.mutations[0].tensor, site.caller, site.caller))
        else:
            yield _of_calls(call, site, name)


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


def _written_in_a_later_run(story: Story) -> Iterator[tuple[CallEvent, Callsite, str]]:
    """(write, place, parameter) where a line writes a default tensor, or an entry of a default dictionary or list, in a
    run of its function, on top of what an earlier run left, and the function gives the default back: who returns a
    state lets callers hand it in, and a caller that does not has asked for no other one's."""
    ends: dict[tuple[object, ...], tuple[Callsite, int, str]] = {}
    told: set[tuple[object, ...]] = set()
    asked: dict[Callsite, int] = {}
    for call in story.at(key for key, site in story.sites.items() if site.shared_defaults):
        site = call.callsite
        if call.kind != "in-place" or site is None or call.does("repeatable"):
            continue
        line = site.cell, site.file, site.line
        for mutation in call.mutations if site.caller is not None and line not in told else ():
            key = (*line, mutation.storage or mutation.tensor)
            if key not in ends:
                asked[site] = asked.get(site, 0) + 1
                name = _default_around(story, call, site, mutation.tensor) if asked[site] <= _ASKED else None
                run = run_around(story, call, site.caller, site) if name is not None and site.caller else None
                if name is not None and run is not None:
                    ends[key] = site, run.last, name
            elif site.caller != ends[key][0].caller or (call.index > ends[key][1] and _is_in(story, call, ends[key])):
                told.add(line)
                if not _is_filled(story, mutation, site, ends[key][1], call.index):
                    yield call, site, ends[key][2]


def _is_in(story: Story, call: CallEvent, end: tuple[Callsite, int, str]) -> bool:
    """Whether it is an entry of the default, and not the default itself, in which a loop may go on to count."""
    return story.bindings.written_path(call, call.mutations[0].tensor) != end[2]


def _is_filled(story: Story, mutation: Mutation, site: Callsite, since: int, until: int) -> bool:
    """Whether a line of its own gave the whole memory other values between two calls."""
    writes = (write for write in story.writes_to_memory(mutation.storage) if since < write.at < until)
    return any(_gives_all(write) and not write.site.same_line(site) for write in writes if write.site is not None)


def _gives_all(write: Write) -> bool:
    whole = write.mutation is not None and write.mutation.region is None
    return whole and write.call is not None and write.call.does("repeatable")


def _default_around(story: Story, call: CallEvent, site: Callsite, tensor: int) -> str | None:
    """The parameter that was left out and that a line writes, or an entry of it, where the function returns it."""
    path = story.bindings.written_path(call, tensor)
    node = entry_root(story, site, path)
    name = expressions.path_text(node.value) if node is not None else path
    listing = whole_listing(story.trace, site)
    statement = listing.statement_at(site) if listing is not None else None
    if name is None or listing is None or statement is None or not _left_out(site, name):
        return None
    scope = listing.scope_of(statement)
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    if node is not None and not is_container(default_of(scope, name)):
        return None
    returned = (each.value for each in ast.walk(scope) if isinstance(each, ast.Return) and each.value is not None)
    given = (value.elts if isinstance(value, ast.Tuple) else [value] for value in returned)
    return name if any(isinstance(e, ast.Name) and e.id == name for entries in given for e in entries) else None


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


def _of_calls(call: CallEvent, site: Callsite, name: str) -> Hazard:
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes a tensor in `{name}`, which was left out here and in an earlier call: a default is one "
            "object for all calls, so this call began with what that one had left in it. PyTorch gives no error."
        ).format(line=wording.spot(site), name=name),
        fix=_("Make it in the function, anew each time that `{name}` is left out.").format(name=name),
        variable=name,
        tensor=call.mutations[0].tensor,
        write=call,
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
