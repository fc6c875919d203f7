"""Second names: which statements gave an object one, and which calls gave a tensor back, or another one on its memory.

``labels = ids`` says so by itself. Of ``z = self.drop(h)`` only the record tells: dropout in evaluation hands back `h`.
So it does of ``z = self.skip(h)`` and ``z = h if keep else h.clone()``, without a call: both names were seen to hold
one tensor when the next call came.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from inplace_magic.analysis.naming.bindings import Bindings
from inplace_magic.record.grouped import grouped
from inplace_magic.record.names import AliasStatement, Binding
from inplace_magic.record.places import Callsite, Whose
from inplace_magic.record.trace import Trace
from inplace_magic.source import expressions
from inplace_magic.source.spots import spot_of


@dataclass(frozen=True)
class Aliases:
    """The second names of one trace."""

    trace: Trace
    bindings: Bindings

    @cached_property
    def statements(self) -> list[AliasStatement]:
        """The statements that give an object a second name. ``storage[i] = x`` into a tensor is none: it copies; nor is
        ``x = x.to(device)`` or the swap ``y, s = s, y``, after which the old name is another's."""
        copying = {_line(site) for call in self.trace.calls if "sets item" in call.traits and (site := call.callsite)}
        known = (*self.trace.aliases, *given_back(self.trace))
        told = {(*_line(alias), name) for alias in known for name in (alias.target, alias.source)}
        known = (*known, *(alias for alias, _ in self._seen if (*_line(alias), alias.target) not in told))
        bound = {(*_line(alias), alias.target) for alias in known}
        return [a for a in known if _line(a) not in copying and (*_line(a), a.source) not in bound]

    @cached_property
    def _seen(self) -> list[tuple[AliasStatement, int]]:
        return list(seen_twice(self.trace, self.bindings))

    def beside(self, site: Callsite) -> Sequence[AliasStatement]:
        """Return those of :attr:`statements` that stand in the same function."""
        return self._by_function.get(site.whose, ())

    @cached_property
    def _by_function(self) -> dict[Whose, list[AliasStatement]]:
        return grouped((alias.whose, alias) for alias in self.statements)

    def pairs(self, alias: AliasStatement) -> list[tuple[int, int]]:
        """(given, got) of the calls on a statement's line that look like copies and made none: ``x.detach()``, and
        ``x.to(device)`` or dropout in evaluation, where they gave `x` itself."""
        return self._pairs.get(_line(alias), [])

    @cached_property
    def _pairs(self) -> dict[tuple[object, ...], list[tuple[int, int]]]:
        found: dict[tuple[object, ...], list[tuple[int, int]]] = {}
        for call in self.trace.calls:
            if call.kind != "view" or call.callsite is None or not call.outputs or not call.inputs:
                continue
            pair = call.inputs[0].tensor, call.outputs[0].tensor
            if call.does("may hand back") or pair[0] == pair[1]:
                found.setdefault(_line(call.callsite), []).append(pair)
        for alias, tensor in self._seen:
            found.setdefault(_line(alias), []).append((tensor, tensor))
        return found

    @cached_property
    def detached(self) -> dict[int, list[int]]:
        """The tensors that ``detach()`` and the like gave on the memory of a tensor."""
        return grouped((given, got) for pairs in self._pairs.values() for given, got in pairs if given != got)


def given_back(trace: Trace) -> Iterator[AliasStatement]:
    """Yields the statements that bind a name to a call's result which is the very tensor that the call was given, and
    that it did not write. Each once."""
    told = set()
    for call in trace.calls:
        site = call.callsite
        if site is None or len(call.outputs) != 1 or call.mutations or call.error is not None:
            continue
        given = call.outputs[0].tensor
        for meta in call.inputs:  # no `in`, since this is asked of each call
            if meta.tensor == given:
                break
        else:
            continue
        if site in told:
            continue
        told.add(site)
        names = _names(site)
        if names is not None and names[0] != names[1]:
            yield AliasStatement(site.function, site.cell, site.file, site.line, *names, site.statement)


def seen_twice(trace: Trace, bindings: Bindings) -> Iterator[tuple[AliasStatement, int]]:
    """(statement, tensor) for each name that was seen to hold what another name of its function held already, and that
    got it from a call which was given the other one, or from a choice between that and a new tensor. Each once."""
    told: set[tuple[Whose, int, str, str]] = set()
    for entry in trace.bindings:
        place = entry.place
        others = bindings.names_held(place.function, entry.tensor, entry.call) - {entry.target}
        statement = _binding_statement(trace, entry) if others else None
        if statement is None:
            continue
        for other in sorted(others):
            key = place.whose, statement.lineno, entry.target, other
            if key not in told and _may_give_back(statement.value, other):
                told.add(key)
                text = ast.unparse(statement)
                alias = (place.function, place.cell, place.file, statement.lineno, entry.target, other, text)
                yield AliasStatement(*alias), entry.tensor


def _binding_statement(trace: Trace, entry: Binding) -> ast.Assign | None:
    """Return the last assignment to a name above the place where it was seen."""
    spot = spot_of(trace, entry.place)
    if spot is None:
        return None
    binding = (spot.listing.parents.get(node) for node in spot.stores(entry.target) if node.lineno <= entry.place.line)
    assigning = (statement for statement in binding if isinstance(statement, ast.Assign))
    return max(assigning, key=lambda statement: statement.lineno, default=None)


def _may_give_back(value: ast.expr, name: str) -> bool:
    """True if an expression, ``self.skip(x)`` or ``x if keep else x.clone()``, looks as if it made a tensor, and may
    give `x`. A choice between two names says which of them is meant."""
    if isinstance(value, ast.IfExp):
        branches = (value.body, value.orelse)
        return any(map(_makes, branches)) and any(isinstance(n, ast.Name) and n.id == name for n in branches)
    return _makes(value) and expressions.mentions(value, name)


def _makes(value: ast.expr) -> bool:
    called = value.func if isinstance(value, ast.Call) else None
    if isinstance(called, ast.Call):
        return True  # ``nn.Identity()(x)``
    says = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "_")
    return not str(says).endswith("_")


def _names(site: Callsite) -> tuple[str, str] | None:
    """(name bound, name given)."""
    node = expressions.parse(site.expression)
    if site.bound is None or len(site.bound) != 1 or not isinstance(node, ast.Call) or len(node.args) > 1:
        return None
    given = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
    source = expressions.path_text(given)
    return (site.bound[0], source) if site.bound[0] is not None and source is not None else None


def _line(place: Callsite | AliasStatement) -> tuple[object, ...]:
    return *place.whose, place.line
