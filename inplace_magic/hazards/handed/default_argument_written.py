"""A function adds to a default argument in place, so every later call begins with what the earlier calls left.

So does ``def __init__(self, counts={})``, which is evaluated once. Which object's method wrote is in the record; where
its dictionary comes from stands in the text, since no call of torch's makes one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.engine import Again, written_again
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Edit, Listing, texts, whole_listing
from inplace_magic.source.text import nodes_in
from inplace_magic.source.variables import variables_bound

_MAKERS = frozenset(("dict", "list", "defaultdict", "OrderedDict", "deque"))


@dataclass(frozen=True)
class SharedContainer:
    """One line wrote a tensor for two objects, which have the dictionary or list around it in common."""

    call: CallEvent
    site: Callsite
    tensor: int
    attribute: str
    """``counts`` of ``self.counts[bay]``."""
    owner: str
    """The parameter whose default it is."""


def shared_by_objects(story: Story) -> Iterator[SharedContainer]:
    """Yields the first such write of each line."""
    first: dict[tuple[object, ...], int] = {}
    told: set[tuple[object, ...]] = set()
    for entry in story.trace.methods:
        call = story.calls.get(entry.call)
        site = call.callsite if call is not None else None
        if call is None or site is None or call.error is not None or call.does("repeatable"):
            continue
        line = site.cell, site.file, site.line
        for mutation in call.mutations if line not in told else ():
            before = first.setdefault((line, mutation.tensor), entry.object)
            if before == entry.object:
                continue
            told.add(line)
            found = _container(story, call, site, mutation.tensor)
            if found is not None and not story.is_gradient(mutation):
                yield found


def is_container(value: ast.expr | None) -> bool:
    """Whether an expression makes a dictionary or list: ``{}``, ``[]``, ``defaultdict(…)``."""
    if isinstance(value, ast.Call):
        path = expressions.path_text(value.func) or ""
        return path.rpartition(".")[2] in _MAKERS
    return isinstance(value, (ast.Dict, ast.List))


def entry_root(story: Story, site: Callsite, path: str | None) -> ast.Subscript | None:
    """What a path to a written tensor leads through: ``self.counts[bay]`` for itself, and for ``total`` what the last
    ``total = self.counts[bay]`` above says; None where it is no entry of anything."""
    node = expressions.parse(path) if path is not None else None
    if isinstance(node, ast.Name):
        listing = whole_listing(story.trace, site)
        statement = listing.statement_at(site) if listing is not None else None
        if listing is None or statement is None:
            return None
        scope = listing.scope_of(statement)
        stores = [each for each in listing.stores.get(node.id, ()) if listing.scope_of(each) is scope]
        bound = listing.parents.get(stores[0]) if len(stores) == 1 else None
        node = bound.value if isinstance(bound, ast.Assign) and len(bound.targets) == 1 else None
    return node if isinstance(node, ast.Subscript) else None


def _container(story: Story, call: CallEvent, site: Callsite, tensor: int) -> SharedContainer | None:
    meta = story.observations.get(tensor)
    node = entry_root(story, site, story.bindings.written_path(call, tensor))
    if node is None or meta is None or meta.is_trainable:
        return None
    holder = node.value
    own = isinstance(holder, ast.Attribute) and expressions.path_text(holder.value) in site.parameters[:1]
    listing = whole_listing(story.trace, site)
    if not own or not isinstance(holder, ast.Attribute) or listing is None:
        return None
    owner = class_around(listing, site)
    left_out = default_left_out(story, owner, holder.attr) if owner is not None else None
    if left_out is not None and is_container(left_out[1]):
        return SharedContainer(call, site, tensor, holder.attr, left_out[0])
    return None


def class_around(listing: Listing, site: Callsite) -> ast.ClassDef | None:
    """The class whose method a place is in."""
    statement = listing.statement_at(site)
    around = listing.around(statement) if statement is not None else ()
    return next((node for node in around if isinstance(node, ast.ClassDef)), None)


def _bindings(owner: ast.ClassDef, attribute: str) -> Iterator[ast.expr]:
    """What the methods of a class bind an attribute to; of an unpacking, the entry that goes to it."""
    for node in nodes_in(owner):
        if isinstance(node, (ast.AugAssign, ast.AnnAssign)) and _is_attribute(node.target, attribute):
            yield node.value or ast.Constant(None)
        for target in node.targets if isinstance(node, ast.Assign) else ():
            assert isinstance(node, ast.Assign)
            if _is_attribute(target, attribute):
                yield node.value
            elif isinstance(target, ast.Tuple):
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] * len(target.elts)
                yield from (v for t, v in zip(target.elts, values, strict=False) if _is_attribute(t, attribute))


def _is_attribute(node: ast.expr, attribute: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == attribute


def default_left_out(story: Story, owner: ast.ClassDef, attribute: str) -> tuple[str, ast.expr] | None:
    """(parameter, default) of what every object of a class takes for an attribute, where its ``__init__`` binds that to
    a parameter which every text that makes an object leaves out."""
    methods = (entry for entry in owner.body if isinstance(entry, ast.FunctionDef))
    init = next((method for method in methods if method.name == "__init__"), None)
    if init is None or not (init.args.defaults or init.args.kw_defaults):
        return None
    bound = list(_bindings(owner, attribute))
    parameter = bound[0].id if len(bound) == 1 and isinstance(bound[0], ast.Name) else None
    default = default_of(init, parameter) if parameter is not None else None
    if parameter is None or default is None or not _is_left_out(story, owner, init, parameter):
        return None
    return parameter, default


def _is_left_out(story: Story, owner: ast.ClassDef, init: ast.FunctionDef, parameter: str) -> bool:
    names = [argument.arg for argument in (*init.args.posonlyargs, *init.args.args)][1:]
    if parameter in variables_bound(init):
        return False
    made = [call for listing in texts(story.trace) for call in _calls_of(listing, owner.name)]
    return bool(made) and all(_leaves_out(call, names, parameter) for call in made)


def default_of(function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str) -> ast.expr | None:
    """The default of a parameter; None where it has none."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return next((default for argument, default in pairs if argument.arg == parameter), None)


def _calls_of(listing: Listing, owner: str) -> Iterator[ast.Call]:
    for node in listing.nodes:
        if isinstance(node, ast.Call) and (expressions.path_text(node.func) or "").rpartition(".")[2] == owner:
            yield node


def _leaves_out(call: ast.Call, names: list[str], parameter: str) -> bool:
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(entry.arg is None for entry in call.keywords):
        return False
    given = {*names[: len(call.args)], *(entry.arg for entry in call.keywords)}
    return parameter not in given


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
            "{line} writes an entry of `self.{attribute}` for one object on top of what it wrote for another "
            "one: both left out `{parameter}`, whose default is one object for all of them. PyTorch gives no "
            "error."
        ).format(line=wording.spot(shared.site), attribute=shared.attribute, parameter=shared.owner),
        fix=_("Make a new one in `__init__` each time that `{name}` is left out.").format(name=shared.owner),
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
            "{line} writes `{name}`, which was left out at {place} and at the call before: a default argument "
            "is one tensor for all calls, so this call began with what the call before left in it. PyTorch "
            "gives no error."
        ).format(line=wording.spot(again.site), name=name, place=again.now.place),
        fix=_("Make a new tensor in the function each time that `{name}` is left out.").format(name=name),
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
