"""A function adds to a default argument in place, so every later call begins with what the earlier calls left.

So does ``def __init__(self, counts={})``, which is evaluated once. Which object's method wrote is in the record; where
its dictionary comes from stands in the text, since no call of torch's makes one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.engine import written_again, written_for_two
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.expressions import assignments
from inplace_magic.source.listing import texts
from inplace_magic.source.spots import spot_of
from inplace_magic.source.statements import defaults_of, shared_defaults
from inplace_magic.source.text import nodes_in

CODE = "default-argument-written"

_CALLED_BY_THE_OBJECT = ("forward", "__call__")
"""Methods that ``model(x)`` enters with the arguments as they stand there."""


def written_for_the_next_call(story: Story) -> Iterator[Found]:
    """Yield the first write of each line of a default argument on top of what another call left in it."""
    told: set[object] = set()
    for call, site, tensor, _before in written_again(story, _of_defaults(story)):
        if line_key(site) not in told and site.caller is not None:
            told.add(line_key(site))
            name = story.bindings.written_path(call, tensor) or ""
            yield Found({"line": call}, tensor, name, {"name": name, "place": site.caller.place})


def _of_defaults(story: Story) -> Iterator[tuple[CallEvent, Mutation, Callsite | None]]:
    """Yield the first writes of arguments that were left out, each with who left it out, and so got the default."""
    for call, mutation, earlier in story.writes_counted:
        site = call.callsite
        if not earlier and site is not None and site.shared_defaults:
            name = story.bindings.written_path(call, mutation.tensor)
            if name is not None and _is_left_out(site, name):
                yield call, mutation, site.caller


def _is_left_out(site: Callsite, name: str) -> bool:
    """True if a name is a parameter with a default, bound to nothing else, that the caller gave no argument for."""
    node = expressions.parse(site.caller.expression) if site.caller is not None else None
    if name not in site.shared_defaults or not isinstance(node, ast.Call):
        return False
    # A partial, another name: what stands at the call need not be what the function gets.
    function = site.function.rpartition(".")[2]
    by_name = expressions.last_name(node.func) == function or function in _CALLED_BY_THE_OBJECT
    return by_name and _leaves_out(node, site.parameters, name)


def _leaves_out(call: ast.Call, parameters: tuple[str, ...], name: str) -> bool:
    """True if a call gives a method or function no argument for a parameter."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(entry.arg is None for entry in call.keywords):
        return False
    positional = parameters[1:] if parameters[:1] in (("self",), ("cls",)) else parameters
    return name not in positional[: len(call.args)] and all(entry.arg != name for entry in call.keywords)


def written_for_the_next_object(story: Story) -> Iterator[Found]:
    """Yield the writes of ``self.counts[bay]`` for one object on top of what they left for another, where both left out
    the dict or list around it."""
    for call, site, tensor, _before in written_for_two(story):
        spot, path = spot_of(story.trace, site), story.bindings.written_path(call, tensor)
        entry = expressions.parse(path) if path is not None else None
        if spot is not None and isinstance(entry, ast.Name):
            entry = spot.value_of(entry.id)  # ``total = self.counts[bay]``
        holder = entry.value if isinstance(entry, ast.Subscript) else None
        owner = next((around for around in spot.around if isinstance(around, ast.ClassDef)), None) if spot else None
        if owner is None or not isinstance(holder, ast.Attribute):
            continue
        own = expressions.path_text(holder.value) in site.parameters[:1]
        name = _default_left_out(story, owner, holder.attr) if own else None
        if name is not None:
            words = {"attribute": holder.attr, "name": name}
            yield Found({"line": call}, tensor, f"self.{holder.attr}", words)


def _default_left_out(story: Story, owner: ast.ClassDef, attribute: str) -> str | None:
    """Return the parameter to which ``__init__`` alone binds an attribute, if its default is one object for all, and
    every text that makes an object leaves it out."""
    init = next((each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    bound = [value for target, value in assignments(nodes_in(owner)) if getattr(target, "attr", None) == attribute]
    name = bound[0].id if len(bound) == 1 and isinstance(bound[0], ast.Name) else None
    default = defaults_of(init.args).get(name) if init is not None and name is not None else None
    if init is None or name not in shared_defaults(init) or not isinstance(default, (ast.Dict, ast.List, ast.Call)):
        return None
    parameters = tuple(argument.arg for argument in (*init.args.posonlyargs, *init.args.args))
    nodes = (node for listing in texts(story.trace) for node in listing.nodes if isinstance(node, ast.Call))
    making = [each for each in nodes if (expressions.path_text(each.func) or "").rpartition(".")[2] == owner.name]
    return name if making and all(_leaves_out(call, parameters, name) for call in making) else None


RULES = rules_of(
    Row(
        CODE,
        "warning",
        written_for_the_next_call,
        message=N_(
            "{line} writes `{name}`, which was left out at {place} and at the call before: a default argument "
            "is one tensor for all calls, so this call began with what the call before left in it. PyTorch "
            "gives no error."
        ),
        fix=N_("Make a new tensor in the function each time that `{name}` is left out."),
    ),
    Row(
        CODE,
        "warning",
        written_for_the_next_object,
        message=N_(
            "{line} writes an entry of `self.{attribute}` for one object on top of what it wrote for another "
            "one: both left out `{name}`, whose default is one object for all of them. PyTorch gives no "
            "error."
        ),
        fix=N_("Make a new one in `__init__` each time that `{name}` is left out."),
    ),
)
