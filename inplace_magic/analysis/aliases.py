"""Second names: which statements gave an object one, and which calls gave a tensor back, or another one on its memory.

``labels = ids`` says so by itself. Of ``z = self.drop(h)`` only the record tells: dropout in evaluation hands back `h`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from inplace_magic.record.names import AliasStatement
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.source import expressions


@dataclass(frozen=True)
class Aliases:
    """The second names of one trace."""

    trace: Trace

    @cached_property
    def statements(self) -> list[AliasStatement]:
        """The statements that give an object a second name. ``storage[i] = x`` into a tensor is none: it copies; nor is
        ``x = x.to(device)`` or the swap ``y, s = s, y``, after which the old name is another's."""
        copying = {_line(site) for call in self.trace.calls if call.does("sets item") and (site := call.callsite)}
        known = (*self.trace.aliases, *given_back(self.trace))
        bound = {(*_line(alias), alias.target) for alias in known}
        return [a for a in known if _line(a) not in copying and (*_line(a), a.source) not in bound]

    def beside(self, site: Callsite) -> Sequence[AliasStatement]:
        """Those of :attr:`statements` that stand in the same function."""
        return self._by_function.get(_line(site)[:3], ())

    @cached_property
    def _by_function(self) -> dict[tuple[object, ...], list[AliasStatement]]:
        found: dict[tuple[object, ...], list[AliasStatement]] = {}
        for alias in self.statements:
            found.setdefault(_line(alias)[:3], []).append(alias)
        return found

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
        return found

    @cached_property
    def detached(self) -> dict[int, list[int]]:
        """The tensors that ``detach()`` and the like gave on the memory of a tensor."""
        found: dict[int, list[int]] = {}
        for given, got in (pair for pairs in self._pairs.values() for pair in pairs):
            if given != got:
                found.setdefault(given, []).append(got)
        return found


def given_back(trace: Trace) -> Iterator[AliasStatement]:
    """Yields the statements that bind a name to a call's result which is the very tensor that the call was given, and
    that it did not write. Each once."""
    told = set()
    for call in trace.calls:
        site = call.callsite
        if site is None or len(call.outputs) != 1 or not call.gave_back or site in told:
            continue
        told.add(site)
        names = _names(site)
        if names is not None and names[0] != names[1]:
            yield AliasStatement(site.function, site.cell, site.file, site.line, *names, site.statement)


def _names(site: Callsite) -> tuple[str, str] | None:
    """(name bound, name given)."""
    node = expressions.parse(site.expression)
    if site.bound is None or len(site.bound) != 1 or not isinstance(node, ast.Call) or len(node.args) > 1:
        return None
    given = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
    source = expressions.path_text(given)
    return (site.bound[0], source) if site.bound[0] is not None and source is not None else None


def _line(place: Callsite | AliasStatement) -> tuple[object, ...]:
    return place.function, place.cell, place.file, place.line
