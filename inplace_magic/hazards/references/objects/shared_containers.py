"""A dictionary or list that all objects of a class have as a default, and a tensor in it that two write.

``def __init__(self, counts={})`` is evaluated once. Which object's method wrote is in the record; where its dictionary
comes from stands in the text, since no call of torch's makes one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, texts, whole_listing
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
