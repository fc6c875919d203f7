"""An entry of the dictionary that ``state_dict()`` gave was replaced, and nobody loads the dictionary.

The dictionary holds the very memory of the parameters, and is no part of the module
(https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.state_dict: "references to the
module's parameters"). To put another tensor under a key changes the dictionary alone.

Bad::

    def take(model, checkpoint):
        own = model.state_dict()
        for name, tensor in checkpoint.items():
            if name in own:
                own[name] = tensor      # the model is as before

Good::

    def take(model, checkpoint):
        own = model.state_dict()
        for name, tensor in checkpoint.items():
            if name in own:
                own[name] = tensor
        model.load_state_dict(own)

Told from the record and the text: a function called ``state_dict()``, gave the result to a variable, and replaces
entries of it; no line of the function hands the variable on, returns it or keeps it; and the parameters are read
afterwards. Silent outside of functions, where a later cell may load it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, whole_listing

CODE = "entry-replaced"

_LOOKS = ("keys", "items", "values", "get")
"""Methods of a dictionary by which a function looks at it."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each replacing line."""
    asked: set[Callsite] = set()
    for call in story.doing("detached"):
        site = call.callsite
        if site is None or site.direct or site in asked:
            continue
        asked.add(site)
        name = _dictionary(site)
        listing = whole_listing(story.trace, site) if name is not None else None
        line = _replaced_in_vain(listing, site, name) if listing is not None and name is not None else None
        if line is not None and listing is not None and name is not None and _is_read(story, call):
            yield _hazard(call, _place(listing, site, line), site, name)


def _dictionary(site: Callsite) -> str | None:
    """``own`` of ``own = model.state_dict()`` in a function."""
    node = expressions.parse(site.statement)
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return None
    value = node.value
    asks = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "state_dict"
    return node.targets[0].id if asks and site.function != "<module>" else None


def _replaced_in_vain(listing: Listing, site: Callsite, name: str) -> ast.stmt | None:
    """The first statement that replaces an entry, where the function does nothing else with the dictionary but look at
    it."""
    statement = listing.statement_at(site)
    scope = listing.scope_of(statement) if statement is not None else None
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    replacing: list[ast.stmt] = []
    for node in ast.walk(scope):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return None
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        if listing.scope_of(node) is not scope:
            return None  # a comprehension is no scope of its own here, a function is
        around = listing.parents.get(node)
        if isinstance(node.ctx, ast.Store):
            if around is not statement:
                return None
        elif isinstance(around, ast.Subscript) and around.value is node:
            above = listing.parents.get(around)
            if isinstance(around.ctx, ast.Store) and isinstance(above, ast.Assign):
                replacing.append(above)
            elif not isinstance(around.ctx, ast.Load) or _is_kept(listing, around):
                return None
        elif not _is_looked_at(listing, node, around):
            return None
    return min(replacing, key=lambda each: each.lineno, default=None)


def _is_kept(listing: Listing, entry: ast.Subscript) -> bool:
    """Whether an entry is handed on by itself, so that somebody may write it: ``f(own[name])``."""
    around = listing.parents.get(entry)
    return not isinstance(around, (ast.Attribute, ast.Compare, ast.BinOp))


def _is_looked_at(listing: Listing, node: ast.Name, around: ast.AST | None) -> bool:
    """``name in own``, ``for name in own``, ``own.keys()``, ``len(own)``."""
    if isinstance(around, ast.Compare):
        return all(isinstance(op, (ast.In, ast.NotIn)) for op in around.ops) and node in around.comparators
    if isinstance(around, (ast.For, ast.comprehension)):
        return around.iter is node
    if isinstance(around, ast.Attribute):
        return around.attr in _LOOKS and isinstance(listing.parents.get(around), ast.Call)
    return isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id == "len"


def _is_read(story: Story, call: CallEvent) -> bool:
    """Whether a parameter of the dictionary is read by another statement afterwards."""
    later = (used for meta in call.inputs for used in story.given_to.get(meta.tensor, ()) if used.index > call.index)
    return any(used.kind == "ordinary" and used.callsite != call.callsite for used in later)


def _place(listing: Listing, site: Callsite, statement: ast.stmt) -> Callsite:
    """The place of another statement in the run of a function."""
    text = listing.text(statement)
    return replace(
        site,
        line=statement.lineno,
        text=listing.lines[statement.lineno - 1].strip(),
        end_line=statement.end_lineno,
        column=statement.col_offset,
        end_column=statement.end_col_offset,
        expression=text,
        statement=text,
        targets=None,
    )


def _hazard(call: CallEvent, place: Callsite, made: Callsite, name: str) -> Hazard:
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} puts another tensor into `{name}`, the dictionary that {made} gave, and nobody loads it: the "
            "parameters keep their values. PyTorch gives no error."
        ).format(line=wording.spot(place), name=name, made=wording.spot(made)),
        fix=_(
            "Load the dictionary when it is complete (`load_state_dict({name})`), or write into its tensors "
            "(`{name}[…].copy_(…)`)."
        ).format(name=name),
        variable=name,
        origin=made,
        write=Write(None, None, call.index, site=place),
    )


RULE = Rule(check)
