"""Names: what the user's code calls a tensor, at the line where it matters.

The name at the writing line wins (``active[mask] = 0`` wrote ``active``, though ``gate`` shares its memory). In a
helper the name is a parameter, and the caller's name for the same tensor says more: ``target.sub_(…)`` in
``error_rate(scores, target)`` wrote the caller's ``y``. Where library code made the write (an optimizer, a module),
the user's line has no name for the tensor; then the namespace does: ``D[2].weight``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from inplace_magic.analysis import expressions
from inplace_magic.trace import CallEvent, Callsite, Trace


@dataclass(frozen=True)
class Bindings:
    """All that is known of names in one trace."""

    namespace: dict[int, str] = field(default_factory=dict)
    """Best name in the user's namespace at the end, by tensor."""
    owners: dict[str, int] = field(default_factory=dict)
    """The inverse for every name, also the second best."""
    bound: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    """(function, name) by tensor: what assignments bound it, oldest first."""
    scopes: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=dict)
    """(call, tensor) by function and name: what assignments bound the name to, oldest first."""
    view_texts: frozenset[str] = frozenset()
    """Subscript expressions that took a view of a tensor (and not an item of a list)."""
    made_at: dict[int, Callsite] = field(default_factory=dict)
    """The place whose call made a tensor."""
    by_storage: dict[int, list[int]] = field(default_factory=dict)
    """Tensors in the order in which they were met, by storage."""

    @classmethod
    def from_trace(cls, trace: Trace) -> Bindings:
        """Reads the names off a trace."""
        namespace: dict[int, str] = {}
        owners: dict[str, int] = {}
        known: dict[int, set[str]] = {}
        for entry in trace.names:
            known.setdefault(entry.tensor, set()).add(entry.name)
            namespace.setdefault(entry.tensor, entry.name)
            owners.setdefault(entry.name, entry.tensor)
        bound: dict[int, list[tuple[str, str]]] = {}
        scopes: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for call, function, name, tensor in _assignments(trace):
            bound.setdefault(tensor, []).append((function, name))
            scopes.setdefault((function, name), []).append((call, tensor))
        for tensor, names in bound.items():
            kept = known.get(tensor) if len(names) > 1 else None
            first = next((name for _, name in names if name in kept), None) if kept is not None else None
            if first is not None:
                namespace[tensor] = first  # of several names that it still has, the one that it was given first
        made_at: dict[int, Callsite] = {}
        met: set[tuple[int, int]] = set()
        by_storage: dict[int, list[int]] = {}
        subscripts = set()
        for call_event in trace.calls:
            for meta in (*call_event.inputs, *call_event.outputs):
                if meta.storage is not None and (meta.storage, meta.tensor) not in met:
                    met.add((meta.storage, meta.tensor))
                    by_storage.setdefault(meta.storage, []).append(meta.tensor)
            site = call_event.callsite
            if site is None:
                continue
            for output in call_event.outputs:
                made_at.setdefault(output.tensor, site)
            if call_event.name == "Tensor.__getitem__":
                subscripts.add(site.expression)
        nodes = map(expressions.parse, subscripts)
        texts = frozenset(ast.unparse(node) if node is not None else "" for node in nodes)
        return cls(namespace, owners, bound, scopes, texts, made_at, by_storage)

    def name(self, tensor: int) -> str | None:
        """The best name of a tensor anywhere: the namespace's, else the one that an assignment gave it last."""
        found = self.namespace.get(tensor)
        if found is not None:
            return found
        bound = self.bound.get(tensor)
        return bound[-1][1] if bound else None

    def written_name(self, call: CallEvent, tensor: int) -> str | None:
        """What the writing line calls the tensor that it wrote."""
        site = call.callsite
        if site is None:
            return self.name(tensor)
        node = self.written_operand(call, tensor)
        text = expressions.path_text(node)
        if node is not None and text is not None:
            return self._owner_name(text, node, site, tensor)
        return self.name(tensor) or self._name_of_memory(call, tensor)

    def _name_of_memory(self, call: CallEvent, tensor: int) -> str | None:
        """For a view that torch made on the way (for a backward hook), the name of the tensor that it is a view of."""
        storage = next((m.storage for m in (*call.inputs, *call.mutated) if m.tensor == tensor), None)
        for other in self.by_storage.get(storage, ()) if storage is not None else ():
            name = self.name(other)
            if name is not None:
                return name
        return None

    def written_operand(self, call: CallEvent, tensor: int) -> ast.expr | None:
        """The variable, as an expression, that the writing line hands to the writing call; None where the line has
        none."""
        site = call.callsite
        node = _written_operand(call, site, tensor) if site is not None else None
        if site is None or node is None:
            return None
        node = expressions.without_aliasing(node, self.view_texts)
        text = expressions.path_text(node)
        return node if text is not None and self._plausible(text, site, tensor, call.index) else None

    def _plausible(self, text: str, site: Callsite, tensor: int, call: int) -> bool:
        """Whether the line's text for the first operand names the written tensor. For a direct call it does; for one
        made by library code inside the line only if nothing speaks against it."""
        if site.direct:
            return True
        known = [t for at, t in self.scopes.get((site.function, text), ()) if at < call]
        if known:
            return known[-1] == tensor
        if site.function == "<module>" and text in self.owners:
            return self.owners[text] == tensor
        inside = self.namespace.get(tensor, "")
        if "." in text and inside.rpartition(".")[2] == text.rpartition(".")[2]:
            return True  # `self.weight` in the class, `fuse.weight` outside
        made = self.made_at.get(tensor)
        made_here = made is not None and (made.line, made.expression) == (site.line, site.expression)
        if text not in site.parameters or made_here:
            return False
        return tensor not in self.namespace or self._handed_in(text, site, tensor)

    def _handed_in(self, text: str, site: Callsite, tensor: int) -> bool:
        """Whether a parameter is the cell's own name for the tensor, handed on from call to call."""
        if text not in site.parameters or site.caller is None:
            return False
        path = expressions.path_text(expressions.parameter_argument(site.caller.expression, site.parameters, text))
        if path is None:
            return False
        if site.caller.function == "<module>":
            return self.owners.get(path) == tensor
        return self._handed_in(path, site.caller, tensor)

    def _owner_name(self, text: str, node: ast.expr, site: Callsite, tensor: int) -> str:
        """Of a bare parameter, the caller's name for it."""
        is_parameter = isinstance(node, ast.Name) and text in site.parameters and text not in ("self", "cls")
        if not is_parameter or (site.function, text) in self.scopes or site.caller is None:
            return text
        outside = self.namespace.get(tensor)
        if outside is not None:
            return outside
        argument = expressions.parameter_argument(site.caller.expression, site.parameters, text)
        if argument is None:
            return text
        argument = expressions.without_aliasing(argument, self.view_texts)
        path = expressions.path_text(argument)
        return text if path is None else self._owner_name(path, argument, site.caller, tensor)


def names_of(trace: Trace, bindings: Bindings | None = None) -> dict[int, str]:
    """The best display name of every tensor that has one.

    Args:
        trace: where the tensors are met.
        bindings: what is known of its names, if that was read off it already.
    """
    bindings = bindings or Bindings.from_trace(trace)
    tensors = {meta.tensor for call in trace.calls for meta in (*call.inputs, *call.outputs, *call.mutated)}
    return {tensor: name for tensor in sorted(tensors) if (name := bindings.name(tensor)) is not None}


def _written_operand(call: CallEvent, site: Callsite, tensor: int) -> ast.expr | None:
    out = expressions.keyword(site.expression, "out")
    if out is not None:
        return out
    method = call.name.startswith("Tensor.")
    if method and site.direct and not expressions.calls_method(site.expression, call.name.rpartition(".")[2]):
        return None
    listed = expressions.operands(site.expression, method=method)
    tensors = [meta.tensor for meta in call.inputs]
    position = tensors.index(tensor) if tensor in tensors else 0
    if site.direct and position:
        can_be_tensors = [node for node in listed if not isinstance(node, ast.Constant)]
        return can_be_tensors[position] if len(can_be_tensors) == len(tensors) else None
    return listed[0] if listed else None


def _goes_on(site: Callsite, following: CallEvent | None) -> bool:
    return following is not None and following.callsite == site


def _is_copied(site: Callsite, following: CallEvent | None) -> bool:
    """Whether the statement copies the value into elements of a tensor, as ``out[0] = x[0]`` does."""
    after = following.callsite if following is not None and following.name == "Tensor.__setitem__" else None
    return after is not None and (after.line, after.statement) == (site.line, site.statement)


def _assignments(trace: Trace) -> Iterator[tuple[int, str, str, int]]:
    """(call, function, name, tensor) of every assignment of a call's result. Of several calls that one line's
    expression made (a module's), the last one's output is what the name gets."""
    calls = [call for call in trace.calls if call.callsite is not None and call.parent is None]
    for position, call in enumerate(calls):
        site = call.callsite
        if site is None or not site.expression or not call.outputs:
            continue
        following = calls[position + 1] if position + 1 < len(calls) else None
        if not site.direct and (expressions.makes_an_object(site.expression) or _goes_on(site, following)):
            continue
        targets = expressions.bound_targets(site.statement, site.expression)
        if targets is None or _is_copied(site, following):
            continue
        if len(targets) == 1:
            pairs = [(targets[0], call.outputs[0].tensor)] if len(call.outputs) == 1 else []
        else:
            pairs = [(name, output.tensor) for name, output in zip(targets, call.outputs, strict=False)]
        for name, tensor in pairs:
            if name is not None:
                yield call.index, site.function, name, tensor
