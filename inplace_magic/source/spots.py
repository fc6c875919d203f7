"""A statement of the user's in its text: the loops and the scope around it, and what a name is bound to there; and the
lines that ran by themselves, and once: what stands further down in them ran later, and a name is one variable."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from inplace_magic.record.names import AliasStatement, LocalName
from inplace_magic.record.paths import before_last_step
from inplace_magic.record.places import Callsite, Whose
from inplace_magic.record.trace import Trace
from inplace_magic.source import expressions
from inplace_magic.source.listing import LOOPS, Listing, Scope, whole_listing


@dataclass(frozen=True)
class Spot:
    """A statement, and the cell or file around it."""

    listing: Listing
    statement: ast.stmt

    @property
    def around(self) -> list[ast.AST]:
        """The nodes around the statement, the innermost first."""
        return list(self.listing.around(self.statement))

    @property
    def loops(self) -> list[ast.For | ast.AsyncFor | ast.While]:
        """The loops around the statement, the innermost first."""
        return [node for node in self.around if isinstance(node, LOOPS)]

    @property
    def scope(self) -> Scope:
        """The function, class or module of the statement."""
        return self.listing.scope_of(self.statement)

    def stores(self, name: str) -> list[ast.Name]:
        """Return the bindings of a name in the statement's own scope."""
        scope = self.scope
        return [node for node in self.listing.stores.get(name, ()) if self.listing.scope_of(node) is scope]

    def value_of(self, name: str) -> ast.expr | None:
        """Return what a name was last bound to above the statement in its scope; also by ``m, v = first, second``."""
        found: tuple[int, ast.expr | None] = 0, None
        for stored in self.stores(name):
            target = self.listing.parents.get(stored)
            bound = self.listing.parents.get(target) if isinstance(target, ast.Tuple) else target
            if isinstance(bound, ast.Assign) and found[0] < bound.lineno < self.statement.lineno:
                value = _entry_for(target, stored, bound.value) if isinstance(target, ast.Tuple) else bound.value
                found = bound.lineno, value
        return found[1]

    def way_to(self, node: ast.expr | None) -> tuple[str, str]:
        """Return (object, key) by which a function comes to what an expression is: ``("self.frames", "")`` of `frame`
        below ``frame = self.frames[k]``, ``("grads", "")`` of `g` in ``for g in grads``. The key is empty where it is
        not plain text."""
        for _ in range(3):
            text = expressions.path_text(node)
            if text is None or node is None:
                break
            if not isinstance(node, ast.Name):
                plain = not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Constant)
                prefix, step = before_last_step(text)
                return prefix, step if plain else ""
            over = next((found for loop in self.loops if (found := _gone_through(loop, node.id))), None)
            if over is not None:
                return over, ""
            node = self.value_of(node.id)
        return "", ""

    @property
    def keeps_the_best(self) -> bool:
        """True if the statement stands under a condition that reads what it, or one beside it, assigns again."""
        around = self.listing.parents.get(self.statement)
        if not isinstance(around, ast.If) or self.statement not in around.body:
            return False
        read = set(_measured(around.test))
        targets = (target for each in around.body if isinstance(each, ast.Assign) for target in each.targets)
        assigned = (part for target in targets for part in getattr(target, "elts", [target]))
        return any(expressions.path_text(target) in read for target in assigned)


def _entry_for(target: ast.Tuple, stored: ast.Name, value: ast.expr) -> ast.expr | None:
    """Return the entry of a tuple that is assigned to a name, entry by entry."""
    if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
        return None
    return next(entry for name, entry in zip(target.elts, value.elts, strict=True) if name is stored)


def _gone_through(loop: ast.AST, name: str) -> str | None:
    """`grads` of ``for i, name in enumerate(grads)``, and of ``for key, name in grads.items()``."""
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return None
    target, over = loop.target, loop.iter
    while not isinstance(target, ast.Name) or target.id != name:
        called = over.func if isinstance(over, ast.Call) else None
        if not isinstance(target, ast.Tuple) or not isinstance(over, ast.Call):
            return None
        place = next((i for i, each in enumerate(target.elts) if expressions.mentions(each, name)), None)
        if place is None:
            return None
        kind = getattr(called, "id", getattr(called, "attr", ""))
        if kind == "zip" and place < len(over.args):
            target, over = target.elts[place], over.args[place]
        elif kind == "enumerate" and place == 1 and over.args:
            target, over = target.elts[1], over.args[0]
        elif kind == "items" and place == 1 and isinstance(called, ast.Attribute):
            target, over = target.elts[1], called.value
        else:
            return None
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr == "values":
        over = over.func.value
    return expressions.path_text(over)


def _measured(test: ast.expr) -> Iterator[str]:
    """What a condition compares, or hands to a function: not what it asks for being there, as ``best is None`` does."""
    for node in ast.walk(test):
        ordered = isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
        for inner in ast.walk(node) if ordered or isinstance(node, ast.Call) else ():
            path = expressions.path_text(inner) if isinstance(inner, ast.expr) else None
            if path is not None:
                yield path


def spot_of(trace: Trace, place: Callsite | AliasStatement | None) -> Spot | None:
    """Return the innermost statement on the line of a place; None where the text of its cell or file is not known."""
    listing = whole_listing(trace, place)
    statement = listing.statement_on(place.line) if listing is not None and place is not None else None
    return Spot(listing, statement) if listing is not None and statement is not None else None


@dataclass(frozen=True)
class Top:
    """The lines that the watched block itself runs: a cell's or a script's own, or those of the function that holds the
    block."""

    listing: Listing
    scope: Scope
    whose: Whose
    """Cell, file and function."""

    def place(self, site: Callsite | None) -> Callsite | None:
        """Return the place in these lines that is a place or one of its callers; None if there is none."""
        while site is not None and site.whose != self.whose:
            site = site.caller
        return site

    def is_own(self, node: ast.AST) -> bool:
        """True if a node belongs to these lines, and not to a function inside."""
        return self.listing.scope_of(node) is self.scope


def tops(trace: Trace, once: Mapping[Whose, Callsite]) -> list[Top]:
    """Return the lines that ran by themselves, once: those of cells and scripts, and those of functions that they call
    once, such as ``main``; as far as their text is known."""
    found = []
    for whose, place in once.items():
        spot = spot_of(trace, place)
        if spot is not None:
            scope = spot.listing.tree if place.function == "<module>" else spot.scope
            found.append(Top(spot.listing, scope, whose))
    return found


def run_once(trace: Trace) -> dict[Whose, Callsite]:
    """Return the functions, and the cells and files outside functions, whose lines :func:`tops` gives; a place in
    each."""
    callers: dict[Whose, dict[Callsite | None, None]] = {}
    places: dict[Whose, Callsite] = {}
    seen: set[int] = set()
    for call in trace.calls:
        site = call.callsite
        while site is not None and id(site) not in seen:
            seen.add(id(site))
            callers.setdefault(site.whose, {})[site.caller] = None
            places.setdefault(site.whose, site)
            site = site.caller

    def is_once(key: Whose, above: frozenset[Whose]) -> bool:
        if key[2] == "<module>":
            return True
        if key in above or key[2].endswith(">") or len(callers[key]) > 1:
            return False
        caller = next(iter(callers[key]))
        return caller is None or (is_once(caller.whose, above | {key}) and _runs_straight(trace, caller))

    return {key: place for key, place in places.items() if is_once(key, frozenset())}


def names_in(trace: Trace, once: Mapping[Whose, Callsite]) -> list[LocalName]:
    """Return the names in functions that ran once, those of outer functions first: ``net.weight`` before
    ``self.weight``."""
    known = [entry for entry in trace.local_names if entry.whose in once]
    return sorted(known, key=lambda entry: len(once[entry.whose].chain))


def _runs_straight(trace: Trace, caller: Callsite) -> bool:
    """True if no loop stands around a statement, and none in it."""
    spot = spot_of(trace, caller)
    for node in spot.around if spot is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        if isinstance(node, LOOPS):
            return False
    again = (*LOOPS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
    return spot is not None and not any(isinstance(node, again) for node in ast.walk(spot.statement))
