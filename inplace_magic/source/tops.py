"""Lines that ran by themselves, and once: what stands further down in them ran later, and a name is one variable."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from inplace_magic.record.names import LocalName
from inplace_magic.record.places import Callsite, Whose
from inplace_magic.record.trace import Trace
from inplace_magic.source.listing import LOOPS, Listing, Scope
from inplace_magic.source.spots import spot_of


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
