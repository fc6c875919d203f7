"""Second names that a call gave: ``z = self.drop(h)``, where dropout in evaluation hands back `h` itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.record.names import AliasStatement
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.source import expressions


def given_back(trace: Trace) -> Iterator[AliasStatement]:
    """Yields the statements that bind a name to a call's result which is the very tensor that the call was given, and
    that it did not write. Each once."""
    told = set()
    for call in trace.calls:
        site = call.callsite
        if site is None or call.mutations or call.error is not None or len(call.outputs) != 1:
            continue
        if all(call.outputs[0].tensor != meta.tensor for meta in call.inputs) or site in told:
            continue
        told.add(site)
        names = _names(site)
        if names is not None and names[0] != names[1]:
            yield AliasStatement(site.function, site.cell, site.file, site.line, *names, site.statement)


def _names(site: Callsite) -> tuple[str, str] | None:
    """(name bound, name given)."""
    targets = expressions.bound_targets(site.statement, site.expression)
    node = expressions.parse(site.expression)
    if targets is None or len(targets) != 1 or not isinstance(node, ast.Call) or len(node.args) > 1:
        return None
    given = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
    source = expressions.path_text(given)
    return (targets[0], source) if targets[0] is not None and source is not None else None
